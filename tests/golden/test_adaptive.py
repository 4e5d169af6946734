"""The adaptive schedules of other crawlers against reference values made without any of our code."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evercrawl.schedule import Pages, Policy, Visits
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies import nutch_adaptive, stormcrawler_adaptive
from evercrawl.schedule.policies.nutch_adaptive import NutchAdaptive
from evercrawl.schedule.policies.stormcrawler_adaptive import StormcrawlerAdaptive

pytestmark = pytest.mark.golden

REFS = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parent / "refs")
SECTIONS = {"nutch_adaptive", "storm_adaptive"}
DAY = 86_400.0
MINUTE = 60.0


def rows(name: str) -> list[Any]:
    found = json.loads((REFS / "freshness.json").read_text())[name]
    return found if isinstance(found, list) else [found]


def visited(policy: Policy, at: float, after_s: float, changed: bool) -> float:
    """Tell a policy of a visit to page 0, and return when it falls due."""
    one = np.ones(1)
    policy.learn(Visits(
        np.zeros(1, np.uint32), np.zeros(1, np.uint32), at * one, after_s * one, one > 0, one < 0, np.array([changed]),
        np.nan * one, one, one, np.ones(1, np.int64), one < 0, np.ones(1, np.int64),
    ))  # fmt: skip
    return float(policy.due(Pages(np.zeros(1, np.uint32), at * one, one, one, one, one, one, one, one), Context(at))[0])


def test_nutch_moves_the_next_visit_towards_the_change() -> None:
    for row in rows("nutch_adaptive"):
        rates = {"increase": row["inc"], "decrease": row["dec"], "sync": row["sync_delta_rate"]}
        interval, at = row["start_interval_days"] * DAY, row["first_fetch_day"] * DAY
        modified_at = at
        for changed, (days, following) in zip(row["sequence"], row["interval_and_next_fetch"], strict=True):
            after = nutch_adaptive.adapt(interval, modified_at, at, bool(changed), **rates)
            interval, at, modified_at = (float(number) for number in after)
            tolerance = row.get("tolerance", 1e-8)
            assert (interval / DAY, at / DAY) == pytest.approx((days, following), rel=tolerance)


def test_the_policy_nutch_adaptive_follows_the_same_rule() -> None:
    """A page that was visited before, for a first visit tells neither of a change nor of none."""
    for row in rows("nutch_adaptive"):
        rates = {"increase": row["inc"], "decrease": row["dec"], "sync": row["sync_delta_rate"]}
        policy = NutchAdaptive(start=f"{row['start_interval_days']}d", **rates)
        at = row["first_fetch_day"] * DAY + 1e6
        visited(policy, at, np.nan, changed=False)
        for changed, (_, following) in zip(row["sequence"], row["interval_and_next_fetch"], strict=True):
            due_at = visited(policy, at, 1.0, bool(changed))
            tolerance = row.get("tolerance", 1e-8)
            assert due_at - 1e6 == pytest.approx(following * DAY, rel=tolerance)
            at = due_at


def test_stormcrawler_goes_halfway_to_the_shortest_interval() -> None:
    for row in rows("storm_adaptive"):
        limits = {"least_minutes": row["min"], "most_minutes": row["max"]}
        minutes = float(row["start_min"])
        policy = StormcrawlerAdaptive(
            f"{row['start_min']}m", row["inc"], row["dec"], f"{row['min']}m", f"{row['max']}m"
        )
        visited(policy, 0.0, np.nan, changed=False)
        for changed, expected in zip(row["sequence"], row["intervals_min"], strict=True):
            rates = {"increase": row["inc"], "decrease": row["dec"]}
            minutes = float(stormcrawler_adaptive.adapt(minutes, bool(changed), **rates, **limits))
            tolerance = row.get("tolerance", 1e-8)
            assert minutes == pytest.approx(expected, rel=tolerance)
            assert visited(policy, 0.0, 1.0, bool(changed)) == pytest.approx(expected * MINUTE, rel=tolerance)
