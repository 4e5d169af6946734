"""The price's kernel, which asks the clocks and values at once, as `index` and `exposure` say one after the other."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from believed import Exact

from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.clocks._layout import ALL_BELIEVED, ALL_SITES, COUNTED, LEVEL, ODDS, SETTINGS, SLOPE
from evercrawl.schedule.clocks.exposure import Exposure, by_age
from evercrawl.schedule.formulas import index
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.price_gamma import PriceGamma
from evercrawl.types import Floats

DAY = 86_400.0
BEGAN = 1.8e9
PAGES, FOLDERS, ROUNDS = 60, 5, 8
PATIENCE_CYCLES = 20
NEW, AHEAD, GIVEN = 7, 8, slice(50, None)  # slots: never visited; visited by a clock that was put back; of a known rate


def visits(now: float, first: bool, draw: np.random.Generator) -> Visits:
    """A visit to every page; those of a folder change together."""
    slots, yes, none = np.arange(PAGES, dtype=np.uint32), np.ones(PAGES, bool), np.zeros(PAGES)
    changed = (draw.random(FOLDERS)[slots % FOLDERS] < 0.4) & (draw.random(PAGES) < 0.8) & (not first)
    return Visits(
        slots, slots % 2, now + slots, np.full(PAGES, np.nan if first else DAY), yes, ~yes, changed,
        np.where(draw.random(PAGES) < 0.5, DAY / 3, np.nan), none, none, none.astype(int), ~yes, none.astype(int),
        slots % FOLDERS + np.uint64(1), slots // np.uint64(4) + np.uint64(1),
    )  # fmt: skip


def learned(kind: str, without: str = "") -> Price:
    """Clocks that are believed, those that are not, and none; the price is known, and age alone worth something."""
    draw, policy = np.random.default_rng(1), Exact() if kind == "gamma" else Price(close=1e-9, without=without)
    for k in range(ROUNDS):
        policy.clocks.learn(visits(BEGAN + k * DAY, k == 0, draw))
    memory = {name: rows.copy() for name, rows in policy.clocks.state().items()}
    memory["sites"][:, ODDS] = {"clocks": 1e6, "both": 0.0}.get(kind, -1e6)
    if kind == "both":  # each is as likely
        memory["told"][ALL_SITES - SETTINGS] = memory["told"][ALL_BELIEVED - SETTINGS] = 0.0
        memory["sites"][:, COUNTED], memory["sites"][:, ODDS] = 0.0, math.log(9.0)
    memory["sites"][:, LEVEL], memory["sites"][:, SLOPE] = 0.5, 0.3
    policy.clocks.restore(memory)
    for k in range(200):
        policy.chosen(np.full(1, 5e4), Context(BEGAN + k * DAY / 30, PAGES))
    return policy


@pytest.fixture(params=["clocks", "time", "gamma"])
def policy(request: pytest.FixtureRequest) -> Price:
    return learned(request.param)


@pytest.fixture(params=["clocks", "time", "gamma"])
def ageless(request: pytest.FixtureRequest) -> Price:
    """What does not think of age alone."""
    return learned(request.param, without="age")


@pytest.fixture
def pages() -> Pages:
    draw = np.random.default_rng(2)
    visited_at = BEGAN + (ROUNDS - 1) * DAY + draw.random(PAGES) * DAY
    visited_at[NEW], visited_at[AHEAD] = np.nan, BEGAN + 99 * DAY
    return Pages(
        np.arange(PAGES, dtype=np.uint32), visited_at, draw.pareto(1.1, PAGES) + 1, np.zeros(PAGES),
        0.4 + draw.integers(0, 5, PAGES), np.exp(draw.normal(1.5, 1.0, PAGES)) * DAY, 1 + draw.random(PAGES),
        draw.random(PAGES), np.where(draw.random(PAGES) < 0.3, draw.random(PAGES), 0.0),
    )  # fmt: skip


NOW = BEGAN + (ROUNDS + 2.3) * DAY


def known(pages: Pages, rates: bool) -> Pages:
    """Return the pages, the rates of some of which are given or not."""
    if rates:
        pages.shape[GIVEN] *= 1e7
        pages.scale_s[GIVEN] *= 1e7
    return pages


def theta_of(policy: Price) -> float:
    return 0.0 if isinstance(policy, PriceGamma) else index.HARMONIC


def exposed(policy: Price, pages: Pages, deaths_per_s: float = 0.0) -> Exposure:
    """Return what the clocks say, and time where rates are known; of pages that may have vanished meanwhile."""
    age_s, told = np.fmax(NOW - pages.visited_at, 0.0), by_age(pages, NOW)
    if not isinstance(policy, PriceGamma):
        sure = pages.shape > 1e6
        clocks = policy.clocks.exposures(pages, NOW)
        told = Exposure(*(np.where(sure, one, other) for one, other in zip(told, clocks, strict=True)))
    return told.dying(age_s, deaths_per_s)


def longing(policy: Price, pages: Pages, rates: bool) -> float:
    """Return what a second is worth: a tenth of the price, over what pages weigh over what they cost, and a cycle."""
    if rates or isinstance(policy, PriceGamma):
        return 0.0
    seen = ~np.isnan(pages.visited_at)
    weighed = len(seen[seen]) / 1000 * (pages.importance / pages.cost)[seen].mean()  # from zero, by so many pages
    return 0.1 * policy.price / weighed / (policy.patience / PATIENCE_CYCLES)


def test_clocks_tell_more_than_time(pages: Pages, policy: Price, request: pytest.FixtureRequest) -> None:
    told, plain, visited = exposed(policy, pages), by_age(pages, NOW), ~np.isnan(pages.visited_at)
    believed = request.node.callspec.params["policy"] == "clocks"
    assert (told.exposure_s == plain.exposure_s)[visited].all() == (not believed)
    assert (told.speed != 1).any() == believed


@pytest.mark.parametrize("deaths_per_s", [0.0, 1e-6])
@pytest.mark.parametrize("rates", [False, True])
def test_values(policy: Price, pages: Pages, rates: bool, deaths_per_s: float) -> None:
    pages, context = known(pages, rates), Context(NOW, deaths_per_s=deaths_per_s)
    told, adds, theta = exposed(policy, pages, deaths_per_s), longing(policy, pages, rates), theta_of(policy)
    age = told.exposure_s
    seen = index.index(pages.importance, told.shape, told.scale_s, age, pages.cost, pages.cost_changed, theta)
    worth, dear = index.announced(told.shape, told.scale_s, np.maximum(age, 0.0), 1e-6, pages.neg_log_unchanged)
    harmonic = index.parts(told.shape, told.scale_s, age + pages.neg_log_unchanged * told.scale_s / told.shape).harmonic
    worth = (1 - theta) * worth + theta * harmonic
    sent_for = pages.importance * worth / (pages.cost + pages.cost_changed * dear)
    seen = np.where(pages.neg_log_unchanged > 0, sent_for, seen)
    seen += adds * np.maximum(NOW - pages.visited_at, 0.0) * pages.importance / pages.cost
    first = by_age(pages, NOW).dying(np.zeros(PAGES), deaths_per_s)
    waits = policy.patience * np.array([np.maximum(first.shape, 1.0), np.ones(PAGES)])
    fresh = index.parts(first.shape, first.scale_s, waits[0]).fresh
    harmonic = index.parts(first.shape, first.scale_s, waits[1]).harmonic
    theta = max(theta, 0.05) if theta > 0 else 0.0
    new = pages.importance * ((1 - theta) * fresh + theta * harmonic) / (pages.cost + pages.cost_changed)
    expected = np.where(np.isnan(pages.visited_at), new, seen)
    assert np.isnan(pages.visited_at).sum() == 1
    value, quiet = policy.value(pages, context), pages.neg_log_unchanged == 0
    np.testing.assert_allclose(value[quiet], expected[quiet], rtol=1e-9)
    np.testing.assert_allclose(value[~quiet], expected[~quiet], rtol=1e-4)


def test_on_a_host_that_allows_too_few_visits_pages_fall_due_at_its_own_price(ageless: Price, pages: Pages) -> None:
    policy, pages = ageless, pages.take(np.arange(PAGES) != NEW)  # what age alone adds goes by the crawl's price
    dear = np.where(np.arange(PAGES - 1) % 2, 3.0, 0.5)
    weighed = policy.weight_ratio.copy()  # each call has a say in it
    due = policy.due(replace(pages, host_price_ratio=dear), Context(NOW))
    for times in (3.0, 0.5):
        policy.weight_ratio[:] = weighed
        price, policy.price = policy.price, policy.price * times
        alone = policy.due(pages, Context(NOW))
        policy.price = price
        np.testing.assert_allclose(due[dear == times], alone[dear == times], rtol=1e-12)


def test_a_new_page_that_has_waited_for_longer_than_patience_is_worth_what_it_has_waited(policy: Price) -> None:
    one, none = np.ones(2), np.zeros(2)
    pages = Pages(np.arange(2, dtype=np.uint32), one * np.nan, one, none, one, DAY * one, one, none, none)
    long = NOW - 3 * policy.patience
    waited = policy.value(replace(pages, found_at=np.array([NOW - 1.0, long])), Context(NOW))
    assert waited[0] == policy.value(pages, Context(NOW))[0]
    policy.patience *= 3
    assert waited[1] == pytest.approx(policy.value(pages, Context(NOW))[1])


def test_a_page_of_which_a_change_was_announced_falls_due_when_it_is_worth_the_price(pages: Pages) -> None:
    policy = Exact()
    told = replace(pages, neg_log_unchanged=np.full(PAGES, 0.3), announced_share=np.full(PAGES, 0.6)).take(
        np.arange(PAGES) > AHEAD
    )
    for _ in range(200):
        policy.chosen(np.full(1, np.median(policy.value(told, Context(NOW)))), Context(NOW, PAGES))
    due = policy.due(told, Context(NOW))
    later = np.isfinite(due) & (due > told.visited_at + 1.0)
    assert 5 < later.sum() < len(due)
    for row in np.flatnonzero(later)[:10]:
        assert policy.value(told, Context(due[row]))[row] == pytest.approx(policy.price, rel=1e-5)
    at_once = due <= told.visited_at + 1.0
    assert (policy.value(told, Context(NOW))[at_once] >= policy.price).all()


@pytest.mark.parametrize("deaths_per_s", [0.0, 1e-6])
@pytest.mark.parametrize("rates", [False, True])
def test_due_times(policy: Price, pages: Pages, rates: bool, deaths_per_s: float) -> None:
    """At the age at which a page falls due, a visit is worth the price."""
    pages = known(pages, rates).take(np.arange(PAGES) != NEW)
    told, adds = exposed(policy, pages, deaths_per_s), longing(policy, pages, rates)
    due = policy.due(pages, Context(NOW, deaths_per_s=deaths_per_s))
    found = np.isfinite(due) & (pages.neg_log_unchanged == 0)
    assert found.sum() > PAGES / 3
    assert isinstance(policy, PriceGamma) or np.isfinite(due).all()
    pages, due, told = pages.take(found), due[found], Exposure(*(column[found] for column in told))
    age = (due - np.fmax(NOW, pages.visited_at)) * told.speed + told.exposure_s
    dear = index.parts(told.shape, told.scale_s, age).p_changed
    worth = index.index(pages.importance, told.shape, told.scale_s, age, harmonic=theta_of(policy))
    worth = (worth + adds * age * pages.importance) / (pages.cost + pages.cost_changed * dear)
    np.testing.assert_allclose(worth, policy.price, rtol=1e-5)


@pytest.mark.parametrize("rates", [False, True])
def test_freshness(policy: Price, pages: Pages, rates: bool) -> None:
    pages = known(pages, rates)
    told, context = exposed(policy, pages), Context(NOW, deaths_per_s=1e-7)
    doubt = pages.neg_log_unchanged + 1e-7 * np.maximum(NOW - pages.visited_at, 0.0)
    np.testing.assert_allclose(policy.fresh(pages, context), told.fresh() * np.exp(-doubt), rtol=1e-12)


@pytest.mark.parametrize("deaths_per_s", [0.0, 1e-6])
def test_of_what_a_site_announces_silence_is_good_news(ageless: Price, pages: Pages, deaths_per_s: float) -> None:
    """Of pages of which nothing was said: values, due times and freshness count what nobody would have announced."""
    policy, context = ageless, Context(NOW, deaths_per_s=deaths_per_s)
    rho = np.linspace(0.0, 0.9, PAGES)
    heard, mute = replace(pages, announced_share=rho), replace(pages, announced_share=0.0 * rho)

    def asked(ask: Callable[[Pages, Context], Floats], of: Pages) -> Floats:
        policy.weight_ratio[:] = 1.0
        return ask(of, context)

    for ask in (policy.value, policy.due, policy.fresh):
        assert np.array_equal(asked(ask, mute), asked(ask, pages), equal_nan=True), (
            "where nothing is announced all is as was"
        )
    plain = by_age(pages, NOW)
    if not isinstance(policy, PriceGamma):
        plain = policy.clocks.exposures(pages, NOW)
    age_s = np.fmax(NOW - pages.visited_at, 0.0)
    told = plain.dying(age_s, deaths_per_s)
    part = rho * (plain.shape / plain.scale_s) / (told.shape / told.scale_s)
    quiet = (pages.neg_log_unchanged == 0) & (age_s > 0) & (part > 0)
    fresh = index.heard(told.shape, told.scale_s, told.exposure_s, np.maximum(part, 1e-9))
    harmonic, theta = index.parts(told.shape, told.scale_s, told.exposure_s).harmonic, theta_of(policy)
    by_now, some = told.scale_s + part * told.exposure_s, np.maximum(part, 1e-9)
    still = index.survival(told.shape, by_now, (1 - part) * told.exposure_s)
    of_all = index.survival(told.shape, by_now, told.exposure_s)
    dear = np.maximum(1 - of_all - (still - of_all) / some, 0.0)
    worth = pages.importance * ((1 - theta) * fresh + theta * harmonic) / (pages.cost + pages.cost_changed * dear)
    if (plain.speed == 1).all():  # where clocks are believed, some tell of others, too
        np.testing.assert_allclose(asked(policy.value, heard)[quiet], worth[quiet], rtol=1e-7)
    soon = quiet & (told.exposure_s < told.scale_s / 2)  # later on silence says that a visit will be good for long
    assert soon.sum() > 5
    assert (asked(policy.value, heard)[soon] < asked(policy.value, pages)[soon]).all()
    later, sooner = asked(policy.due, heard)[soon], asked(policy.due, pages)[soon]
    assert (later > sooner).mean() > 0.88
    assert (asked(policy.fresh, heard)[quiet] > asked(policy.fresh, pages)[quiet]).all()
    due = replace(heard, cost_changed=0.0 * rho).take(quiet)
    at = policy.due(due, context)
    for row in np.flatnonzero(np.isfinite(at) & (at > NOW))[:5]:
        if isinstance(policy, PriceGamma):  # the clocks go on by the mean
            assert policy.value(due, context._replace(now=at[row]))[row] == pytest.approx(policy.price, rel=1e-5)


@pytest.mark.parametrize("deaths_per_s", [0.0, 1e-6])
def test_where_neither_is_sure_values_and_freshness_are_the_mean_of_what_clocks_and_time_say(
    pages: Pages, deaths_per_s: float
) -> None:
    both, clocks, time = (learned(kind, without="age,mates") for kind in ("both", "clocks", "time"))
    assert both.trust(0) == pytest.approx((0.0, 0.5))
    context, plain = Context(NOW, deaths_per_s=deaths_per_s), replace(pages, cost_changed=0.0 * pages.cost)
    values = [policy.value(plain, context) for policy in (both, clocks, time)]
    np.testing.assert_allclose(values[0], 0.5 * (values[1] + values[2]), rtol=1e-9)
    assert (values[1] > 1.2 * values[2]).any()
    for policy in (both, clocks, time):
        unbent = {name: rows.copy() for name, rows in policy.clocks.state().items()}
        unbent["sites"][:, LEVEL] = unbent["sites"][:, SLOPE] = 0.0
        policy.clocks.restore(unbent)
    fresh = [policy.fresh(pages, context) for policy in (both, clocks, time)]
    np.testing.assert_allclose(fresh[0], 0.5 * (fresh[1] + fresh[2]), rtol=1e-4)


def test_where_neither_is_sure_a_page_falls_due_when_it_is_worth_the_price_by_both(pages: Pages) -> None:
    both, clocks, time = (learned(kind, without="age,mates") for kind in ("both", "clocks", "time"))
    pages = pages.take((np.arange(PAGES) > AHEAD) & (pages.neg_log_unchanged == 0))
    due, first, second = (policy.due(pages, Context(NOW)) for policy in (both, clocks, time))
    low, high = np.minimum(first, second), np.maximum(first, second)
    assert ((due >= low - 1e-6) & (due <= high + 1e-6)).all()
    told, plain = clocks.clocks.exposures(pages, NOW), by_age(pages, NOW)
    for row in range(len(due)):
        worth, dear = 0.0, 0.0
        for each in (told, plain):
            age = each.exposure_s[row] + (due[row] - NOW) * each.speed[row]
            parts = index.parts(each.shape[row], each.scale_s[row], age)
            theta = theta_of(both)
            worth += 0.5 * ((1 - theta) * parts.fresh + theta * parts.harmonic)
            dear += 0.5 * parts.p_changed
        earned = pages.importance[row] * worth / (pages.cost[row] + pages.cost_changed[row] * dear)
        assert earned == pytest.approx(both.price, rel=1e-4), row
