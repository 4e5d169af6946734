"""Pages that change at known instants: the best visits are those that trying all finds, and the policy makes them."""

import itertools
from typing import Any

import numpy as np
import pytest
import visit_forms

from evercrawl.errors import ConfigError
from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.policies.marked_point import counts as marked_point_counts
from evercrawl.schedule.policies.marked_point import hours as marked_point_hours
from evercrawl.schedule.policies.marked_point import instants as marked_point_instants
from evercrawl.schedule.policies.marked_point.instants import DAY_S
from evercrawl.schedule.policies.marked_point.marked_point import MarkedPoint

BEGAN_AT = 20_300 * DAY_S  # a day 0 of the week, by the count from the epoch
HOUR_S = 3600.0


def fresh(edges: np.ndarray, chances: np.ndarray, after: tuple[int, ...]) -> float:
    """Return how long a page is fresh, segment by segment."""
    total, left = 0.0, 1.0
    for segment, length in enumerate(np.diff(edges)):
        if segment:
            left = 1.0 if segment - 1 in after else left * (1.0 - chances[segment - 1])
        total += left * length
    return total


@pytest.mark.parametrize("seed", range(6))
def test_no_other_visits_leave_the_page_fresh_for_longer(seed) -> None:
    rng = np.random.default_rng(seed)
    times, chances, horizon = np.sort(rng.uniform(0, 9, 6)), rng.random(6), 10.0
    edges = np.concatenate([[0.0], times, [horizon]])
    for visits in range(8):
        found = visit_forms.best_visits(times.tolist(), chances.tolist(), horizon, visits)
        tried = [
            fresh(edges, chances, after)
            for count in range(visits + 1)
            for after in itertools.combinations(range(6), count)
        ]
        assert found.stale == pytest.approx(1.0 - max(tried) / horizon)
        assert fresh(edges, chances, tuple(found.after)) == pytest.approx(max(tried))


def test_a_week_goes_round() -> None:
    chances = np.random.default_rng(1).random((1, 7))
    found = marked_point_instants.weekly_fresh(chances)[0]
    for days in (0b1, 0b1010, 0b1111111, 0b1000001):
        total, left = 0.0, 1.0
        for day in range(21):  # from the third week on nothing depends on how it began
            left = 1.0 if days >> (day % 7) & 1 else left * (1.0 - chances[0, day % 7])
            total += left if day >= 14 else 0.0
        assert found[days] == pytest.approx(total)


def visit(at: float, interval_s: float, changed: list[bool], age_s: float = np.nan) -> Visits:
    n = len(changed)
    none, no = np.zeros(n), np.zeros(n, bool)
    return Visits(
        np.arange(n, dtype=np.uint32), np.zeros(n, np.uint32), none + at, none + interval_s, ~no, no,
        np.array(changed), none + age_s, none, none, none.astype(int), no, none.astype(int),
    )  # fmt: skip


def pages(at: float, n: int) -> Pages:
    one, none = np.ones(n), np.zeros(n)
    return Pages(np.arange(n, dtype=np.uint32), at + none, one, none, 20 * one, 40 * DAY_S * one, one, none, none)


def learned(regular: int) -> MarkedPoint:
    """Return a policy that has seen page 0 change at 9:20 on days 2 and 4 for six weeks, and page 1 at any hour."""
    policy, rng = MarkedPoint(regular=regular), np.random.default_rng(2)
    for day in range(42):
        at = BEGAN_AT + day * DAY_S + 12 * HOUR_S
        policy.learn(visit(at, DAY_S, [day % 7 in (2, 4)], age_s=12 * HOUR_S - 9 * HOUR_S - 1200.0))
        if day % 3 == 0:
            age_s = rng.uniform(0, DAY_S)
            shifted = visit(at, DAY_S, [False, True], age_s=age_s)
            policy.learn(shifted.take(np.array([1])))
    return policy


def test_a_page_with_an_hour_is_visited_just_after_it_on_its_days() -> None:
    policy, now = learned(1), BEGAN_AT + 42 * DAY_S
    policy.resume({"planned_visits_per_s": 1.0 / DAY_S})
    policy.plan(pages(now, 2), 0, Context(now))
    due = policy.due(pages(now, 2), Context(now))
    assert (due[0] - now) / DAY_S == pytest.approx(2 + 10 / 24), "an hour in which it changes is over"
    later = policy.due(pages(due[0] + 1.0, 2), Context(now))
    assert (later[0] - due[0]) / DAY_S == pytest.approx(2.0)
    assert (policy.due(pages(later[0] + 1.0, 2), Context(now))[0] - later[0]) / DAY_S == pytest.approx(5.0)
    both = pages(now, 2)
    both.visited_at[1] = due[0] - 0.5 * DAY_S
    early, late = (policy.value(both, Context(due[0] + shift)) for shift in (-60.0, 60.0))
    assert early.argmax() == 1
    assert late.argmax() == 0
    assert policy.rates(np.zeros(1, np.uint32)) * 7 * DAY_S == pytest.approx(2.0)
    regular = {name: cells.tolist() for name, cells in policy.tables(Context(now))["regular"].items()}
    assert regular == {"slot": [0], "visits_per_week": [2], "hour": [10.0]}
    assert set(policy.tables(Context(now))) == {"plan", "regular"}


def test_other_pages_and_all_where_it_is_not_wanted_are_visited_evenly() -> None:
    now = BEGAN_AT + 42 * DAY_S
    for policy, page in ((learned(1), 1), (learned(0), 0)):
        policy.resume({"planned_visits_per_s": 1.0 / DAY_S})
        policy.plan(pages(now, 2), 0, Context(now))
        rate = policy.rates(np.array([page], np.uint32))
        assert policy.due(pages(now, 2), Context(now))[page] == pytest.approx(now + 1 / rate[0])


def test_a_change_whose_time_nobody_knows_says_nothing_of_hours() -> None:
    rows = np.zeros(1, marked_point_hours.ROW)
    assert marked_point_hours.learn(rows, visit(BEGAN_AT, 3 * HOUR_S, [True]))["hours"].sum() == 0
    assert marked_point_hours.learn(rows, visit(BEGAN_AT, 1 * HOUR_S, [False]))["hours"].sum() == 0
    found = marked_point_hours.learn(rows, visit(BEGAN_AT, 1 * HOUR_S, [True]))
    assert found["hours"][0, 23] == 1
    assert found["days"][0, 6] == 1


def kept_fresh(changed_at: list[float], weeks: int) -> float:
    """Return for which part of a week the copy of page 0 is fresh, once so many weeks of its changes are learned.

    It is visited once a week.

    Parameters
    ----------
    changed_at
        When it changes in a week, in hours from its beginning; where there are several, in turns of a week each.
    """
    policy, week_s = MarkedPoint(), 7 * DAY_S
    changes = [BEGAN_AT + week * week_s + changed_at[week % len(changed_at)] * HOUR_S for week in range(weeks + 4)]
    policy.learn(visit(BEGAN_AT, np.nan, [False]))
    for at in changes[:weeks]:
        policy.learn(visit(at + 30 * HOUR_S, week_s, [True], age_s=30 * HOUR_S))
    now = BEGAN_AT + weeks * week_s + DAY_S * 2
    policy.resume({"planned_visits_per_s": 1.0 / week_s})
    policy.plan(pages(now, 1), 0, Context(now))
    seen, stale_s = now, 0.0
    for _ in range(4):
        due = float(policy.due(pages(seen, 1), Context(seen))[0])
        stale_s += sum(due - at for at in changes if seen < at < due)
        assert seen == now or due - seen > 6.9 * DAY_S
        seen = due + 1.0
    return 1.0 - stale_s / (seen - now)


@pytest.mark.parametrize("day", [0, 2, 6])
@pytest.mark.parametrize("hour", range(24))
def test_at_whatever_hour_a_page_changes_it_is_fresh_for_nearly_all_of_the_week(day, hour) -> None:
    assert kept_fresh([day * 24 + hour + 0.5], weeks=12) > 0.99


@pytest.mark.parametrize("day", [0, 2, 6])
@pytest.mark.parametrize("hour", range(24))
def test_and_so_it_is_where_it_changes_around_a_full_hour_or_midnight(day, hour) -> None:
    around = day * 24.0 + hour + 1.0
    assert kept_fresh([around - 0.25, around + 0.25], weeks=12) > 0.98


def taught(hours: list[int]) -> np.ndarray:
    """Return what is kept of a page that changes every day, each time at the hour that is said."""
    rows = np.zeros(1, marked_point_hours.ROW)
    for day, hour in enumerate(hours):
        at = BEGAN_AT + (day + 1) * DAY_S
        rows = marked_point_hours.learn(rows, visit(at, DAY_S, [day > 0], age_s=DAY_S - hour * HOUR_S))
    return rows


@pytest.mark.parametrize("weeks", [12, 36, 37, 38, 80, 160])
def test_a_daily_page_is_regular_for_as_long_as_it_is(weeks) -> None:
    rows = taught([9] * 7 * weeks)
    found = marked_point_hours.regular(rows, BEGAN_AT + 7 * weeks * DAY_S)
    assert found.pages.tolist() == [True]
    assert found.offset_s.tolist() == [10 * HOUR_S]
    assert found.chances.min() > 0.9


def test_a_page_that_moves_its_hour_is_regular_again_by_and_by() -> None:
    days = [9] * 1000 + [15] * 500
    ends = [marked_point_hours.regular(taught(days[:n]), BEGAN_AT + n * DAY_S) for n in (1000, 1200, 1500)]
    assert [bool(end.pages[0]) for end in ends] == [True, False, True]
    assert [end.offset_s[0] / HOUR_S for end in (ends[0], ends[2])] == [10.0, 16.0]


def split(how: str, n: int, each: float) -> np.ndarray:
    """Return how many visits a horizon each of some pages is to have, of random weights and rates of change."""
    draw, now = np.random.default_rng(5), BEGAN_AT
    policy, seen = MarkedPoint(split=how, each=each), pages(now, n)
    seen.importance[:], seen.shape[:] = draw.pareto(1.1, n) + 1, 1e12
    seen.scale_s[:] = 1e12 * DAY_S / np.exp(draw.normal(-1.0, 2.0, n))
    policy.resume({"planned_visits_per_s": n / DAY_S})
    policy.plan(seen, 0, Context(now))
    return policy.rates(seen.slot) * each * DAY_S


def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each way of splitting adds its name as it is used."""
    used = list[str]()

    def hear(name: str) -> None:
        found = getattr(marked_point_counts, name)

        def named(*given: Any) -> marked_point_counts.HorizonCounts:
            used.append(name)
            return found(*given)

        monkeypatch.setattr(marked_point_counts, name, named)

    for name in ("by_price", "greedy", "dynamic"):
        hear(name)
    return used


def test_visits_are_split_as_was_asked_and_all_ways_agree(monkeypatch) -> None:
    used = heard(monkeypatch)
    found = {how: split(how, n=30, each=4.0) for how in marked_point_counts.SPLITS}
    assert used == ["by_price", "greedy", "dynamic"]
    assert found["price"].sum() == pytest.approx(120)
    assert np.ptp(found["price"]) > 14
    for how in ("greedy", "dynamic"):
        assert found[how] == pytest.approx(found["price"], abs=1e-9)


def test_too_many_visits_for_the_slow_ways_are_split_by_price(monkeypatch) -> None:
    used = heard(monkeypatch)
    split("dynamic", n=101, each=10.0)
    split("greedy", n=201, each=100.0)
    assert used == ["by_price"] * 2


def test_there_are_no_other_ways_and_another_can_be_taken_while_it_runs() -> None:
    policy = MarkedPoint()
    policy.adjust({"split": "greedy"})
    assert policy.split == "greedy"
    with pytest.raises(ConfigError, match="marked_point: split must be one of price, greedy, dynamic, not 'best'"):
        policy.adjust({"split": "best"})
