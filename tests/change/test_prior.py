"""The priors of sites: what they are worth, and that they never run away."""

import math

import numpy as np
import pytest

from evercrawl.change import gamma
from evercrawl.change.prior import DEFAULT_SCALE_S, LEAST_SCALE_S, MOST_SCALE_S, SHAPE, SitePriors
from evercrawl.change.special import digammas

DAY = 86_400.0
RATES = np.array([1 / DAY, 1 / (20 * DAY), 1 / (400 * DAY)])


class Crawl:
    """Sites of 40 pages, of three rates, visited about every ten days; what is learned goes the way of the crawl."""

    def __init__(self, seed: int, prior: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.sites = np.repeat(np.arange(12), 40)
        self.rates = RATES[self.sites % 3] * np.exp(self.rng.normal(0, 0.5, len(self.sites)))
        self.evidence = [(0.0, 0.0)] * len(self.sites)
        self.priors = SitePriors(12)
        self.prior = prior

    def visit_all(self) -> None:
        intervals_s = self.rng.uniform(5 * DAY, 15 * DAY, len(self.sites))
        changed = self.rng.random(len(self.sites)) < -np.expm1(-self.rates * intervals_s)
        for page, site in enumerate(self.sites.tolist()):
            before = self.evidence[page]
            after = gamma.learn_evidence(
                *before, self.priors.prior(site), float(intervals_s[page]), bool(changed[page])
            )
            self.evidence[page] = after
            if self.prior:
                self.priors.learn(site, before, after)

    def error(self) -> float:
        """The median of what ln lambda is wrong by."""
        shape, scale_s = np.array(self.evidence).T
        found = digammas(SHAPE + shape) - np.log(self.priors.scales_at(self.sites) + scale_s)
        return float(np.median(np.abs(found - np.log(self.rates))))


@pytest.mark.parametrize("seed", range(3))
def test_what_other_pages_showed_makes_the_first_visits_tell_more(seed):
    with_prior, without = Crawl(seed, True), Crawl(seed, False)
    errors = {}
    for visit in range(1, 31):
        with_prior.visit_all()
        without.visit_all()
        errors[visit] = (with_prior.error(), without.error())
    assert errors[1][0] < 0.75 * errors[1][1]
    assert errors[3][0] < 0.7 * errors[3][1]
    assert errors[10][0] < 0.85 * errors[10][1] < 0.75
    assert errors[30][0] < 1.02 * errors[30][1] < 0.55


def test_sites_are_told_apart():
    crawl = Crawl(5, True)
    for _ in range(10):
        crawl.visit_all()
    fast, middle, slow = (crawl.priors.scales_s[kind::3] for kind in range(3))
    assert fast.max() < middle.min()
    assert middle.max() < slow.min()


@pytest.mark.parametrize("changes", [False, True])
def test_a_site_of_one_kind_does_not_run_away(changes):
    priors, evidence = SitePriors(1), [(0.0, 0.0)] * 200
    scales = []
    for _ in range(60):
        for page, before in enumerate(evidence):
            evidence[page] = gamma.learn_evidence(*before, priors.prior(0), 10 * DAY, changes)
            priors.learn(0, before, evidence[page])
        if len(scales) % 7 == 3:
            refit(priors, evidence)
        scales.append(priors.scale_s(0))
    if changes:
        assert DAY / 100 < scales[-1] < 4 * DAY
    else:
        assert 100 * DAY < scales[-1] < 60 * 200 * 10 * DAY  # all the exposure there was
    assert abs(math.log(scales[-1] / scales[-2])) < 0.2


def refit(priors, evidence):
    shape, scale_s = np.array(evidence).T
    priors.fit(np.zeros(len(evidence), np.int64), shape, scale_s, np.ones(len(evidence), bool), 1)


def test_scales_stay_within_their_bounds():
    priors = SitePriors(2)
    for _ in range(1000):
        priors.learn(0, None, (1e6, 0.0))
        priors.learn(1, None, (0.0, 1e17))
    assert priors.scales_s.tolist() == [LEAST_SCALE_S, MOST_SCALE_S]


def random_pages(count, seed=1):
    rng = np.random.default_rng(seed)
    sites = rng.integers(0, 5, count)
    return sites, rng.gamma(0.4, 5.0, count), rng.gamma(0.4, 50 * DAY, count)


def test_step_by_step_comes_to_the_same_as_at_once():
    sites, shape, scale_s = random_pages(300)
    halves, whole = SitePriors(5), SitePriors(5)
    for site, a, b in zip(sites.tolist(), shape.tolist(), scale_s.tolist(), strict=True):
        halves.learn(site, None, (a / 2, b / 3))
        whole.learn(site, None, (a, b))
    assert np.abs(np.log(halves.scales_s / whole.scales_s)).max() > 0.01
    for site, a, b in zip(sites.tolist(), shape.tolist(), scale_s.tolist(), strict=True):
        halves.learn(site, (a / 2, b / 3), (a, b))
    assert halves.scales_s == pytest.approx(whole.scales_s, rel=1e-9)


def test_many_at_once_are_as_many_one_by_one():
    sites, shape, scale_s = random_pages(300)
    scale_s[::7] = np.nan
    shape[::7] = np.nan
    whole, single = SitePriors(5), SitePriors(5)
    for priors in (whole, single):
        priors.fit(sites, shape / 3, scale_s / 2, ~np.isnan(shape), 5)
    whole.learn_many(sites, (shape / 3, scale_s / 2), (shape, scale_s))
    whole.learn_many(sites[:9], None, (np.ones(9), np.full(9, DAY)))
    whole.learn_many(sites[:0], None, (shape[:0], scale_s[:0]))
    for site, a, b in zip(sites.tolist(), shape.tolist(), scale_s.tolist(), strict=True):
        if not math.isnan(a):
            single.learn(site, (a / 3, b / 2), (a, b))
    for site in sites[:9].tolist():
        single.learn(site, None, (1.0, DAY))
    assert whole.scales_s == pytest.approx(single.scales_s, rel=1e-10)
    assert whole.crawl_scale_s == pytest.approx(single.crawl_scale_s, rel=1e-10)
    whole.grow(9)


def test_what_was_fitted_can_be_taken_back():
    sites, shape, scale_s = random_pages(300)
    priors = SitePriors()
    priors.fit(sites, shape, scale_s, np.ones(300, bool), 5)
    assert np.abs(np.log(priors.scales_s / DEFAULT_SCALE_S)).min() > 0.01
    for site, a, b in zip(sites.tolist(), shape.tolist(), scale_s.tolist(), strict=True):
        priors.learn(site, (a, b), None)
    assert priors.scales_s == pytest.approx([DEFAULT_SCALE_S] * 5, rel=1e-9)


def test_a_fit_takes_only_pages_that_count_and_forgets_the_rest():
    sites, shape, scale_s = random_pages(300)
    seen = np.arange(300) % 3 > 0
    priors, other = SitePriors(5), SitePriors(0)
    priors.learn(0, None, (50.0, 1.0))
    priors.fit(sites, shape, scale_s, seen, 5)
    other.fit(sites[seen], shape[seen], scale_s[seen], np.ones(int(seen.sum()), bool), 5)
    assert priors.scales_s == pytest.approx(other.scales_s)
    priors.fit(sites, shape, scale_s, np.zeros(300, bool), 5)
    assert priors.scales_s == pytest.approx([DEFAULT_SCALE_S] * 5)


def test_pages_without_evidence_change_nothing():
    priors = SitePriors(2)
    priors.learn(0, None, (3.0, DAY))
    before = priors.scales_s
    for _ in range(100):
        priors.learn(0, None, (0.0, 0.0))
    assert priors.scales_s == pytest.approx(before)


def test_one_answer_asked_in_three_ways():
    sites, shape, scale_s = random_pages(50)
    priors = SitePriors()
    priors.fit(sites, shape, scale_s, np.ones(50, bool), 5)
    priors.grow(7)
    assert [priors.scale_s(site) for site in range(7)] == pytest.approx(priors.scales_s)
    assert priors.scales_at(np.array([6, 0])) == pytest.approx(priors.scales_s[[6, 0]])
    assert priors.prior(3) == (SHAPE, priors.scale_s(3))
    assert priors.scale_s(5) == priors.scale_s(6)
    assert SitePriors(0).scales_at(np.zeros(0, np.int64)).shape == SitePriors().scales_s.shape == (0,)


def test_a_fit_comes_nearer_to_a_slow_site_than_steps_from_the_default():
    rng, true_s = np.random.default_rng(3), 2000 * DAY
    steps, evidence = SitePriors(1), []
    for rate in rng.gamma(SHAPE, 1 / true_s, 400).tolist():
        found = (0.0, 0.0)
        for changed in (rng.random(20) < -math.expm1(-rate * 10 * DAY)).tolist():
            found = gamma.learn_evidence(*found, (SHAPE, true_s), 10 * DAY, changed)
        steps.learn(0, None, found)
        evidence.append(found)
    stepped = math.log(steps.scale_s(0) / true_s)
    refit(steps, evidence)
    fitted = math.log(steps.scale_s(0) / true_s)
    assert stepped < 0
    assert abs(fitted) < 0.75 * abs(stepped)


@pytest.mark.parametrize("pace", [3e-3, 1.0, 1e3])
def test_a_fit_finds_the_level_from_far_off(pace):
    """Pages that are visited once per change on average, gathered as if the default were right."""
    rng = np.random.default_rng(7)
    sites, rate = np.repeat(np.arange(6), 60), pace / DAY
    rates = rate * np.exp(rng.normal(0, 1.5, len(sites)))
    evidence = np.zeros((len(sites), 2))
    for _ in range(6):
        for page in range(len(sites)):
            changed = rng.random() < -math.expm1(-rates[page] / rate)
            evidence[page] = gamma.learn_evidence(*evidence[page], (SHAPE, DEFAULT_SCALE_S), 1 / rate, bool(changed))
    priors = SitePriors(6)
    priors.fit(sites, *evidence.T, np.ones(len(sites), bool), 6)
    levels = digammas(np.full(6, SHAPE)) - np.log(priors.scales_s)
    assert np.abs(levels - math.log(rate)).max() < 1.5  # it was off by up to 7
    priors.grow(7)
    assert priors.scales_s[6] == pytest.approx(priors.crawl_scale_s)
    before = priors.scales_s.copy()
    priors.fit(sites, *evidence.T, np.ones(len(sites), bool), 7)
    assert np.abs(np.log(priors.scales_s / before)).max() < 0.02
