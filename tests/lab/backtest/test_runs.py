"""Replays come out the same one by one and at once, in their order, and say how far they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from evercrawl.lab.backtest.runs import make, planned
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.histories import find

SETTING = ReplaySetting(0.02, sample=40, years=1.0)
POLICIES = {"price": {}, "uniform": {}}


def plan(*groups: list[Path]):
    return planned([tuple(group) for group in groups], POLICIES, [0.01, 0.02], SETTING)


def test_the_order_is_history_budget_policy():
    peps, ota = find("peps", "ota-contrib")
    runs = plan([peps], [peps, ota])
    assert [str(run) for run in runs[0]] == [
        f"peps, {policy} at {budget}" for budget in (0.01, 0.02) for policy in ("price", "uniform")
    ]
    assert str(runs[1][0]) == "2 histories, price at 0.01"
    assert runs[1][3].setting == replace(SETTING, budget=0.02)


def test_at_once_they_are_what_they_are_one_by_one():
    runs = plan(find("peps"))[0][1:3]
    told = list[tuple[str, float, int]]()
    alone = list(make(runs, 1, lambda *each: told.append(each)))
    together = list(make(runs, 2))
    for one, other, run in zip(alone, together, runs, strict=True):
        assert (one.replayed.policy, one.replayed.budget) == (run.policy, run.setting.budget)
        np.testing.assert_array_equal(one.replayed.fresh_s, other.replayed.fresh_s)
        np.testing.assert_array_equal(one.cluster, other.cluster)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert {what for what, _, _ in told} == {str(run) for run in runs}
    assert {total for _, _, total in told} == {2}


def test_pooled_pages_share_one_budget():
    peps, ota = find("peps", "ota-contrib")
    (pooled,), (alone,) = (list(make(runs[1:2])) for runs in (plan([peps, ota])[0], plan([peps])[0]))
    assert pooled.replayed.site == "pooled"
    assert len(pooled.replayed.weight) == 80 > len(alone.replayed.weight)
    assert len(pooled.cluster) == 80
