"""Replays spend what they may, find what is there, and say so; the quick ways change nothing."""

from dataclasses import replace

import numpy as np
import pytest

from evercrawl import catalog, schedule
from evercrawl.errors import ConfigError
from evercrawl.lab.backtest import replay as module
from evercrawl.lab.backtest.announced import ReplayLooks
from evercrawl.lab.backtest.candidates import best
from evercrawl.lab.backtest.replay import Replay, replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.histories import find, read
from evercrawl.schedule.base import Policy
from evercrawl.schedule.policies.price.price import Price

DAY_S = 86_400.0
WHOLE = ReplaySetting(0.1, since=0.0, warming=0.0)
POLICIES = sorted(catalog.find(schedule.policies, Policy))  # type: ignore[type-abstract]
LEAVE_SOME = {
    "nutch_adaptive": "it visits what is due, and leaves the rest of the budget unused",
    "tianwang": "it waits for its next cycle when all that is planned is done",
}
"""Policies that, as they were published, do not spend all that they may, and why."""
PER_PAGE = ("alive_s", "fresh_s", "content_fresh_s", "stale_s2", "polls", "unchanged", "first_sight_s")


@pytest.fixture(name="peps", scope="module")
def history_of_peps():
    return read(find("peps")[0])


def same(one, other):
    for name in PER_PAGE:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.fixture(name="spent", scope="module")
def polls_of_a_tiny_history(drawn):
    """Return a history, and how many polls its budget allows."""
    history = drawn(1, pages=20, days=60)
    return history, replay(history, "cycle", WHOLE).polls.sum()


@pytest.mark.parametrize("policy", sorted({*POLICIES} - {*LEAVE_SOME}))
def test_every_policy_spends_the_same(spent, policy):
    history, polls = spent
    found = replay(history, policy, WHOLE)
    assert polls == pytest.approx(0.1 * found.alive_s.sum() / DAY_S, rel=0.01)
    assert found.polls.sum() == polls
    assert 0.3 < found.freshness < 1.0


@pytest.mark.parametrize("policy", LEAVE_SOME)
def test_but_some_leave_a_part_unused(spent, policy):
    history, polls = spent
    found = replay(history, policy, WHOLE)
    assert 0.3 * polls < found.polls.sum() < polls
    assert 0.3 < found.freshness < 1.0


def test_a_page_that_nobody_wants_costs_nothing_and_saves_one_poll(written):
    history = written([(0, 0, "born", 1), (50, 0, "gone", 0), (100, 0, "born", 1), (150, 0, "changed", 2)])
    found = replay(history, "cycle", replace(WHOLE, budget=0.5))
    assert found.polls[0] == pytest.approx(0.5 * 100, abs=2), "25 before, one that finds it gone, none without a page"
    assert found.alive_s[0] == 100 * DAY_S


def test_one_page_polled_every_day_by_hand(written):
    history = written([(0, 0, "born", 1), (2.5, 0, "changed", 2), (4.25, 0, "changed", 3), (8, 0, "changed", 4)])
    found = replay(history, "cycle", replace(WHOLE, budget=1.0))
    assert found.polls.tolist() == [8]
    assert found.unchanged.tolist() == [8 - 1 - 3], "the first finds it new, three find it changed"
    assert found.fresh_s[0] / DAY_S == pytest.approx(8 - 1 - 0.5 - 0.75)
    assert found.stale_s2[0] / DAY_S**2 == pytest.approx((1 + 0.5**2 + 0.75**2) / 2)
    assert found.freshness == pytest.approx(5.75 / 8)


def test_the_first_sight_is_the_first_poll_after_birth(written):
    births = [(3.1, 1, "born", 1), (5.9, 2, "born", 1), (5.9, 3, "born", 1)]
    history = written([(0, 0, "born", 1), *births, (5.95, 3, "gone", 0), (9, 0, "changed", 4)])
    found = replay(history, "cycle", replace(WHOLE, budget=1.0))
    born = np.array([births[0][0], births[1][0]])
    sights = found.first_sight_s[1:3] / DAY_S
    assert (sights > 0).all()
    assert (sights < 1.0).all(), (born, sights)
    assert np.isnan(found.first_sight_s[[0, 3]]).all()
    assert np.flatnonzero(found.unseen).tolist() == [3]


def test_a_page_found_gone_is_forgotten_and_found_anew(written):
    history = written([
        *((0, page, "born", 1) for page in range(5)), (10, 4, "gone", 0), (60, 4, "born", 9), (90, 0, "changed", 2),
    ])  # fmt: skip
    found = replay(history, "cycle", replace(WHOLE, budget=0.5))
    assert found.polls[4] == pytest.approx(0.5 * (10 + 30) + 1, abs=2)
    assert found.fresh_s[4] > 0.8 * 40 * DAY_S


def test_a_page_is_not_polled_before_one_that_links_to_it(written):
    history = written(
        [(0, 0, "born", 1), (0, 1, "born", 1), (5, 2, "born", 1), (5, 3, "born", 1), (40, 0, "changed", 2)],
        [(20, 0, 2, True)],
    )
    born, linked = (replay(history, "cycle", replace(WHOLE, budget=1.0, discovery=how)) for how in ("born", "links"))
    assert born.first_sight_s[2] < DAY_S
    assert 15 * DAY_S < linked.first_sight_s[2] < 18 * DAY_S, "when the page that links to it was polled next"
    assert linked.first_sight_s[3] < DAY_S, "nothing ever links to it"
    assert linked.freshness < born.freshness


@pytest.mark.parametrize("policy", ["cycle", "uniform"])
@pytest.mark.parametrize(("budget", "days"), [(0.05, 200), (0.5, 25)])
def test_polls_that_are_chosen_at_once_are_those_chosen_one_tick_after_the_other(
    drawn, monkeypatch, policy, budget, days
):
    history, setting = drawn(8, pages=150, days=days), replace(WHOLE, budget=budget)
    quick = replay(history, policy, setting)
    monkeypatch.setattr(module, "looks", lambda *_: ReplayLooks(1, 0.0))
    same(quick, replay(history, policy, setting))


@pytest.mark.parametrize("policy", ["price", "importance_proportional"])
def test_the_most_promising_pages_do_in_place_of_all(drawn, monkeypatch, policy):
    history = drawn(2, pages=100, days=100)
    quick = replay(history, policy, WHOLE).freshness
    monkeypatch.setattr(module, "looks", lambda *_: ReplayLooks(1, 0.0))
    assert quick == pytest.approx(replay(history, policy, WHOLE).freshness, abs=0.006)


@pytest.mark.parametrize("policy", ["price", "uniform", "random"])
def test_a_replay_is_the_same_whenever_it_is_asked(drawn, policy):
    same(*(replay(drawn(4, days=100), policy, WHOLE) for _ in range(2)))


def test_the_model_is_chosen_site_by_site_while_it_goes_on(written):
    """Pages of one site change in batches, those of another at random, each at a rate of its own; on the mean alike."""
    draw, pages, days = np.random.default_rng(1), 40, 400
    site = np.repeat([0, 1], pages)
    events = [(0, page, "born", 0) for page in range(2 * pages)]
    batches = np.sort(draw.uniform(0, days, 25)).tolist()
    events += [(at, page, "changed", 1 + k) for k, at in enumerate(batches) for page in range(pages)]
    for page in range(pages, 2 * pages):
        at_random = np.sort(draw.uniform(0, days, draw.poisson(draw.gamma(0.5, 50.0)))).tolist()
        events += [(at, page, "changed", 1 + k) for k, at in enumerate(at_random)]
    policy = Price()
    made = Replay(written(events, paths=tuple(f"f/{page}" for page in range(2 * pages)), site=site), policy, WHOLE)
    made.run()
    batched, alone = (policy.trust(page) for page in (0, pages))
    assert batched.believed > 0.95
    assert alone.believed < 0.5, "though the other site, of which it begins to be thought, is surely batched"


@pytest.mark.parametrize("policy", ["price_gamma", "price"])
def test_those_who_are_told_are_fresher(drawn, policy):
    history = drawn(5, pages=80, days=80)
    parts = [replay(history, policy, replace(WHOLE, lastmod=part)).freshness for part in (0.0, 0.5, 1.0)]
    assert parts[0] + 0.01 < parts[1] < parts[2] - 0.01
    assert parts[2] == pytest.approx(replay(history, "notices", WHOLE).freshness, abs=0.03)  # which looks not ahead


def test_validators_are_told_only_where_there_are_any(drawn):
    history = drawn(6, days=80)
    dated, undated = (replay(history, "price", replace(WHOLE, validators=told)) for told in (True, False))
    assert (dated.polls != undated.polls).any()
    same(*(replay(history, "cycle", replace(WHOLE, validators=told)) for told in (True, False)))


def test_what_is_believed_is_held_to_the_truth_before_each_poll(drawn):
    found = replay(drawn(7, pages=100, days=80), "price", WHOLE)
    first = int((found.polls > 0).sum())
    assert found.polls.sum() - 2 * first < found.calibration.count <= found.polls.sum() - first
    assert found.calibration.observed == pytest.approx(found.unchanged.sum() / found.calibration.count)
    others = [replay(drawn(seed, pages=100, days=80), "price", WHOLE) for seed in (8, 9)]
    assert np.mean([each.calibration.expected_error for each in (found, *others)]) < 0.08, "one alone varies by 0.02"
    for policy in ("notices", "uniform"):
        assert replay(drawn(7, days=50), policy, WHOLE).calibration.count == 0


def test_what_the_recorder_did_changes_nothing(written):
    events = [(0, page, "born", 1) for page in range(3)] + [(80, 0, "changed", 1)]
    technical = [(20, 1, "technical", 6), (30, 1, "changed", 7), (50, 1, "changed", 6)]
    real = [(30, 1, "changed", 7), (50, 1, "changed", 1)]
    same(*(replay(written(events + more), "price", WHOLE) for more in (technical, real)))


def test_a_sample_shares_a_budget_of_its_own(peps):
    found = replay(peps, "uniform", ReplaySetting(0.1, sample=25))
    assert len(found.weight) == 25
    assert found.polls.sum() == pytest.approx(0.1 * found.alive_s.sum() / DAY_S, rel=0.01)


def test_it_tells_how_far_it_is(peps):
    told = list[float]()
    replay(peps, "cycle", ReplaySetting(0.5, sample=10), tell=told.append)
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= 1


@pytest.mark.parametrize(("policy", "budget", "said"), [("uniform", 0.0, "budget"), ("unifrom", 0.1, "uniform")])
def test_what_cannot_be_replayed_is_said(peps, policy, budget, said):
    with pytest.raises(ConfigError, match=said):
        replay(peps, policy, ReplaySetting(budget))


@pytest.mark.parametrize("seed", range(5))
def test_of_equal_values_the_earlier_come_first_however_many_are_asked_for(seed):
    values = np.random.default_rng(seed).integers(4, size=30).astype(float)
    whole = best(values, 30)
    assert all(best(values, most).tolist() == whole[:most].tolist() for most in range(30))
    assert whole.tolist() == sorted(range(30), key=lambda place: (-values[place], place))
