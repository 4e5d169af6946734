"""Wrong priors and other patience: what is put in the place of the usual ones is what it is said to be."""

import numpy as np
import pytest

from evercrawl.change import gamma
from evercrawl.change.evidence import Intervals
from evercrawl.lab.base import LabOptions
from evercrawl.lab.catalogue import experiment
from evercrawl.lab.contests.comparison import Case
from evercrawl.lab.contests.sensitivity import BUDGETS, PATIENCE, SHAPES, TIMES, PriorSetting, Sensitivity
from evercrawl.lab.contests.wrong import FixedPrior, Patient, prior_of
from evercrawl.lab.polling.polling import Conditions, PollingRun, poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule.policies.price_gamma import PriceGamma

DAY_S = 86_400.0


def quiet(line):
    assert line


def learn(beliefs, *, changed):
    """Let the first page be visited, a day after the last time."""
    day_s = np.array([DAY_S])
    beliefs.learn(np.array([0]), day_s, np.array([changed]), Intervals(day_s, np.zeros(1), np.full(1, np.nan)))


def test_every_prior_and_patience_is_run_at_every_budget():
    found = experiment("sensitivity").run(LabOptions(pages=40, turns=2), quiet)
    assert len(found.rows) == len(BUDGETS) * (len(SHAPES) + len(TIMES) + len(PATIENCE))
    assert [(row["budget"], row["seed"]) for row in found.rows[:: len(found.rows) // 3]] == [(b, 1) for b in BUDGETS]
    assert len({row["policy"] for row in found.rows}) == len(found.rows) // 3
    assert all(row["second"] > 0 for row in found.rows)
    assert [claim.found.count(",") for claim in found.claims] == [2, 2, 2, 2, 4, 2, 2]
    assert not found.missed


def test_patience_that_stays_decides_how_soon_new_pages_are_read():
    pages, read = population(60, 1), list[int]()
    for patience in (0.2 * DAY_S, 1e3 * DAY_S):
        policy = Patient(patience)
        polling = PollingRun(policy, pages, 0.5)
        polling.run(1, 0.5)
        assert policy.patience == patience
        read.append(int((polling.held.visited_at > 0).sum()))
    assert read[0] < read[1]


def test_patience_as_shipped_is_that_of_the_policy():
    row = Case(Sensitivity, PriorSetting(0.0, 1.0, 0.0), 60, 0.0, 1, 0.5, 2.0).row()
    assert row["policy"] == "patience as shipped"
    found = poll(PriceGamma(), population(60, 1), 0.5, cycles=2, measured_from=1, conditions=Conditions(steps=25))
    assert (row["ratio"], row["second"]) == (found.ratio, found.by_cycle[1] / found.optimum)


def test_one_prior_stays_and_is_learned_from_as_a_belief_is():
    beliefs = FixedPrior(np.array([0, 1]), (0.7, 3 * DAY_S), forget=0.0, cycle_s=DAY_S)
    learn(beliefs, changed=True)
    beliefs.refresh()
    assert (beliefs.shape[0], beliefs.scale_s[0]) == pytest.approx(gamma.learn(0.7, 3 * DAY_S, DAY_S, changed=True))
    assert (beliefs.shape[1], beliefs.scale_s[1]) == (0.7, 3 * DAY_S)


def test_what_is_forgotten_goes_back_to_the_prior():
    beliefs = FixedPrior(np.array([0, 1]), (0.7, 3 * DAY_S), forget=1.0, cycle_s=DAY_S)
    for _ in range(3):
        learn(beliefs, changed=False)
    assert beliefs.scale_s[0] / DAY_S == pytest.approx(3 + 1 + np.exp(-1) + np.exp(-2))
    assert beliefs.shape[0] == pytest.approx(0.7)


def test_priors_have_the_mean_logarithm_of_all_rates_or_are_wrong_by_as_much_as_is_said():
    lam = population(2000, 1).lam_per_s
    shape, scale_s = prior_of(lam, 0.4)
    rates = np.random.default_rng(1).gamma(shape, 1 / scale_s, 200_000)
    assert np.log(rates).mean() == pytest.approx(np.log(lam).mean(), abs=0.05)
    assert prior_of(lam, 0.4, 10.0)[1] == pytest.approx(scale_s / 10)


def test_a_run_is_called_what_it_is():
    told = str(Case(Sensitivity, PriorSetting(0.4, 0.1, 0.0), 40, 0.0, 1, 0.1, 2.0))
    assert told == "prior mean x 0.1, correlation 0, seed 1, 10 %"
