"""How fresh copies were is what anybody can work out by hand, and what plain Python works out for drawn histories."""

from itertools import pairwise

import numpy as np
import pytest

from evercrawl.lab.backtest.announced import Announced
from evercrawl.lab.backtest.recorded import Recorded
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import truth

DAY_S = 86_400.0


def world(history, last_day, warming=0.0):
    pages = truth(history, ReplaySetting(0.1, since=0.0, until=last_day * DAY_S, warming=warming))
    return pages, Recorded(pages, np.ones(len(pages)))


def polled(made, *polls: tuple[float, int]):
    """Poll pages on days, one by one; return whether each was found changed, and whether gone."""
    seen = [made.visit(np.array([page]), day * DAY_S) for day, page in polls]
    return [bool(each.changed[0]) for each in seen], [bool(each.gone[0]) for each in seen]


@pytest.fixture(name="three")
def three_pages(written):
    """Return a page that returns to its old state, one whose words hardly change, and one that is away for a while."""
    return written([
        (0, 0, "born", 1), (2, 0, "changed", 2, 0xFFFF), (4, 0, "changed", 1),
        (0, 1, "born", 5, 0b000), (3, 1, "changed", 6, 0b111), (10, 1, "changed", 7),
        (1, 2, "born", 8), (5, 2, "gone", 0), (8, 2, "born", 8),
    ])  # fmt: skip


def test_three_pages_by_hand(three):
    _, made = world(three, 10)
    changed, gone = polled(made, (1, 0), (1, 1), (2, 2), (6, 1), (6, 2), (7, 1), (9, 2))
    assert changed == [False, False, False, True, False, False, False]
    assert gone == [False, False, False, False, True, False, False]
    made.settle(10 * DAY_S)
    held = made.held
    assert (held["alive_s"] / DAY_S).tolist() == [10.0, 10.0, 4.0 + 2.0]
    assert (held["fresh_s"] / DAY_S).tolist() == [1.0 + 6.0, 2.0 + 4.0, 3.0 + 1.0]
    assert (held["similar_s"] / DAY_S).tolist() == [7.0, 9.0, 4.0]
    ages = [0.5 + 2.0, 0.5 + 4.5, 0.5 + 0.5]  # the squares of what each lasted, halved: before the first poll, then
    assert (held["stale_s2"] / DAY_S**2).tolist() == pytest.approx(ages)
    assert (held["polls"].tolist(), held["unchanged"].tolist()) == ([1, 3, 3], [0, 1, 0])
    assert (held["seen_at"] / DAY_S).tolist() == [1.0, 1.0, 2.0]
    assert made.earned(10 * DAY_S) == pytest.approx(17 / 26)


def test_four_bits_of_words_are_another_content(written):
    history = written([(0, 0, "born", 1, 0b0000), (4, 0, "changed", 2, 0b1111), (8, 0, "changed", 3, 0b0111)])
    _, made = world(history, 8)
    polled(made, (0, 0))
    made.settle(8 * DAY_S)
    assert made.held["similar_s"][0] == 4 * DAY_S


def test_what_is_not_measured_does_not_count_but_is_remembered(three):
    _, made = world(three, 10, warming=0.5)
    polled(made, (1, 0), (1, 1), (6, 1))
    made.settle(10 * DAY_S)
    assert (made.held["alive_s"][:2] / DAY_S).tolist() == [5.0, 5.0]
    assert (made.held["fresh_s"][:2] / DAY_S).tolist() == [5.0, 4.0]
    assert made.held["stale_s2"][1] / DAY_S**2 == pytest.approx((3**2 - 2**2) / 2)
    assert made.held["polls"].tolist() == [0, 1, 0]


def test_clairvoyants_are_told_what_is_stale(three):
    _, made = world(three, 10)
    polled(made, (1, 0), (1, 1), (2, 2))
    told = {day: made.stale(day * DAY_S).tolist() for day in (1.5, 2.5, 3.5, 4.5, 6.0, 8.5)}
    assert told == {1.5: [False] * 3, 2.5: [True, False, False], 3.5: [True, True, False], 4.5: [False, True, False],
                    6.0: [False, True, True], 8.5: [False, True, False]}  # fmt: skip


def test_the_age_of_a_change_is_that_of_the_version_that_is_there(three):
    _, made = world(three, 10)
    ages_s = [made.visit(np.array([0]), day * DAY_S).age_s[0] for day in (1.0, 3.0, 4.5)]
    assert [age_s / DAY_S for age_s in ages_s] == [1.0, 1.0, 0.5]


@pytest.mark.parametrize("seed", range(12))
def test_plain_python_counts_the_same(drawn, seed):
    pages, made = world(drawn(seed, pages=8, days=60), 60, warming=0.25)
    draw = np.random.default_rng(seed)
    polls = sorted((float(day), int(page)) for day, page in zip(draw.uniform(0, 60, 70), draw.integers(8, size=70),
                                                                strict=True))  # fmt: skip
    polled(made, *polls)
    made.settle(pages.end)
    for page in range(len(pages)):
        alive, fresh, similar, age = slowly(pages, page, [day * DAY_S for day, each in polls if each == page])
        held = made.held[page]
        assert (held["alive_s"], held["fresh_s"]) == pytest.approx((alive, fresh), abs=1e-3)
        assert (held["similar_s"], held["stale_s2"]) == pytest.approx((similar, age), rel=1e-9, abs=1.0)


def slowly(pages, page, polls):
    """Return what is counted of a page, moment by moment between all that happens."""
    rows = range(pages.first[page], pages.first[page + 1])
    moments = sorted({pages.start, pages.measured_at, pages.end, *polls, *(float(pages.at[row]) for row in rows)})
    sums = np.zeros(4)
    copy, stale_at = None, None
    for since, until in pairwise(moments):
        there = [row for row in rows if pages.at[row] <= since]
        now = (int(pages.state[there[-1]]), int(pages.simhash[there[-1]])) if there else (-1, 0)
        if since in polls:
            copy = now if now[0] >= 0 else None
        fresh = copy is not None and copy[0] == now[0]
        stale_at = None if fresh or now[0] < 0 else (since if stale_at is None else stale_at)
        if now[0] < 0 or since < pages.measured_at:
            continue
        similar = fresh or (copy is not None and (copy[1] ^ now[1]).bit_count() <= 3)
        age = 0.0 if stale_at is None else ((until - stale_at) ** 2 - (since - stale_at) ** 2) / 2
        sums += (until - since, fresh * (until - since), similar * (until - since), age)
    return sums


def test_a_part_of_the_changes_is_announced_at_once(drawn):
    pages, _ = world(drawn(3, pages=200), 300)
    state, begins = pages.state, np.zeros(len(pages.state), np.bool_)
    begins[pages.first[:-1]] = True
    before = np.r_[-1, state[:-1]]
    changes = int((~begins & (before >= 0) & (state >= 0) & (before != state)).sum())
    counts = {part: sum(told_of(pages, part)) for part in (0.0, 0.3, 1.0)}
    assert (counts[0.0], counts[1.0]) == (0, changes)
    assert counts[0.3] == pytest.approx(0.3 * changes, abs=4 * (0.21 * changes) ** 0.5)


def test_nothing_is_announced_before_it_happens_nor_twice(three):
    pages, _ = world(three, 10)
    announced = Announced(pages, 1.0, seed=1)
    told = [announced.pass_to(day * DAY_S) for day in (1.9, 2.0, 3.5, 4.5, 9.0)]
    counts = [None if each is None else each.right.tolist() for each in told]
    assert counts == [None, [1, 0, 0], [0, 1, 0], [1, 0, 0], None], "births and deaths are not announced"


def told_of(pages, part):
    signals = Announced(pages, part, seed=1).pass_to(pages.end)
    return [] if signals is None else signals.right.tolist()
