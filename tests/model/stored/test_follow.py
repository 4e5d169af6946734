"""A state that follows a journal is what opening the directory anew gives, bit for bit."""

import random
import shutil
from typing import Any

import numpy as np
import pytest
from hand_made import HandMade

from evercrawl.errors import EvercrawlError
from evercrawl.model.stored.follow import Follower
from evercrawl.model.stored.reader import opened, recent, visits
from evercrawl.store import folding

HOSTS = ("https://a.example", "https://b.example")


def fingerprint(partition):
    state = partition.state
    count = state.known.count
    return (
        partition.journal.sequence,
        state.records.rows[: state.records.count].tobytes(),
        state.known.rows()[:count].tobytes(),
        [state.urls.get(slot) for slot in range(count)],
        list(state.hosts),
        list(state.sites),
        state.accounts.shares(np.arange(len(state.sites))).tobytes(),
        state.cashbook.balance(),
        (state.visits, state.changes, state.wire_bytes, +state.outcomes),
    )


def agrees(follower):
    anew = opened(follower.directory)
    try:
        assert fingerprint(follower.partition) == fingerprint(anew)
    finally:
        anew.close()


def step(made: HandMade, draw: random.Random, number: int) -> None:
    host = draw.choice(HOSTS)
    links = [f"{draw.choice(HOSTS)}/p{draw.randrange(40)}" for _ in range(draw.randrange(5))]
    status = draw.choice((200, 200, 200, 404, 304))
    body = made.page(f"page {number}", *links, text=f"words {draw.randrange(3)}") if status == 200 else b""
    made.visit(f"{host}/p{draw.randrange(10)}", body, status)


@pytest.mark.parametrize("seed", range(3))
def test_a_follower_is_a_fresh_fold_after_every_commit(tmp_path, seed):
    draw = random.Random(seed)
    made = HandMade(tmp_path / "crawl")
    made.seed(*(f"{host}/p{i}" for host in HOSTS for i in range(10)))
    made.save()
    follower = Follower(made.directory)
    for number in range(60):
        step(made, draw, number)
        if draw.random() < 0.3:
            made.save()
            while follower.turn():
                pass
            agrees(follower)
        if draw.random() < 0.05:
            made.snapshot()
    assert follower.openings == 1
    follower.close()
    made.stop()


@pytest.mark.parametrize("seed", range(4))
def test_a_follower_is_a_fresh_fold_after_crashes_whatever_was_read_meanwhile(tmp_path, seed):
    draw = random.Random(seed)
    made = HandMade(tmp_path / "crawl")
    made.seed(*(f"{host}/p{i}" for host in HOSTS for i in range(10)))
    made.save()
    follower = Follower(made.directory)
    for number in range(80):
        step(made, draw, number)
        if draw.random() < 0.4:
            made.save()
            partition = follower.partition
            for _ in recent(partition, 1 << 20):  # a question reads on to the end of the journal
                pass
            next(visits(partition, 0), None)  # another stops in its middle
        if draw.random() < 0.3:
            while follower.turn():
                pass
        if draw.random() < 0.1:  # killed: what was not written is lost, and the last write is torn
            made.partition.close()
            journal = max(made.directory.glob("journal-*.log"))
            with journal.open("ab") as file:
                file.write(draw.randbytes(draw.randrange(60)))
            if draw.random() < 0.5:
                follower.turn()
            made = HandMade(made.directory)
        if draw.random() < 0.1:
            made.snapshot()
    made.save()
    while follower.turn():
        pass
    agrees(follower)
    assert follower.openings == 1
    follower.close()
    made.stop()


def test_the_last_visits_are_at_hand(tmp_path):
    made = HandMade(tmp_path / "crawl")
    made.seed("https://a.example/")
    made.save()
    follower = Follower(made.directory)
    made.visit("https://a.example/", made.page("front", "/b"))
    made.save()
    assert follower.turn() == 1
    ((_, visit),) = follower.recent
    assert follower.partition.state.urls.get(visit.slot) == "https://a.example/"
    follower.close()
    made.stop()


def test_another_crawl_in_its_place_is_opened_anew(tmp_path):
    first, second = HandMade(tmp_path / "crawl"), HandMade(tmp_path / "other")
    for made, host in ((first, "a"), (second, "b")):
        made.seed(*(f"https://{host}.example/{i}" for i in range(30)))
        made.save()
        made.stop()
    follower = Follower(tmp_path / "crawl")
    shutil.rmtree(tmp_path / "crawl")
    shutil.move(tmp_path / "other", tmp_path / "crawl")
    follower.turn()
    assert follower.openings == 2
    agrees(follower)
    shutil.rmtree(tmp_path / "crawl")
    with pytest.raises(EvercrawlError):
        follower.turn()
    follower.close()


def test_an_event_that_cannot_be_folded_opens_anew(tmp_path, monkeypatch):
    made = HandMade(tmp_path / "crawl")
    made.seed("https://a.example/")
    made.save()
    follower = Follower(made.directory)
    made.visit("https://a.example/", made.page("front"))
    made.save()
    fold, faults = folding.replay, iter([ValueError("only once")])

    def once(*arguments: Any) -> None:
        for fault in faults:
            raise fault
        fold(*arguments)

    monkeypatch.setattr(folding, "replay", once)
    follower.turn()
    agrees(follower)
    assert follower.openings == 2
    follower.close()
    made.stop()
