"""Worlds in which partitions have keepers: disks are lost, and nothing that counted is."""

from dataclasses import replace

from evercrawl.crawl.posting.leases import IpLeases
from evercrawl.crawl.posting.room import PostRoom
from evercrawl.crawl.posting.second_copy import SecondCopy
from evercrawl.simulate.parted.mail import Roads
from evercrawl.simulate.parted.parted import simulate_parted
from evercrawl.simulate.parted.plan import Blow, PartedWorld, drawn_kept
from evercrawl.store.keeper import copy

FOUL = Roads(lost=0.2, doubled=0.1, delay_s=2.0)
BLOWS = (
    Blow(12.0, "lose", 0, 3.0), Blow(20.0, "away", 0, 10.0), Blow(24.0, "usurp", 1, 5.0), Blow(45.0, "lose", 0, 2.0),
    Blow(60.0, "kill", 1, 2.0), Blow(66.0, "usurp", 0, 3.0),
)  # fmt: skip
WORLD = PartedWorld(5, 2, 5, 6, 3, roads=FOUL, lasts_s=90.0, blows=BLOWS, snapshot_every_s=7.0, kept=True)


def test_disks_are_lost_and_processes_go_on_without_theirs():
    result = simulate_parted(WORLD)
    assert result.wrong == []
    assert result.opened >= 3
    assert result.letters > 10
    assert result.blows["away"] == 1


def test_addresses_are_let_while_a_keeper_is_away_and_letters_wait(monkeypatch):
    """Else all partitions would wait for one."""
    turn, sent, let = PostRoom.turn, IpLeases.turn, list[str]()

    def turned(room, now, *, full=False) -> bool:
        before = room.posting.passed
        let.append("turn")
        news = turn(room, now, full=full)
        assert not full or (not news and room.posting.passed == before)
        let.append("full" if full else "")
        return news

    def leased(leases, now) -> None:
        let.append("leases")
        sent(leases, now)

    monkeypatch.setattr(PostRoom, "turn", turned)
    monkeypatch.setattr(IpLeases, "turn", leased)
    blows = (Blow(8.0, "away", 0, 10.0),)
    result = simulate_parted(replace(WORLD, roads=Roads(), lasts_s=25.0, blows=blows))
    assert result.wrong == []
    assert [let[at : at + 3] for at in range(len(let))].count(["turn", "leases", "full"]) > 10


def test_the_promises_hold_in_a_world_drawn_from_a_seed():
    result = simulate_parted(drawn_kept(7))
    assert result.wrong == []
    assert result.opened > 0


def test_the_same_seed_lives_the_same_life():
    one, two = (simulate_parted(drawn_kept(24)) for _ in range(2))
    assert (one.wrong, one.visits, one.letters, one.opened) == (two.wrong, two.visits, two.letters, two.opened)
    assert one.found.importance == two.found.importance


def test_what_counts_before_its_keeper_has_it_is_missed(monkeypatch):
    hold = SecondCopy.hold

    async def at_once(second, upto) -> bool:
        await hold(second, 0)
        return True

    monkeypatch.setattr(SecondCopy, "hold", at_once)
    assert "events counted" in simulate_parted(WORLD).wrong[0]


def test_a_process_that_writes_on_after_its_copy_was_opened_is_missed(monkeypatch):
    monkeypatch.setattr(copy, "refused", lambda state, owner: None)
    assert any(simulate_parted(replace(WORLD, seed=seed)).wrong for seed in range(12, 30))  # not each world meets it
