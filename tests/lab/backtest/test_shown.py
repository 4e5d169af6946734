"""What polls show of links, of pages that they lead to, and of bytes; and whom it costs nothing."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from evercrawl import catalog, schedule
from evercrawl.lab.backtest.link_sets import LinkSets
from evercrawl.lab.backtest.replay import Replay, replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.shown import ANCHOR_BYTES, SIZE_BYTES, WORD_BYTES
from evercrawl.lab.backtest.truth import truth
from evercrawl.lab.histories.history import NO_LINKS
from evercrawl.schedule.abilities import Learns
from evercrawl.schedule.base import Policy
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.schedule.policies.tianwang.tianwang import Tianwang
from evercrawl.schedule.policies.webfountain.webfountain import Webfountain

DAY_S = 86_400.0
DAILY = ReplaySetting(1.0, since=0.0, warming=0.0)
POLICIES = catalog.find(schedule.policies, Policy)  # type: ignore[type-abstract]


class Told(Learns, Cycle):
    """Remembers what it was told of visits."""

    invalidated_by = "everything"

    def __init__(self) -> None:
        self.visits = []

    def learn(self, visits):
        self.visits.append(visits)

    def of(self, slot, name):
        return [getattr(each, name)[row] for each in self.visits for row in np.flatnonzero(each.slot == slot)]


class Facing(Told):
    """Asks for facts."""

    needs = frozenset({"facts"})


class Counting(Told):
    """Asks for what visits show of links."""

    counts_links = True


@pytest.fixture(name="history")
def pages_that_link(written):
    """Return four pages: 0 links to 1, then to 2 that is born on the third day, then to neither."""
    history = written(
        [(0, 0, "born", 1), (0, 1, "born", 1), (2.5, 2, "born", 1), (2.5, 3, "born", 1), (4.5, 0, "changed", 2),
         (6.5, 1, "gone", 0), (10, 0, "technical", 2)],
        [(0, 0, 1, True), (2.2, 0, 2, True), (4.5, 0, 1, False), (4.5, 0, 2, False), (0, 0, 0, True), (0, 1, 2, True),
         (0.1, 1, 2, False)],
        paths=("a", "a/b?page=2", "c", "d"),
    )  # fmt: skip
    return replace(history, size_bytes=np.array([100, 200, 300, -1, 150, 0, 150]))


def told(policy, history, setting=DAILY):
    """Replay a history under a policy."""
    made = Replay(history, policy, setting)
    made.run()
    return made


@pytest.mark.parametrize("discovery", ["born", "links"])
def test_visits_show_links_and_what_they_lead_to_and_bytes(history, discovery):
    policy = Counting()
    told(policy, history, replace(DAILY, discovery=discovery))
    links, found, relinked, size, received = (
        np.array(policy.of(0, name)) for name in ("links", "found", "relinked", "size", "received")
    )
    at = np.array(policy.of(0, "at")) / DAY_S
    np.testing.assert_array_equal(links, np.where(at < 2.2, 1, np.where(at < 4.5, 2, 0)))
    assert found.sum() == 1, "page 2; page 1 was there at the start, and nothing leads to 3"
    assert at[found == 1][0] == pytest.approx(3.2, abs=0.9)
    assert relinked.sum() == 2
    assert not relinked[0], "there was nothing before"
    np.testing.assert_array_equal(size, np.where(at < 4.5, 100, 150))
    assert received.tolist() == [100, *(size[1:] * (size[1:] != size[:-1])).tolist()], "whole when new, or changed"
    assert set(policy.of(3, "size")) == {SIZE_BYTES}, "nobody knows"
    assert policy.of(1, "size")[-1] == 0, "it was gone"


def test_who_does_not_ask_is_told_nothing(history):
    policy = Told()
    told(policy, history)
    assert set(policy.of(0, "links")) == set(policy.of(0, "found")) == {0}
    assert set(policy.of(0, "size")) == {SIZE_BYTES}


@pytest.mark.parametrize("name", sorted(name for name, kind in POLICIES.items() if issubclass(kind, Learns)))
def test_only_who_asks_looks_at_it(name):
    one, no = np.ones(2), np.zeros(2, np.bool_)
    none = dict.fromkeys(("received", "size", "links", "relinked", "found"))
    key, slot = np.arange(1, 3, dtype=np.uint64), np.arange(2, dtype=np.uint32)
    visits = Visits(
        slot,
        0 * slot,
        9 * one,
        one,
        ~no,
        no,
        ~no,
        one * np.nan,
        folder=key,
        name=key,
        predicted_fresh=0.5 * one,
        **none,
    )
    policy = POLICIES[name]()
    if policy.counts_links:
        with pytest.raises((TypeError, AttributeError)):
            policy.learn(visits)
    else:
        policy.learn(visits)


@pytest.mark.parametrize("seed", range(4))
def test_sets_of_links_are_those_of_a_walk_through_the_log(written, seed):
    draw = np.random.default_rng(seed)
    pages = 6
    links = sorted(
        (int(draw.integers(50)), *draw.integers(pages, size=2).tolist(), bool(draw.random() < 0.6)) for _ in range(120)
    )
    links = [(*key, there) for key, there in {row[:3]: row[3] for row in links}.items()]  # one word a link and day
    history = written([*((0, page, "born", 1) for page in range(pages)), (60, 0, "changed", 2)], links)
    sets, seen = LinkSets(history, truth(history, ReplaySetting(0.1, since=0.0))), {}
    for day in (0.5, 3.5, 20.5, 21.5, 49.5, 59.0):
        rows = np.arange(pages)
        state = {(source, target): there for at, source, target, there in links if at <= day and source != target}
        expected = [{target for (source, target), there in state.items() if there and source == row} for row in rows]
        assert [set(sets.targets(row, day * DAY_S).tolist()) for row in rows.tolist()] == expected
        assert sets.counts(rows, day * DAY_S).tolist() == [len(each) for each in expected]
        for each, key in zip(expected, sets.keys(rows, day * DAY_S).tolist(), strict=True):
            assert seen.setdefault(frozenset(each), key) == key
    assert len(set(seen.values())) == len(seen) > pages


def test_facts_are_what_was_seen_of_pages_and_of_links_to_them(history):
    made = told(Facing(), history, replace(DAILY, until=4.2 * DAY_S))
    facts = made.held.facts
    assert facts.depth.tolist() == [0, 1, 0, 0]
    assert facts.url_bytes.tolist() == [1, 10, 1, 1]
    assert facts.dynamic.tolist() == [0, 1, 0, 0]
    assert facts.text_bytes.tolist() == facts.abstract_bytes.tolist() == [100, 200, 300, SIZE_BYTES]
    assert facts.index_bytes.tolist() == [2 * WORD_BYTES] * 4, "two words each"
    unknown = told(Facing(), replace(history, words=np.full(len(history.at), -1)), replace(DAILY, until=4.2 * DAY_S))
    assert unknown.held.facts.index_bytes.tolist() == facts.text_bytes.tolist()
    assert facts.anchor_bytes.tolist() == [0, ANCHOR_BYTES, ANCHOR_BYTES, 0]
    assert not told(Facing(), history).held.facts.anchor_bytes.any(), "the links are gone, and so is page 1"
    assert not told(Cycle(), history).held.facts.url_bytes.any(), "nobody asked"


def test_discoveries_index_pages_and_bytes_make_a_difference(drawn):
    draw = np.random.default_rng(3)
    days = np.sort(draw.uniform(0, 60, 200))
    links = [(float(day), 0, int(draw.integers(1, 15)), bool(draw.random() < 0.8)) for day in days]
    linked = drawn(3, pages=15, days=60, links=links)
    plain = replace(linked, links=NO_LINKS)
    hub = Tianwang(index_links=3, capacity=4)
    told(hub, linked, ReplaySetting(0.2))
    found = hub.tables(float(linked.at[-1]))["IndexPages"]
    assert (found["slot"][0], found["index_like"][0]) == (0, True), "its links were another day others"
    assert found["links"][0] >= 3
    policies = [Webfountain(count=1, cycle_periods=1) for _ in range(2)]
    for policy, each in zip(policies, (linked, plain), strict=True):
        told(policy, each, ReplaySetting(0.1))
    assert policies[0]._tempo.per_s[1] > policies[1]._tempo.per_s[1] == 0
    sizes = replace(linked, size_bytes=draw.integers(0, 5000, len(linked.at)))
    assert any((one.polls != other.polls).any() for one, other in pairwise(
        [replay(each, "chile", ReplaySetting(0.1)) for each in (plain, linked, sizes)]
    ))  # fmt: skip
