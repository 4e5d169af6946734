"""Of pages that were found gone a return is awaited: what it is worth to look, and when, by how likely that is."""

from dataclasses import replace

import numpy as np
import pytest
from believed import Exact

from evercrawl.change.comebacks import SHAPE, Comebacks, scale_s
from evercrawl.lab.polling.polling import Conditions, PollingRun, poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import index
from evercrawl.schedule.policies.price._deaths import BACK_SHAPE
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.price_gamma import PriceGamma

DAY = 86_400.0
DEATHS = 1 / (300 * DAY)


def at(now: float) -> Context:
    return Context(now, deaths_per_s=DEATHS)


def pages(comeback_scale_s: list[float], shape: float = 2.0) -> Pages:
    count = len(comeback_scale_s)
    one, none = np.ones(count), np.zeros(count)
    return Pages(
        np.arange(count, dtype=np.uint32), none, 3.0 * one, none, shape * one, 20 * DAY * one, one, 0.5 * one, none,
        comeback_scale_s=np.array(comeback_scale_s),
    )  # fmt: skip


def priced(price: float = 2 * DAY) -> PriceGamma:
    policy = Exact()
    policy.price = price
    return policy


def test_the_constant_below_is_that_of_the_belief():
    assert BACK_SHAPE == SHAPE


def test_a_visit_is_worth_what_the_return_is_while_the_page_lives():
    """V = w S(t*) (int R - tau R), by numpy: S of a page that may change or vanish, R that it is still gone."""
    policy, back, age = priced(), 40 * DAY, 9 * DAY
    held = replace(pages([0.0]), comeback_scale_s=None)
    due = policy.due(held, at(0.0)).item()
    rate = DEATHS * held.scale_s[0] / held.shape[0]  # as `dying` has it
    a, b = held.shape[0] * (1 + rate) ** 2, held.scale_s[0] * (1 + rate)
    alive = 3.0 * (1 + due / b) ** -a
    told = index.parts(np.full(1, BACK_SHAPE), np.full(1, back), np.full(1, age))
    still = (back / (back + age)) ** BACK_SHAPE
    cost = 1.0 + 0.5 * (1 - still - age * BACK_SHAPE * still / (back + age))
    expected = alive * told.fresh.item() / cost
    assert policy.value(pages([back]), at(age)).item() == pytest.approx(expected, rel=1e-5)
    grid = np.linspace(0, age, 20_001)
    gone = (back / (back + grid)) ** BACK_SHAPE
    assert told.fresh.item() == pytest.approx(np.trapezoid(gone, grid) - age * gone[-1], rel=1e-6)


@pytest.mark.parametrize(("notice", "at_once"), [(0.0, 0), (0.2, 2), (2.0, 3)])
def test_when_it_is_due_a_visit_is_worth_the_price_or_more_where_an_announcement_makes_it_due_at_once(notice, at_once):
    policy = priced()
    gone = replace(pages([5 * DAY, 40 * DAY, 300 * DAY]), neg_log_unchanged=np.full(3, notice))
    due = policy.due(gone, at(0.0))
    assert np.count_nonzero(due == 0.0) == at_once
    for i in range(3):
        worth = policy.value(gone, at(due[i]))[i]
        assert worth > policy.price if due[i] == 0.0 else worth == pytest.approx(policy.price, rel=1e-5)


def test_the_longer_a_page_has_been_gone_the_later_it_is_looked_for_and_an_announcement_brings_a_visit():
    policy, scale = priced(), Comebacks().scale_s
    gone = pages([scale, scale + 30 * DAY, scale + 300 * DAY])
    due, values = policy.due(gone, at(0.0)), policy.value(gone, at(20 * DAY))
    assert list(due) == sorted(set(due))
    assert list(values) == sorted(set(values), reverse=True)
    told = replace(gone, neg_log_unchanged=np.full(3, 2.0))
    assert (policy.value(told, at(20 * DAY)) > values).all()
    assert (policy.due(told, at(0.0)) < due).all()


def test_a_page_too_quick_to_be_held_is_not_looked_for_and_one_without_a_price_for_all_it_weighs():
    quick = replace(pages([10 * DAY]), shape=np.full(1, 1e9), scale_s=np.full(1, 1e9))  # a change a second
    assert priced().value(quick, at(9 * DAY)).item() == 0.0
    assert np.isinf(priced().due(quick, at(0.0)).item())
    plain = PriceGamma()
    told = index.parts(np.full(1, BACK_SHAPE), np.full(1, 10 * DAY), np.full(1, 9 * DAY)).fresh.item()
    free = replace(pages([10 * DAY]), cost_changed=np.zeros(1))
    assert plain.value(free, Context(9 * DAY)).item() == pytest.approx(3.0 * told, rel=1e-9)


@pytest.mark.parametrize("make", [Price, PriceGamma])
def test_nothing_at_all_is_another_where_no_page_is_gone(make):
    policy = make()
    policy.price = 2 * DAY
    without, told = replace(pages([0.0] * 4), comeback_scale_s=None), pages([0.0] * 4)
    some = pages([0.0, 0.0, 30 * DAY, 0.0])
    here = [0, 1, 3]
    for one, other in ((policy.value, at(DAY)), (policy.due, at(0.0)), (policy.fresh, at(DAY))):
        assert np.array_equal(one(without, other), one(told, other))
        assert np.array_equal(one(without, other)[here], one(some, other)[here])
    assert np.array_equal(policy.fresh(some, at(DAY)), policy.fresh(without, at(DAY)))


class Discounting(Price):
    """Price, for which pages found gone count half as much each time, as they do for all others."""

    awaits = False


@pytest.mark.parametrize("known", [True, False])
def test_who_reckons_with_returns_keeps_copies_fresher(known):
    conditions, webs = Conditions(known=known, deaths=0.05, returns=0.0, ticks=50, steps=1), (1, 2, 3)
    found = [
        [
            poll(make(), population(300, seed=seed), 0.3, cycles=6, measured_from=3, conditions=conditions)
            for seed in webs
        ]
        for make in (Price, Discounting)
    ]
    price, discounting = (sum(each.value for each in of) for of in found)
    assert price > discounting, "of one web alone the difference may be chance"
    assert sum(each.again for each in found[0]) < sum(each.again for each in found[1]) / 2


def test_nothing_is_another_where_no_page_vanishes():
    web = population(200, seed=2)
    values = [poll(each, web, 0.3, cycles=4, measured_from=2).value for each in (Price(), Discounting())]
    assert values[0] == values[1]


def test_a_poll_learns_how_fast_pages_come_back():
    web, conditions = population(500, seed=3), Conditions(deaths=0.1, returns=1.0, away=0.5, ticks=50, steps=1)
    run = PollingRun(Price(), web, 0.3, 1, conditions)
    run.run(10, 5)
    held = run.held
    assert held.comebacks.back > 86
    assert 0.2 < held.comebacks.per_s * 0.5 * run.cycle_s < 5
    assert scale_s(0.0) > 1e20
