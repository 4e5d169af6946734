"""Worlds of several partitions: cash is neither made nor lost, each page has one owner, and hosts are left in peace."""

from dataclasses import replace

import numpy as np
import pytest

from evercrawl.simulate.parted.mail import Roads
from evercrawl.simulate.parted.parted import simulate_parted
from evercrawl.simulate.parted.plan import Blow, PartedWorld, drawn_parted
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.post.book import PostBook

FOUL = Roads(lost=0.2, doubled=0.1, delay_s=2.0)


@pytest.mark.parametrize("seed", [3, 7])
def test_the_promises_hold_in_worlds_drawn_from_a_seed(seed):
    result = simulate_parted(drawn_parted(seed))
    assert result.wrong == []
    assert result.visits > 20
    assert result.letters > 5


def test_every_blow_is_survived():
    kinds = ("kill", "zombie", "power", "strike", "stop")
    blows = tuple(Blow(8.0 * (1 + place), kind, place % 2, 3.0) for place, kind in enumerate(kinds))
    blows += (Blow(20.0, "cut", 0, 10.0), Blow(35.0, "isolate", 1, 20.0))
    world = PartedWorld(
        5, 2, sites=5, pages=6, addresses=3, roads=FOUL, lasts_s=90.0, blows=blows, snapshot_every_s=7.0
    )
    result = simulate_parted(world)
    assert result.wrong == []
    assert result.blows["cut"] == result.blows["isolate"] == 1
    assert sum(result.blows[kind] for kind in kinds) >= 4
    assert result.lost > 0 < result.doubled


def test_the_same_seed_lives_the_same_life():
    world = PartedWorld(5, 2, sites=5, pages=4, addresses=2, roads=FOUL, lasts_s=20.0)
    one, two = simulate_parted(world), simulate_parted(world)
    assert one.wrong == two.wrong == []
    assert (one.visits, one.letters, one.lost, one.doubled) == (two.visits, two.letters, two.lost, two.doubled)
    assert one.found.importance == two.found.importance


def test_two_partitions_find_what_one_finds():
    roads = Roads(lost=0.2, doubled=0.1, delay_s=0.3)
    world = PartedWorld(5, 2, 4, 4, 5, roads=roads, lasts_s=100.0, refresh_after_s=15.0, delay_s=0.5)
    many, alone = simulate_parted(world), simulate_parted(replace(world, parts=1))
    assert many.wrong == alone.wrong == []
    assert alone.letters == 0
    assert many.letters > 20
    one, other = alone.found.importance, many.found.importance
    whole = sum(one.values())
    assert set(one) == set(other)
    off = sum(abs(one[url] - other[url]) for url in one)
    assert off < 0.03 * whole  # letters were lost, and came later; it falls by a factor of 20 in 300 s more


def test_a_letter_that_is_applied_twice_is_seen(monkeypatch):
    """The laws that worlds are held to see what they are there for."""
    received = PostBook.received

    def doubled(book, event, number, cashbook) -> None:
        received(book, event, number, cashbook)
        cashbook.move(decode_slots(event.slots), np.frombuffer(event.amounts), number)

    monkeypatch.setattr(PostBook, "received", doubled)
    world = PartedWorld(5, 2, sites=5, pages=4, addresses=2, roads=FOUL, lasts_s=20.0)
    assert "but its in-links bring" in simulate_parted(world).wrong[0]


def test_what_partitions_believe_of_unknown_pages_comes_together():
    """Each has other sites, and would believe something else by itself; messages are lost, and one is killed."""
    world = PartedWorld(
        12, 2, sites=4, pages=7, addresses=4, roads=FOUL, lasts_s=90.0, refresh_after_s=15.0, delay_s=0.5,
        blows=(Blow(50.0, "kill", 1, 5.0),), changing=2,
    )  # fmt: skip
    result = simulate_parted(world)
    assert result.wrong == []
    believed, alone = (np.log([scales[place] for scales in result.scales_s.values()]) for place in (0, 1))
    assert np.ptp(alone) > 0.3
    assert np.ptp(believed) < 0.1 * np.ptp(alone)
