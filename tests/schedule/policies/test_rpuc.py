"""RPUC: types by vectors, queues by types, and what is given, fitted, listed and removed."""

from typing import Any

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.policies.rpuc.fit import fit
from evercrawl.schedule.policies.rpuc.rpuc import Rpuc
from evercrawl.schedule.policies.rpuc.types import components, queue

DAY_S = 86_400.0
BEGAN_AT = 20_000 * DAY_S
GIVEN = {"matrix": "1,0,0,0; 0,1,0,0; 0,0,1,0; 0,0,0,1; 0,0,0,0", "thresholds": ".7,.7,.7,.7,0", "scale": "rank"}
PERIODS = "1h,2h,4h,8h,1d"


def pages(n: int, **given: Any) -> Pages:
    one = np.ones(n)
    columns = {"visited_at": BEGAN_AT * one, "importance": one, "retrieved": 0 * one, "clicked": 0 * one} | given
    return Pages(
        np.arange(n, dtype=np.uint32), cash=one, shape=one, scale_s=one, cost=one, cost_changed=0 * one,
        neg_log_unchanged=0 * one, **{name: np.asarray(column, float) for name, column in columns.items()},
    )  # fmt: skip


def told(policy: Rpuc, at: float, interval_s: float, changed: Any, gone: Any = False) -> None:
    n = len(changed)
    changed, gone, none = np.asarray(changed, bool), np.broadcast_to(gone, n), np.zeros(n, np.int64)
    at_each, interval = np.full(n, at), np.where(gone, np.nan, interval_s)
    policy.learn(
        Visits(np.arange(n, dtype=np.uint32), np.zeros(n, np.uint32), at_each, interval, ~gone, gone, changed,
               at_each * np.nan, at_each, at_each, none, gone & ~gone, none)
    )  # fmt: skip


def queues(policy: Rpuc, seen: Pages, now: float) -> list[int]:
    policy.plan(seen, 0, Context(now))
    table = policy.tables(Context(now))["queues"]
    assert table["slot"].tolist() == seen.slot.tolist()
    return table["type"].tolist()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, [4, 4, 4, 4]),
        ({"retrieved": [0, 0, 0, 9]}, [4, 4, 4, 0]),
        ({"importance": [0, 0, 0, 9]}, [4, 4, 4, 1]),
        ({"retrieved": [9, 9, 9, 9], "clicked": [0, 0, 0, 5]}, [4, 4, 4, 3]),
        ({"retrieved": [0, 0, 0, 9], "importance": [0, 0, 0, 9]}, [4, 4, 4, 0]),  # of two types, the shorter period's
    ],
)
def test_each_component_decides_of_a_type_and_the_shortest_period_wins(columns, expected):
    assert queues(Rpuc(**GIVEN, periods=PERIODS), pages(4, **columns), BEGAN_AT + DAY_S) == expected


def test_changes_that_visits_found_decide_of_a_type():
    policy = Rpuc(**GIVEN, periods=PERIODS)
    told(policy, BEGAN_AT - DAY_S, np.nan, [False] * 4)
    told(policy, BEGAN_AT, DAY_S, [False, False, True, False])
    assert queues(policy, pages(4), BEGAN_AT + DAY_S) == [4, 4, 2, 4]


def test_a_page_is_visited_when_its_period_is_over_and_the_latest_for_its_period_first():
    policy, seen = Rpuc(**GIVEN, periods=PERIODS), pages(4, importance=[0, 0, 0, 9])
    policy.plan(seen, 0, Context(BEGAN_AT))
    assert policy.due(seen, Context(BEGAN_AT)) - BEGAN_AT == pytest.approx([DAY_S, DAY_S, DAY_S, 7200.0])
    assert (policy.value(seen, Context(BEGAN_AT + 7000.0)) < policy.min_value).all()
    assert (policy.value(seen, Context(BEGAN_AT + 7300.0)) >= policy.min_value).tolist() == [False, False, False, True]
    late = policy.value(seen, Context(BEGAN_AT + 1.5 * DAY_S))
    assert late.argmax() == 3
    assert (late >= policy.min_value).all()


def test_with_fitted_periods_all_of_the_budget_is_spent():
    policy = Rpuc()
    assert (policy.value(pages(4), Context(BEGAN_AT + 1.0)) >= policy.min_value).all()
    policy.plan(pages(4), 0, Context(BEGAN_AT))
    assert (policy.value(pages(4), Context(BEGAN_AT + 1.0)) >= policy.min_value).all()


def test_pages_gone_wait_longer_and_are_removed():
    policy, seen = Rpuc(drop_after=2), pages(2)
    told(policy, BEGAN_AT, np.nan, [False, False])
    told(policy, BEGAN_AT + 5, 5, [False, False], gone=[True, False])
    policy.plan(seen, 0, Context(BEGAN_AT + 5))
    due = policy.due(seen, Context(BEGAN_AT + 5)) - BEGAN_AT - 5
    assert due[0] == pytest.approx(2 * due[1])
    told(policy, BEGAN_AT + 9, 4, [False, False], gone=[True, False])
    assert policy.due(seen, Context(BEGAN_AT + 9))[0] == np.inf
    assert (policy.value(seen, Context(BEGAN_AT + DAY_S)) >= policy.min_value).tolist() == [False, True]
    assert policy.tables(Context(BEGAN_AT))["removed"]["slot"].tolist() == [0]


def test_the_target_list_is_of_pages_last_found_changed_the_latest_first():
    policy = Rpuc()
    told(policy, BEGAN_AT, np.nan, [False] * 4)
    told(policy, BEGAN_AT + 5, 5, [True, True, False, True])
    told(policy, BEGAN_AT + 9, 4, [False, True])
    targets = policy.tables(Context(BEGAN_AT + 9))["targets"]
    assert targets["slot"].tolist() == [1, 3]
    assert (targets["changed_at"] - BEGAN_AT).tolist() == [9.0, 5.0]


def test_periods_are_fitted_to_the_changes_of_each_type_and_to_the_budget():
    def periods(days: float) -> np.ndarray:
        policy = Rpuc(matrix="0,1,0,0; 0,0,0,0", thresholds=".5,0", scale="rank")
        policy.resume({"rpuc_per_s": 40 / DAY_S})
        told(policy, BEGAN_AT, np.nan, [False] * 40)
        for check in range(1, 9):
            told(policy, BEGAN_AT + check * days * DAY_S, days * DAY_S, [True, False] * 20)
        policy.plan(pages(40, importance=[9, 1] * 20), 0, Context(BEGAN_AT + 9 * days * DAY_S))
        table = policy.tables(Context(BEGAN_AT))["types"]
        assert table["pages"].tolist() == [20, 20]
        return table["period_s"] / DAY_S

    slow, fast = periods(30.0), periods(0.1)
    for found in (slow, fast):
        assert (20 / found).sum() == pytest.approx(40, rel=0.02)
    assert slow[0] < slow[1]
    assert not np.allclose(slow, fast, rtol=0.05), "other changes, other periods"


def test_the_matrix_tells_types_by_the_component_that_decides():
    draw = np.random.default_rng(1)
    for column in range(4):
        scaled = draw.normal(size=(400, 4))
        weight = np.exp(3 * scaled[:, column])
        found = fit(scaled, weight, np.ones(400), 400.0, 4)
        assert (np.abs(found.matrix[:-1]).argmax(axis=1) == column).all()
        served = found.periods_s[queue(components(found.matrix, scaled), found.thresholds, found.periods_s)]
        order = np.argsort(-weight)
        assert served[order[:50]].mean() < served[order[-50:]].mean() / 2


def test_what_is_asked_for_counts():
    columns = {"retrieved": [1, 9] * 20, "clicked": [0, 9] * 20, "importance": [1.0] * 40}
    for demand in (0.0, 0.9):
        policy = Rpuc(types=2, demand=demand)
        policy.plan(pages(40, **columns), 0, Context(BEGAN_AT + DAY_S))
        due = policy.due(pages(40, **columns), Context(BEGAN_AT + DAY_S))
        assert (due[1] < due[0]) == (demand > 0)


def test_demand_that_has_nothing_to_do_with_importance_gives_clicks_their_weight():
    """Every page is shown as often: what is opened tells which are wanted, the same clicks on others do not."""
    draw = np.random.default_rng(4)
    importance, wanted = np.exp(draw.normal(size=400)), draw.pareto(1.2, 400) + 0.01
    columns = {"importance": importance, "retrieved": np.full(400, 200.0)}
    demand, weight_of_clicks = [], []
    for clicked in (200.0 * wanted / wanted.max(), 200.0 * draw.permutation(wanted) / wanted.max(), np.zeros(400)):
        policy, seen = Rpuc(types=4, demand=0.9), pages(400, **columns, clicked=clicked)
        policy.plan(seen, 0, Context(BEGAN_AT + DAY_S))
        often = 1.0 / (policy.due(seen, Context(BEGAN_AT + DAY_S)) - BEGAN_AT)
        demand.append(float(often @ wanted / often.sum()))
        weight_of_clicks.append(float(np.abs(policy.tables(Context(BEGAN_AT))["types"]["click"]).max()))
    assert demand[0] > 1.5 * max(demand[1:])
    assert weight_of_clicks[0] > 0.05
    assert weight_of_clicks[2] == pytest.approx(0.0, abs=1e-9)


def test_a_page_asked_for_as_often_in_less_time_is_asked_for_more():
    """R is per cycle since a page was first read: nine retrievals in two hours are more than nine in two hundred."""
    policy = Rpuc(**GIVEN, periods=PERIODS)
    told(policy, BEGAN_AT - 200 * 3600.0, np.nan, [False] * 3)
    told(policy, BEGAN_AT - 2 * 3600.0, np.nan, [False] * 4)
    assert queues(policy, pages(4, retrieved=[9, 9, 9, 9]), BEGAN_AT) == [4, 4, 4, 0]


def test_it_reaches_what_was_measured_of_it():
    assert poll(Rpuc(), population(150, 1), 0.3, cycles=6, measured_from=4, seed=1).ratio > 0.927 - 0.03


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"matrix": "1,2,3"}, "has four numbers"),
        ({"matrix": "1,2,3,x"}, "matrix must be numbers"),
        ({"thresholds": "1,2,3,4,5"}, "need a matrix"),
        ({"matrix": "1,0,0,0", "thresholds": "1,2"}, "2 thresholds given, but matrix has 1 row"),
        ({"periods": "1d,soon"}, "periods must be a duration"),
        ({"matrix": "1,0,0,0", "periods": "1d,2d"}, "2 periods given, but matrix has 1 row"),
        ({"validity": "options"}, "validity must be one of get, head"),
        ({"scale": "linear"}, "scale must be one of log, rank"),
        ({"types": 0}, "types must be from 1 to 64"),
        ({"drop_after": 7}, "drop_after must be from 1 to 6, not 7: at 6 the crawl itself gives a page up"),
    ],
)
def test_values_that_make_no_sense_are_refused(given, said):
    with pytest.raises(ConfigError, match=said):
        Rpuc(**given)
    with pytest.raises(ConfigError, match=said):
        Rpuc().adjust(given)


def test_periods_alone_say_how_many_types_there_are():
    policy = Rpuc(periods="1h,1d")
    policy.plan(pages(9, importance=np.arange(9.0)), 0, Context(BEGAN_AT))
    assert policy.tables(Context(BEGAN_AT))["types"]["period_s"].tolist() == [3600.0, DAY_S]


def type_of(**given: Any) -> dict[float, int]:
    """Return how many of a hundred pages, of which no two matter alike, have which period, in hours."""
    policy = Rpuc(**given)
    policy.plan(pages(100, importance=np.arange(1.0, 101.0) ** 2), 0, Context(BEGAN_AT + DAY_S))
    table = policy.tables(Context(BEGAN_AT + DAY_S))["types"]
    return dict(sorted(zip((table["period_s"] / 3600).tolist(), table["pages"].tolist(), strict=True)))


def test_periods_may_come_in_any_order_where_the_types_are_fitted():
    found = type_of(periods="4h,1d,1h")
    assert found == type_of(periods="1h,4h,1d")
    assert min(found.values()) > 0


def test_the_type_of_the_shortest_period_has_its_share_wherever_its_row_is():
    assert type_of(matrix="0,1,0,0; 0,1,0,0", periods="1d,1h") == {1.0: 50, 24.0: 50}
    assert type_of(matrix="0,1,0,0; 0,1,0,0", periods="1h,1d") == {1.0: 50, 24.0: 50}
    given = {"thresholds": ".5,.75", "scale": "rank"}
    assert type_of(matrix="0,1,0,0; 0,1,0,0", periods="1d,1h", **given) == {1.0: 25, 24.0: 75}


@pytest.mark.parametrize("per_s", [20.0, 1 / 300])
def test_the_first_types_are_fitted_to_the_pace_at_which_another_policy_made_its_visits(per_s):
    policy, n = Rpuc(), 2000
    at = BEGAN_AT + np.arange(n) / per_s
    for slot in range(n):
        flag, none = np.zeros(1, bool), np.zeros(1, np.int64)
        here = np.array([at[slot]])
        policy.learn(
            Visits(np.array([slot], np.uint32), np.zeros(1, np.uint32), here, here * np.nan, ~flag, flag, flag,
                   here * np.nan, here, here, none, flag, none)
        )  # fmt: skip
    now = at[-1] + 9 * DAY_S
    holds_s = policy.plan(pages(n, importance=np.arange(1.0, n + 1)), 0, Context(now)) - now
    assert holds_s == pytest.approx(n / per_s / 4, rel=0.01)
    types = policy.tables(Context(now))["types"]
    assert (types["pages"] / types["period_s"]).sum() == pytest.approx(per_s, rel=0.05)


def test_validity_is_told_to_the_crawl_also_once_it_is_changed() -> None:
    policy = Rpuc(validity="head")
    assert policy.freshness_check == "head"
    policy.adjust({"validity": "get"})
    assert policy.freshness_check == "get"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"types": 2, "matrix": ".5,.5,.5,.5"}, r"types is 2, but matrix has 1 row, which makes 1 type \(.*semicolons"),
        (
            {"matrix": ".5,.5,.5,.5", "thresholds": ".5,.1"},
            r"2 thresholds given, but matrix has 1 row, which makes 1 type \(rows of matrix are separated by",
        ),
        ({"matrix": "1,0,0,0; 0,1,0,0", "thresholds": ".5"}, "1 threshold given, but matrix has 2 rows"),
        ({"types": 2, "periods": "1d,2d,3d"}, "types is 2, but 3 periods given, which makes 3 types"),
    ],
)
def test_counts_that_do_not_agree_are_told_with_where_they_come_from(options, said):
    with pytest.raises(ConfigError, match=said):
        Rpuc(**options)
