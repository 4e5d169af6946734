"""Pages are known when there are any, or when a page that links to them was polled."""

import numpy as np
import pytest

from evercrawl.lab.backtest.discovery import Births, LinkedFirst
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import truth

DAY_S = 86_400.0


def part(history, until):
    return truth(history, ReplaySetting(0.1, since=0.0, until=until * DAY_S))


def test_births_come_once_each_and_again_after_a_removal(written):
    history = written([
        (0, 0, "born", 1), (2, 1, "born", 1), (4, 1, "gone", 0), (6, 1, "born", 1), (6, 2, "born", 1),
        (7, 2, "gone", 0), (9, 0, "changed", 2),
    ])  # fmt: skip
    births = Births(part(history, 9))
    assert [births.pass_to(day * DAY_S).tolist() for day in (1, 2, 3, 6.5, 8)] == [[0], [1], [], [1, 2], []]
    assert births.there.tolist() == [True, True, False]
    assert [births.next_at(day * DAY_S) / DAY_S for day in (-1, 1, 2, 5, 6)] == [0, 2, 6, 6, np.inf]
    assert births.live_at(np.array([0, 2, 5, 6, 8]) * DAY_S).tolist() == [1, 2, 1, 3, 2]
    assert (births.born_at() / DAY_S).tolist() == [0, 2, 6]


@pytest.fixture(name="linked")
def linked_pages(written):
    """Return pages 0 and 1 that are there at the start; 2, 3 and 4 are born later, and nothing links to 4."""
    return written(
        [(0, 0, "born", 1), (0, 1, "born", 1), (3, 2, "born", 1), (3, 3, "born", 1), (3, 4, "born", 1),
         (9, 0, "changed", 2)],
        [(1, 0, 2, True), (2, 0, 2, False), (5, 0, 2, True), (1, 1, 3, True), (0, 2, 2, True), (0, 0, 1, True)],
    )  # fmt: skip


def test_a_page_is_named_by_the_links_of_the_day(linked):
    first = LinkedFirst(linked, part(linked, 9))
    assert first.named.tolist() == [True, True, False, False, True]
    assert first.polled(np.array([0]), 2.5 * DAY_S)[0].tolist() == [], "the link was gone that day"
    named, counts = first.polled(np.array([0, 1]), 5.0 * DAY_S)
    assert (named.tolist(), counts.tolist()) == ([2, 3], [1, 1])
    assert first.polled(np.array([0, 1]), 6.0 * DAY_S)[0].tolist() == [], "it was named before"


def test_a_page_names_no_page_by_linking_to_itself(linked):
    first = LinkedFirst(linked, part(linked, 9))
    assert first.polled(np.array([2]), 6.0 * DAY_S)[0].tolist() == []


@pytest.mark.parametrize("seed", range(6))
def test_what_is_named_is_what_a_walk_through_the_log_names(written, seed):
    draw = np.random.default_rng(seed)
    pages = 12
    links = [(float(draw.uniform(0, 50)), *draw.integers(pages, size=2).tolist(), bool(draw.random() < 0.6))
             for _ in range(150)]  # fmt: skip
    events = [(0, 0, "born", 1), *((1, page, "born", 1) for page in range(1, pages)), (60, 0, "changed", 2)]
    history = written(events, links)
    first = LinkedFirst(history, part(history, 60))
    named = {page for page in range(pages) if first.named[page]}
    for _ in range(30):
        rows, day = np.unique(draw.integers(pages, size=2)), float(draw.uniform(0, 60))
        state = {}
        for at, source, target, there in sorted(links):
            if at <= day and source in rows and source != target:
                state[source, target] = there
        expected = {target for (_, target), there in state.items() if there} - named
        found, counts = first.polled(rows, day * DAY_S + 1)
        assert set(found.tolist()) == expected
        assert counts.sum() == len(found)
        of_last = {target for (source, target), there in state.items() if there and source == rows[-1]} - named
        assert counts[-1] == len(of_last) or len(rows) > 1
        assert counts[-1] <= len(of_last)
        named |= expected
