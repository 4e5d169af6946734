"""Tianwang: cycles, who is visited in them, what is left over, and what the five tables say."""

from typing import Any

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.policies.tianwang.tianwang import Tianwang
from evercrawl.types import RETIRED

DAY_S = 86_400.0
BEGAN_AT = 20_000 * DAY_S


def pages(visited_at: Any) -> Pages:
    visited_at = np.asarray(visited_at, float)
    one = np.ones(len(visited_at))
    return Pages(np.arange(len(one), dtype=np.uint32), visited_at, one, one, one, one, one, one, 0 * one)


def visits(slots: Any, at: float, interval_s: float, **given: Any) -> Visits:
    n = len(slots)
    usual = {
        "site": np.zeros(n, np.uint32), "read": np.ones(n, bool), "gone": np.zeros(n, bool),
        "changed": np.zeros(n, bool), "age_s": np.full(n, np.nan), "received": np.ones(n), "size": np.full(n, 1e4),
        "links": np.full(n, 5), "relinked": np.zeros(n, bool), "found": np.zeros(n, np.int64),
    }  # fmt: skip
    columns = usual | {name: np.asarray(value, usual[name].dtype) for name, value in given.items()}
    return Visits(
        slot=np.asarray(slots, np.uint32), at=np.full(n, at), interval_s=np.full(n, float(interval_s)), **columns
    )


def told(policy: Tianwang, changed: Any, days: int) -> float:
    """Tell of a visit to each page a day, of which some are found changed each time; return when the last was."""
    slots = np.arange(len(changed))
    policy.learn(visits(slots, BEGAN_AT, np.nan))
    for day in range(1, days + 1):
        policy.learn(visits(slots, BEGAN_AT + day * DAY_S, DAY_S, changed=changed))
    return BEGAN_AT + days * DAY_S


def wanted(policy: Tianwang, seen: Pages, now: float) -> list[int]:
    """Return the pages that the cycle visits, in its order."""
    values = policy.value(seen, Context(now))
    order = np.argsort(-values, kind="stable")
    return [int(row) for row in order if values[row] >= policy.min_value]


def test_a_cycle_visits_what_is_due_in_the_order_of_its_time_and_leaves_over_the_rest():
    policy = Tianwang(new_percent=50, capacity=4, cycle="1d", direct_after=0)
    policy.resume({"tianwang_per_s": 4 / DAY_S})  # a round, and with it the first period, is of a day and a quarter
    seen = pages(BEGAN_AT + np.array([40.0, 10.0, 30.0, 20.0, 50.0]))
    now = BEGAN_AT + 10 * DAY_S
    assert policy.plan(seen, 100, Context(now)) == now + DAY_S
    assert wanted(policy, seen, now) == [1, 3]
    left_over = policy.tables(Context(now))["RemainedURLs"]["slot"]
    assert len(left_over) == 0, "it was told of no visit"
    later = pages([*seen.visited_at[:1], now + 1, seen.visited_at[2], now + 1, seen.visited_at[4]])
    policy.plan(later, 100, Context(now + DAY_S))
    assert wanted(policy, later, now + DAY_S) == [2, 0], "nothing came due since, so there is room for what was left"


def test_what_is_due_comes_before_what_was_left_over():
    policy = Tianwang(new_percent=0, capacity=2, cycle="1h", longest=1000)
    at = told(policy, [True] * 6, 4)  # due 1 / ln 9 days after the last visit: all at once
    policy.adjust({"direct_after": 0})
    seen = pages(np.full(6, at))
    policy.plan(seen, 0, Context(at + 0.9 * DAY_S))
    first = wanted(policy, seen, at + 0.9 * DAY_S)
    assert len(first) == 2
    policy.learn(visits(first, at + 0.9 * DAY_S, 0.9 * DAY_S, changed=[True, True]))
    again_at = at + 0.9 * DAY_S + DAY_S
    policy.plan(seen, 0, Context(at + 0.9 * DAY_S + 3600))
    policy.plan(seen, 0, Context(again_at))
    assert wanted(policy, seen, again_at) == first, "the others wait in RemainedURLs, and have done so for longer"
    assert len(policy.tables(Context(again_at))["RemainedURLs"]["slot"]) == 4


def test_new_urls_get_their_share_and_no_more():
    policy = Tianwang(new_percent=25, capacity=8, cycle="1d")
    seen = pages([BEGAN_AT])
    policy.plan(seen, 100, Context(BEGAN_AT + 1))
    new = pages([np.nan] * 3)
    for _ in range(2):
        value = policy.value(new, Context(BEGAN_AT + 2))
        assert (value >= policy.min_value).all()
        assert value.argmax() == 0, "the one found first"
        policy.chosen(value[:1], Context(BEGAN_AT + 2, 1), 1)
    assert (policy.value(new, Context(BEGAN_AT + 3)) < policy.min_value).all()
    policy.plan(seen, 100, Context(BEGAN_AT + 2 * DAY_S))
    assert (policy.value(new, Context(BEGAN_AT + 2 * DAY_S)) >= policy.min_value).all()


def test_next_crawl_time_is_one_over_the_corrected_estimate():
    policy = Tianwang(longest=1e9)
    at = told(policy, [True, False], 4)
    table = policy.tables(Context(at))["PageInfoTable"]
    assert table["next_at"][0] - at == pytest.approx(DAY_S / np.log(4.5 / 0.5))
    assert table["period_s"][1] == pytest.approx(1e9), "never, by the estimate: so many rounds, here of a second"
    assert policy.tables(Context(at))["PageInfoTable"]["changes"].tolist() == [4, 0]


def test_a_page_that_changed_each_time_of_late_comes_first():
    def first(direct_after: int) -> int:
        policy = Tianwang(new_percent=0, direct_after=direct_after, longest=1.0)
        at = told(policy, [False, True], 4)
        seen = pages([at - 100, at])
        policy.plan(seen, 0, Context(at + 20 * DAY_S))
        policy.learn(visits([0], at + 20 * DAY_S, DAY_S))  # the other is due first by its estimate; its turn is now
        policy.plan(seen, 0, Context(at + 40 * DAY_S))
        return wanted(policy, seen, at + 40 * DAY_S)[0]

    assert first(3) == 1
    policy = Tianwang(direct_after=5)
    at = told(policy, [False, True], 4)
    seen = pages([at, at])
    policy.plan(seen, 0, Context(at + 20 * DAY_S))
    assert policy.value(seen, Context(at + 20 * DAY_S)).max() < 4.0, "four times is not five"


def direct_last(**given: Any) -> tuple[Tianwang, Pages, float]:
    """Tell of pages 0 to 3, of which 2 changed each time of late; it is due, but after all others, and 4 is new."""
    policy = Tianwang(**{"capacity": 4, "cycle": "1d", "new_percent": 50, "longest": 1e6} | given)
    last = told(policy, [True] * 4, 4)
    at = last + 3600 * np.array([1.0, 1.1, 12.0, 1.2, np.nan])
    for slot in range(4):
        policy.learn(visits([slot], at[slot], at[slot] - last, changed=[slot == 2]))
    now = last + 4 * DAY_S
    policy.plan(pages(at[:4]), 9, Context(now))
    checks = policy.tables(Context(now))["PageInfoTable"]
    next_at = checks["at"] + DAY_S / checks["changes_per_day"]
    assert next_at.argmax() == 2
    assert next_at.max() < now, "all are due"
    return policy, pages(at), now


def test_a_direct_page_beats_all_that_is_due_before_it_and_new_urls():
    policy, seen, now = direct_last()
    assert wanted(policy, seen, now)[0] == 2
    policy.chosen(policy.value(seen, Context(now))[[0]], Context(now, 4))  # it is the turn of new URLs
    value = policy.value(seen, Context(now))
    assert value[4] > value[[0, 1, 3]].max(), "these wait until new URLs had theirs"
    assert value.argmax() == 2
    queued = policy.due(seen.part(0, 4), Context(now))
    assert queued.argmin() == 2, "and on its host it is first"
    policy.adjust({"direct_after": 0})
    policy.plan(seen.part(0, 4), 9, Context(now + DAY_S))
    assert wanted(policy, seen, now + DAY_S)[0] != 2


def test_a_direct_page_has_the_only_place_that_there_is():
    policy, seen, now = direct_last(capacity=1, new_percent=0)
    assert wanted(policy, seen, now) == [2]


def test_a_direct_page_is_never_left_over():
    policy, seen, now = direct_last(capacity=1, new_percent=0)
    for day in (1, 2, 3):  # nothing is visited, cycle after cycle
        policy.plan(seen.part(0, 4), 0, Context(now + day * DAY_S))
        assert wanted(policy, seen, now + day * DAY_S) == [2]
        assert policy.tables(Context(now + day * DAY_S))["RemainedURLs"]["slot"].tolist() == [0, 1, 3]


def test_nor_is_one_of_two_where_there_is_room_for_one():
    policy = Tianwang(new_percent=0, capacity=1, cycle="1h", longest=1000)
    now = told(policy, [True, True, False], 4) + 9 * DAY_S
    for day in (0, 1):
        policy.plan(pages([BEGAN_AT] * 3), 0, Context(now + day * DAY_S))
        assert 0 not in policy.tables(Context(now))["RemainedURLs"]["slot"]
        assert 1 not in policy.tables(Context(now))["RemainedURLs"]["slot"]


def test_pages_that_disappear_wait_longer_each_time_and_are_given_up():
    policy = Tianwang(retire_after=3)
    at = told(policy, [False], 1)
    waits = []
    for times in (1, 2, 3):
        policy.learn(visits([0], at + times, np.nan, read=[False], gone=[True]))
        table = policy.tables(Context(at))["PageInfoTable"]
        assert table["disappear_times"].tolist() == [times]
        waits += (table["next_at"] - at - times).tolist()
    assert waits == pytest.approx([2.0, 4.0, np.nan], nan_ok=True), "rounds are of a second; then it is given up"
    assert table["retired"].tolist() == [True]
    assert policy.due(pages([at]), Context(at)).tolist() == [np.inf]
    policy.learn(visits([0], at + 9, np.nan))
    assert policy.tables(Context(at))["PageInfoTable"]["disappear_times"].tolist() == [0], "it is back"


def test_the_tables_have_the_names_and_the_content_that_were_published():
    policy = Tianwang()
    told(policy, [False, True], 2)
    tables = policy.tables(Context(BEGAN_AT))
    assert set(tables) == {"PageInfoTable", "RemainedURLs", "IndexPages"}
    assert {"next_at", "period_s", "disappear_times"} <= set(tables["PageInfoTable"])


def indexed(policy: Tianwang, **given: Any) -> tuple[Pages, float]:
    """Tell of two pages, the second of many links that lead to new pages, neither of them due for a long time."""
    policy.learn(visits([0, 1], BEGAN_AT, np.nan))
    of = {"links": [50, 50], "size": [1e6, 5e3], "relinked": [True, True], "found": [9, 9]} | given
    for day in (1, 2):
        policy.learn(visits([0, 1], BEGAN_AT + day * DAY_S, DAY_S, **of))
    return pages([BEGAN_AT + 2 * DAY_S] * 2), BEGAN_AT + 3 * DAY_S


@pytest.mark.parametrize(
    ("unread", "given", "expected"),
    [
        (0, {}, [1]),
        (100, {}, []),  # there are new URLs enough
        (0, {"found": [0, 0]}, []),  # they lead to nothing new
        (0, {"links": [5, 5]}, []),
        (0, {"relinked": [False, False]}, []),
        (0, {"size": [5e3, 5e3]}, [0, 1]),
    ],
)
def test_index_like_pages_get_what_new_urls_leave(unread, given, expected):
    policy = Tianwang(capacity=10, cycle="1d", longest=1e6)
    seen, now = indexed(policy, **given)
    policy.plan(seen, unread, Context(now))
    assert sorted(wanted(policy, seen, now)) == expected
    table = policy.tables(Context(now))["IndexPages"]
    assert table["new_pages_per_visit"].tolist() == given.get("found", [9, 9])


def test_of_index_like_pages_that_comes_first_which_led_to_more_new_ones():
    """There is room for one of the two."""
    for found in ([2, 9], [9, 2]):
        policy = Tianwang(capacity=5, cycle="1d", longest=1e6)
        seen, now = indexed(policy, found=found, size=[5e3, 5e3])
        policy.plan(seen, 0, Context(now))
        assert wanted(policy, seen, now) == [found.index(9)]


def test_pages_of_a_site_that_changes_are_looked_at_sooner_if_wanted():
    periods = {}
    for locality in (0.0, 1.0):
        policy = Tianwang(locality=locality, longest=1e9)
        at = told(policy, [True, True, False], 6)
        periods[locality] = policy.tables(Context(at))["PageInfoTable"]["period_s"]
    assert periods[1.0][2] < 2 * DAY_S < periods[0.0][2]
    assert periods[1.0][0] == periods[0.0][0]


def test_with_nothing_to_do_it_waits_unless_it_is_to_use_all_of_the_budget():
    seen = pages([BEGAN_AT, BEGAN_AT])
    for work_conserving in (0, 1):
        policy = Tianwang(capacity=5, cycle="1d", work_conserving=work_conserving)
        policy.plan(seen, 0, Context(BEGAN_AT + 0.5))
        assert len(wanted(policy, seen, BEGAN_AT + 0.5)) == 2 * work_conserving


def test_a_cycle_that_is_cut_short_goes_on_after_a_restart():
    policy = Tianwang(new_percent=0, capacity=3, cycle="1d")
    seen, now = pages(BEGAN_AT + np.arange(6.0)), BEGAN_AT + 3 * DAY_S
    planned = [policy.plan(seen, 0, Context(now)), policy.notes()]
    assert wanted(policy, seen, now) == [0, 1, 2]
    policy.chosen(policy.value(seen, Context(now))[:1], Context(now, 6))
    assert [now + DAY_S, policy.notes()] == planned, "what is noted holds for the whole cycle"
    after = pages([now + 1, *seen.visited_at[1:]])
    again = Tianwang(new_percent=0, capacity=3, cycle="1d")
    again.resume(policy.notes())
    for slot, at in enumerate([*seen.visited_at, now + 1]):  # it is told of all visits, as at any start
        again.learn(visits([slot % 6], at, np.nan))
    assert again.plan(after, 0, Context(now + 60)) == now + DAY_S
    assert wanted(again, after, now + 60) == [1, 2]


def test_pages_that_never_changed_wait_for_their_rounds_in_the_first_cycle_too():
    policy = Tianwang(new_percent=0, capacity=10, longest=20)
    policy.resume({"tianwang_per_s": 10 / DAY_S})  # a round is of five days, and no cycle was noted
    at = told(policy, [False] * 50, 4)
    seen = pages(np.full(50, at))
    for day in (1, 2, 99):
        policy.plan(seen, 0, Context(at + day * DAY_S))
        assert wanted(policy, seen, at + day * DAY_S) == []
    policy.plan(seen, 0, Context(at + 101 * DAY_S))
    assert len(wanted(policy, seen, at + 101 * DAY_S)) == 10


def test_a_round_is_as_long_as_the_cycles_that_visit_all_pages():
    policy = Tianwang(new_percent=0, capacity=10, cycle="1d")
    policy.resume({"tianwang_per_s": 1.0})  # so many could be made
    seen = pages(np.full(50, BEGAN_AT))
    policy.plan(seen, 0, Context(BEGAN_AT + 4 * DAY_S))
    assert wanted(policy, seen, BEGAN_AT + 4 * DAY_S) == []
    policy.plan(seen, 0, Context(BEGAN_AT + 5 * DAY_S))
    assert len(wanted(policy, seen, BEGAN_AT + 5 * DAY_S)) == 10


@pytest.mark.parametrize("per_s", [20.0, 1 / 300])
def test_the_first_cycle_after_another_policy_goes_by_the_pace_of_its_visits(per_s):
    policy, n = Tianwang(), 2000
    at = BEGAN_AT + np.arange(n) / per_s
    for slot in range(n):
        policy.learn(visits([slot], at[slot], np.nan))
    now = at[-1] + 9 * DAY_S  # nobody crawled meanwhile
    assert policy.plan(pages(at), 0, Context(now)) - now == pytest.approx(n / 5 / per_s, rel=0.01)
    assert len(wanted(policy, pages(at), now)) == 0.8 * n / 5


def test_visits_that_a_killed_run_made_are_taken_off_the_cycle_by_their_kind():
    def begun() -> Tianwang:
        policy = Tianwang(new_percent=50, capacity=12, cycle="1d", direct_after=0, longest=1000)
        policy.learn(visits(range(6), BEGAN_AT, np.nan))
        return policy

    seen, now = pages(np.full(6, BEGAN_AT)), BEGAN_AT + 2 * DAY_S
    policy = begun()
    policy.plan(seen, 9, Context(now))
    assert len(wanted(policy, seen, now)) == 6
    again = begun()
    again.resume(policy.notes())
    again.learn(visits([0, 1], now + 1, 2 * DAY_S))
    again.learn(visits([6, 7, 8, 9], now + 2, np.nan))
    later = pages([now + 1, now + 1, *seen.visited_at[2:], *[now + 2] * 4])
    again.plan(later, 5, Context(now + 60))
    assert wanted(again, later, now + 60) == [2, 3, 4, 5]
    new = pages([np.nan] * 3)
    for left in (2, 1, 0):
        assert (again.value(new, Context(now + 60)) >= again.min_value).all() == (left > 0)
        again.chosen(again.value(new, Context(now + 60))[:1], Context(now + 60, 6), 1)


def test_a_crawl_of_before_that_noted_no_percentage_goes_on():
    policy, seen, now = Tianwang(new_percent=50), pages(np.full(6, BEGAN_AT)), BEGAN_AT + DAY_S
    of_old = {"begun_at": now - 60, "ends_at": now + 60, "round_s": 3600, "capacity": 8, "room_new": 3, "left_due": 1}
    policy.resume({f"tianwang_{name}": float(value) for name, value in of_old.items()})
    assert policy.plan(seen, 5, Context(now)) == now + 60
    assert len(wanted(policy, seen, now)) == 4
    assert policy.value(pages([np.nan]), Context(now))[0] >= policy.min_value


def test_short_cycles_do_not_keep_a_new_crawl_idle():
    policy, seen, made, ends_at = Tianwang(cycle="2s"), np.full(2000, BEGAN_AT - 9 * DAY_S), 0, 0.0
    for now in BEGAN_AT + np.arange(0, 20, 0.1):
        if now >= ends_at:
            ends_at = policy.plan(pages(seen), 0, Context(now))
        chosen = wanted(policy, pages(seen), now)[:6]
        if chosen:
            policy.chosen(policy.value(pages(seen), Context(now))[chosen], Context(now, 2000))
            seen[chosen] = now
            made += len(chosen)
    assert made > 890, "of 1,200 that could be made"


def test_idleness_is_not_taken_for_the_limit():
    policy = Tianwang(longest=5)
    found = poll(policy, population(100, 1), 1.0, cycles=5, measured_from=3)
    assert found.unused > 0.375
    assert policy.notes()["tianwang_per_s"] * DAY_S == pytest.approx(100, rel=0.2)


def test_it_reaches_what_was_measured_of_it():
    assert poll(Tianwang(), population(200, 1), 0.3, cycles=9, measured_from=6, seed=1).ratio > 0.567 - 0.03


@pytest.mark.parametrize("given", [{"new_percent": 101}, {"cycle": "soon"}, {"direct_after": 9}, {"locality": -0.1}])
def test_values_that_make_no_sense_are_refused(given):
    with pytest.raises(ConfigError, match=f"tianwang: {next(iter(given))} must be"):
        Tianwang(**given)
    with pytest.raises(ConfigError):
        Tianwang().adjust(given)


def test_no_page_is_given_up_later_than_the_crawl_does_so():
    Tianwang(retire_after=RETIRED)
    for refused in (lambda: Tianwang(retire_after=RETIRED + 1), lambda: Tianwang().adjust({"retire_after": 255.0})):
        with pytest.raises(ConfigError, match=r"from 1 to 6, not .*: at 6 the crawl itself gives a page up"):
            refused()
