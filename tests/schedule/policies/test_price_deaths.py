"""Copies are no good either once their pages are gone: lam + d in place of lam, in what a visit is worth and when."""

from dataclasses import replace

import numpy as np
import pytest
from believed import Exact

from evercrawl.lab.polling.polling import Conditions, poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.price_gamma import PriceGamma

YEAR_S = 365.25 * 86_400.0
DEATHS = [0.0, 0.5 / YEAR_S, 1 / YEAR_S, 4 / YEAR_S]


def pages(shape: float, rate_per_year: float, count: int = 1) -> Pages:
    one, none = np.ones(count), np.zeros(count)
    scale = shape / rate_per_year * YEAR_S * one
    return Pages(np.arange(count, dtype=np.uint32), none, one, none, shape * one, scale, one, none, none)


def priced(price: float = 0.01 * YEAR_S) -> PriceGamma:
    policy = Exact()
    policy.price = price
    return policy


@pytest.mark.parametrize("shape", [0.4, 3.0, 1e12])
@pytest.mark.parametrize("rate_per_year", [0.1, 1.0])
def test_the_sooner_pages_vanish_the_more_a_visit_is_worth_and_the_sooner_it_falls_due(shape, rate_per_year) -> None:
    held = pages(shape, rate_per_year)
    values = [priced().value(held, Context(0.2 * YEAR_S, deaths_per_s=deaths)).item() for deaths in DEATHS]
    dues = [priced().due(held, Context(0.0, deaths_per_s=deaths)).item() for deaths in DEATHS]
    assert values == sorted(set(values))
    assert dues == sorted(set(dues), reverse=True)


@pytest.mark.parametrize("deaths_per_s", DEATHS)
@pytest.mark.parametrize("shape", [0.4, 3.0, 1e12])
def test_when_it_is_due_a_visit_is_worth_the_price(shape, deaths_per_s) -> None:
    held, policy = pages(shape, 1.0), priced()
    due = policy.due(held, Context(0.0, deaths_per_s=deaths_per_s)).item()
    assert policy.value(held, Context(due, deaths_per_s=deaths_per_s)).item() == pytest.approx(policy.price, rel=1e-5)
    assert policy.due(held, Context(due / 2, deaths_per_s=deaths_per_s)).item() == pytest.approx(due, rel=1e-6)


@pytest.mark.parametrize(("shape", "within"), [(0.4, 0.07), (1.4, 0.01), (1e9, 1e-6)])
@pytest.mark.parametrize("rate_per_year", [0.1, 1.0, 10.0, 50.0])
def test_a_visit_is_worth_what_the_probability_of_freshness_says(shape, within, rate_per_year) -> None:
    """By V = int S - t S, S as `fresh` has it, up to a tenth of the time for which pages last."""
    policy, count, deaths_per_s = priced(), 2001, 1 / YEAR_S
    age_s = np.linspace(0.0, 0.1, count) ** 2 / 0.1 * YEAR_S
    held = pages(shape, rate_per_year, count)
    likely = policy.fresh(replace(held, visited_at=-age_s), Context(0.0, deaths_per_s=deaths_per_s))
    expected = np.trapezoid(likely, age_s) - age_s[-1] * likely[-1]
    now = Context(float(age_s[-1]), deaths_per_s=deaths_per_s)
    found = policy.value(pages(shape, rate_per_year), now).item()
    assert found == pytest.approx(expected, rel=within + 1e-5)


def test_a_page_that_never_changes_is_looked_at_where_pages_vanish() -> None:
    still = pages(1e12, 1e-12)
    assert priced().due(still, Context(0.0)).item() == np.inf
    assert priced().due(still, Context(0.0, deaths_per_s=1 / YEAR_S)).item() < YEAR_S


class Untold(Price):
    """Price, as it would be if nobody told it how fast pages vanish."""

    def _assess(self, pages, context, valued, due_from, *, fresh=False):  # noqa: ANN202
        return super()._assess(pages, context._replace(deaths_per_s=0.0), valued, due_from, fresh=fresh)

    def chosen(self, values, context, new=0) -> None:
        super().chosen(values, context._replace(deaths_per_s=0.0), new)


@pytest.mark.parametrize(("known", "gains"), [(True, 0.005), (False, -0.005)])
def test_who_is_told_how_fast_pages_vanish_does_no_worse(known, gains) -> None:
    """One page in twenty vanishes in a cycle; a copy of one that is gone counts as long as nobody found out."""
    web = replace(population(300, seed=1), weight=np.ones(300))
    conditions = Conditions(known=known, deaths=0.05, ticks=50, steps=1)
    policies = Price(harmonic=0.0), Untold(harmonic=0.0)
    told, untold = (poll(each, web, 0.3, cycles=6, measured_from=3, conditions=conditions).value for each in policies)
    assert told > untold + gains
