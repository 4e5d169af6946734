"""Bayesian classes as a policy: what it believes, that its numbers are in line, and how fresh it keeps pages."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import Conditions, poll
from evercrawl.lab.polling.population import Population
from evercrawl.schedule import Pages, Visits
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.bayes_classes.bayes_classes import BayesClasses
from evercrawl.schedule.policies.bayes_classes.beliefs import ClassBeliefs
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.schedule.policies.price.price import Price

DAY_S = 86_400.0


def visits(slot, interval_s, changed, site=0, age_s=np.nan, read=True):
    n = len(slot)

    def column(value, kind=float):  # noqa: ANN202
        return np.broadcast_to(np.asarray(value, kind), n).copy()

    return Visits(
        np.asarray(slot, np.uint32), column(site, np.uint32), column(1e9), column(interval_s), column(read, bool),
        column(False, bool), column(changed, bool), column(age_s), column(0), column(0), column(0, int),
        column(False, bool), column(0, int),
    )  # fmt: skip


def pages(count, age_s=DAY_S, weight=1.0, cost_changed=0.0, neg_log_unchanged=0.0, site=0):
    one = np.ones(count)
    return Pages(
        np.arange(count, dtype=np.uint32), 1e9 - age_s * one, weight * one, one, one, one, one, cost_changed * one,
        neg_log_unchanged * one, site=np.full(count, site, np.uint32),
    )  # fmt: skip


def drawn(count, seed):
    rng = np.random.default_rng(seed)
    interval_s = np.where(rng.random(count) < 0.1, np.nan, rng.exponential(5 * DAY_S, count))
    changed = rng.random(count) < 0.5
    age_s = np.where(rng.random(count) < 0.5, interval_s / 2, np.nan)
    return visits(np.arange(count), interval_s, changed, rng.integers(0, 4, count), age_s, rng.random(count) < 0.9)


def test_how_visits_are_parted_into_calls_makes_no_difference():
    one, other = BayesClasses(), BayesClasses()
    for round_ in range(5):
        told = drawn(200, round_)
        one.learn(told)
        for first in range(0, 200, 7):
            other.learn(told.take(slice(first, first + 7)))
    told = pages(200)
    assert one.value(told, Context(1e9)).tolist() == other.value(told, Context(1e9)).tolist()
    assert one.due(told, Context(1e9)).tolist() == other.due(told, Context(1e9)).tolist()


def test_what_told_nothing_changes_nothing():
    policy = BayesClasses()
    before = policy.value(pages(3), Context(1e9)).tolist()
    policy.learn(visits([0, 1], np.nan, False))
    policy.learn(visits([0, 1], DAY_S, True, read=False))
    assert policy.value(pages(3), Context(1e9)).tolist() == before


def test_a_visit_is_worth_the_mean_over_the_classes():
    policy = BayesClasses("1,30", forget=0.0, harmonic=0.0)
    for _ in range(3):
        policy.learn(visits([0], 2 * DAY_S, True))
    likely = policy.tables(Context(0.0))["classes"]
    rates, ages = 1 / np.array([1.0, 30.0]), np.linspace(0, 9.0, 200_001)
    survival = sum(likely[f"every_{days}_days"] * np.exp(-ages / days) for days in (1, 30))
    area = np.trapezoid(survival, ages)
    worth = policy.value(pages(1, 9 * DAY_S, 2.0, cost_changed=4.0), Context(1e9))[0] / DAY_S
    gone = (
        1
        - survival[-1]
        - 9.0
        * sum(
            likely[f"every_{days}_days"][0] * rate * np.exp(-9 * rate)
            for days, rate in zip((1, 30), rates, strict=True)
        )
    )
    assert worth == pytest.approx(2.0 * (area - 9.0 * survival[-1]) / (1 + 4.0 * gone), rel=1e-6)
    fully = BayesClasses("1,30", forget=0.0, harmonic=1.0)
    for _ in range(3):
        fully.learn(visits([0], 2 * DAY_S, True))
    assert fully.value(pages(1, 9 * DAY_S), Context(1e9))[0] / DAY_S == pytest.approx(9.0 - area, rel=1e-6)


def test_a_page_falls_due_when_it_is_worth_the_price():
    policy = BayesClasses()
    policy.learn(drawn(100, 1))
    policy.chosen(policy.value(pages(100, 3 * DAY_S), Context(1e9))[:5], Context(1e9, 100))
    told = pages(100)
    due = policy.due(told, Context(1e9))
    finite = np.flatnonzero(np.isfinite(due))
    assert len(finite) > 90
    for row in finite[:20].tolist():
        assert policy.value(told, Context(due[row]))[row] == pytest.approx(policy.price, rel=0.01)
    assert policy.due(pages(3, weight=0.0), Context(1e9)).tolist() == [np.inf] * 3


def test_each_answer_tells():
    policy = BayesClasses()
    policy.learn(visits([0, 1], DAY_S, [True, False]))
    told = pages(3, DAY_S)
    value = policy.value(told, Context(1e9))
    assert value[0] > value[2] > value[1]
    assert (policy.value(pages(3, DAY_S, neg_log_unchanged=2.0), Context(1e9)) > value).all()
    assert (policy.value(pages(3, DAY_S, cost_changed=5.0), Context(1e9)) < value).all()


def test_new_pages_of_a_site_are_believed_to_be_like_the_others():
    beliefs = ClassBeliefs(1 / np.array([1.0, 10.0, 100.0]))
    for _ in range(8):
        beliefs.learn(visits(np.arange(40), 3.0, True, 1))
        beliefs.learn(visits(np.arange(40, 80), 3.0, False, 2))
    expected = beliefs.expected(np.array([1, 2, 7]))
    assert expected[0, 0] > 0.6 > expected[2, 0] > expected[1, 0]
    assert expected[1, 2] > 0.77
    assert expected.sum(1) == pytest.approx(1.0)
    mixed = beliefs.probabilities(np.array([900], np.uint32))
    assert mixed[0] == pytest.approx(expected[2])
    assert beliefs.probabilities(np.array([900], np.uint32), np.array([1], np.uint32))[0] == pytest.approx(expected[0])


def test_what_pages_tell_of_their_site_worked_out_by_hand():
    """Two classes; a page weighs as much as it is sure of its own: 1 less its entropy over ln 2."""
    beliefs = ClassBeliefs(np.array([1.0, 0.1]))
    site, crawl = np.zeros(2), np.zeros(2)
    for slot, of, interval_s, changed in ((0, 1, 4.0, True), (1, 1, 9.0, False), (2, 5, 2.0, False)):
        beliefs.learn(visits([slot], interval_s, changed, of))
        still = np.exp(-interval_s * np.array([1.0, 0.1]))
        likely = (1 - still if changed else still) / (1 - still if changed else still).sum()
        told = likely * (1 + (likely * np.log(likely)).sum() / np.log(2))
        crawl += told
        site += told if of == 1 else 0.0
    crawl = (crawl + 1.5) / (crawl.sum() + 3.0)
    want = (site + 3.0 * crawl) / (site.sum() + 3.0)
    assert beliefs.expected(np.array([1]))[0] == pytest.approx(want, rel=1e-5)
    assert beliefs.expected(np.array([8]))[0] == pytest.approx(crawl, rel=1e-5)
    new = beliefs.probabilities(np.array([70], np.uint32), np.array([1], np.uint32))
    assert new[0] == pytest.approx(want, rel=1e-5)
    first = 1 - np.exp(-4.0 * np.array([1.0, 0.1]))
    known = beliefs.probabilities(np.array([0], np.uint32))[0]
    assert known == pytest.approx(want * first / (want * first).sum(), rel=1e-5)


def test_forgetting_lets_a_page_be_another():
    firm, forgetful = (ClassBeliefs(1 / np.array([1.0, 100.0]), forget) for forget in (0.0, 0.1))
    for beliefs in (firm, forgetful):
        for changed in [True] * 30 + [False] * 25:
            beliefs.learn(visits([0], 1.0, changed))
    page = np.array([0], np.uint32)
    assert firm.alone(page)[0, 0] > 0.9
    assert forgetful.alone(page)[0, 0] < 0.0019


def test_no_history_breaks_it():
    policy = BayesClasses()
    for changed in (True, False):
        for _ in range(150):
            policy.learn(visits([0], 1e12, changed))
            policy.learn(visits([1], 0.0, changed))
            policy.learn(visits([2], -5.0, changed, age_s=-1.0))
    told = pages(3)
    assert np.isfinite(policy.value(told, Context(1e9))).all()
    assert not np.isnan(policy.due(told, Context(1e9))).any()
    assert policy.value(pages(0), Context(1e9)).shape == policy.due(pages(0), Context(1e9)).shape == (0,)


@pytest.mark.parametrize("periods", ["", "7", "7,x", "7,-1", "0,1", "1,nan", "inf,3", "5,5"])
def test_periods_that_are_none(periods):
    with pytest.raises(ConfigError, match="such as 1,7,30"):
        BayesClasses(periods)


def test_parameters_that_are_none():
    with pytest.raises(ConfigError, match="forget"):
        BayesClasses(forget=1.0)
    with pytest.raises(ConfigError, match="harmonic"):
        BayesClasses(harmonic=-0.1)


def test_it_keeps_pages_as_fresh_as_the_price_does():
    """Pages that hardly change, that change daily, and that change by the half-hour, which only waste visits."""
    world = Population(np.ones(150), np.repeat([0.02, 1.0, 50.0], 50), np.repeat(np.arange(3), 50))
    polled = [
        poll(policy, world, 0.5, cycles=8, measured_from=4, conditions=Conditions(ticks=25))
        for policy in (BayesClasses(), Price(), Cycle())
    ]
    assert polled[0].ratio > max(polled[1].ratio - 0.03, polled[2].ratio + 0.05)
    assert polled[0].unused == 0.0


def test_a_notice_makes_a_page_due_sooner():
    policy = BayesClasses()
    policy.learn(drawn(100, 1))
    policy.chosen(policy.value(pages(100, 3 * DAY_S), Context(1e9))[:5], Context(1e9, 100))
    plain, noticed = policy.due(pages(100), Context(1e9)), policy.due(pages(100, neg_log_unchanged=1.0), Context(1e9))
    finite = np.isfinite(plain)
    assert (noticed[finite] < plain[finite]).all()
    assert (noticed >= pages(100).visited_at).all()


def test_a_host_has_a_price_of_its_own_and_an_unread_page_is_as_old_as_it_has_waited():
    policy = BayesClasses()
    policy.price = 1e4
    told = replace(pages(2), host_price_ratio=np.array([1.0, 3.0]))
    due = policy.due(told, Context(1e9))
    assert due[0] == policy.due(pages(2), Context(1e9))[0]
    policy.price *= 3
    assert due[1] == policy.due(pages(2), Context(1e9))[1] > due[0]
    new = replace(pages(2), visited_at=np.full(2, np.nan), found_at=1e9 - DAY_S * np.array([1.0, 300.0]))
    policy.patience = 30 * DAY_S
    early, late = policy.value(new, Context(1e9))
    policy.patience = 300 * DAY_S
    assert early < late == policy.value(new, Context(1e9))[0]


@pytest.mark.golden
def test_reference_values():
    folder = Path(os.environ.get("EVERCRAWL_REFS") or Path(__file__).parents[2] / "golden" / "refs")
    for case in json.loads((folder / "freshness.json").read_text("utf-8"))["bayes_classes"]:
        if len(set(case["prior"])) > 1:
            continue
        beliefs = ClassBeliefs(1 / np.array(case["periods_days"], float))
        for interval, changed in case["observations"]:
            beliefs.learn(visits([0], float(interval), bool(changed)))
        found = beliefs.alone(np.array([0], np.uint32))[0]
        assert found == pytest.approx(case["posterior"], rel=max(case.get("tolerance", 1e-8), 1e-5))  # kept in f4
