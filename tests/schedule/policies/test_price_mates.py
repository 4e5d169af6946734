"""A visit that tells of others: the page of a folder that was visited last stands for all of them."""

import math

import numpy as np
import pytest

from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.clocks._layout import CLOCK, FACTOR, ODDS, PLAIN_WAITED, RATE, WAITED
from evercrawl.schedule.formulas import index
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.policies.price.price import Price

DAY = 86_400.0
BEGAN = 1.8e9
SIZES = (4, 40)
FOLDER = np.repeat(np.arange(len(SIZES)), SIZES)
N = len(FOLDER)
SCOUTS = np.cumsum(SIZES) - 1  # all are visited in order: these are the last
VARIES_S = 800 * DAY


def learned(price: float = 4 * DAY, believed: bool = True, restless: int | None = None) -> Price:
    """A policy that saw the pages of each of two folders change together, each at times of its own."""
    draw, policy, slots, none = (
        np.random.default_rng(3),
        Price(harmonic=0.0),
        np.arange(N, dtype=np.uint32),
        np.zeros(N),
    )
    for k in range(12):
        changed = (draw.random(len(SIZES)) < 0.3)[FOLDER] & (k > 0)
        if restless is not None:
            changed[restless] = k > 0
        policy.learn(Visits(
            slots, slots * 0, BEGAN + k * 20 * DAY + slots * DAY / N, np.full(N, 20 * DAY if k else np.nan),
            slots >= 0, slots < 0, changed, np.full(N, np.nan), none, none, none.astype(int), slots < 0,
            none.astype(int), FOLDER + np.uint64(1), slots + np.uint64(1),
        ))  # fmt: skip
    memory = {name: rows.copy() for name, rows in policy.state().items()}
    memory["sites"][:, ODDS] = 1e6 if believed else -1e6
    policy.restore(memory)
    policy.price, policy.weight_ratio[:] = price, 1.0
    return policy


def pages(weight: float = 1.0) -> Pages:
    """All pages, the last of which has a weight of its own."""
    one, none = np.ones(N), np.zeros(N)
    weights = np.where(np.arange(N) == SCOUTS[1], weight, one)
    visited_at = BEGAN + 11 * 20 * DAY + np.arange(N) * DAY / N
    return Pages(np.arange(N, dtype=np.uint32), visited_at, weights, none, one, 9 * DAY * one, one, none, none)


NOW = BEGAN + 12 * 20 * DAY


def alone(policy: Price) -> np.ndarray:
    """What visits would be worth if none told of others."""
    told = policy.clocks.exposures(pages(), NOW)
    return index.index(np.ones(N), told.shape, told.scale_s, told.exposure_s, harmonic=0.0)


def test_the_page_visited_last_is_worth_more_and_no_other():
    policy = learned()
    times = policy.value(pages(), Context(NOW)) / alone(policy)
    others = np.delete(np.arange(N), SCOUTS)
    np.testing.assert_allclose(times[others], 1.0, rtol=1e-9)
    assert 1.1 < times[SCOUTS[0]] < 1 + (SIZES[0] - 1), "no more than all of them are worth together"
    assert (times[SCOUTS[1]] - 1) > 5 * (times[SCOUTS[0]] - 1), "of forty pages it tells more than of four"


def test_what_it_tells_is_what_those_weigh_that_would_be_visited_then():
    policy = learned()
    told, site = policy.clocks.exposures(pages(), NOW), policy.state()["sites"][0]
    few = 3 / site[RATE]
    second = (site[PLAIN_WAITED] + few) / (site[WAITED] + few)
    for scout, size in zip(SCOUTS, SIZES, strict=True):
        a, b, x = told.shape[scout], told.scale_s[scout], told.exposure_s[scout]
        later = x + second * site[FACTOR + CLOCK] * VARIES_S / (1 + VARIES_S * second * a / b)
        alike = 1 - (b + x) ** a / (b + later) ** a
        gained = max(1 - policy.price / index.index(np.ones(1), a, b, later, harmonic=0.0)[0], 0.0)
        expected = alone(policy)[scout] * (1 + (size - 1) * alike * gained)
        assert policy.value(pages(), Context(NOW))[scout] == pytest.approx(expected, rel=1e-6)
        assert alike > 0.1 < gained, "else it says nothing"


def test_it_falls_due_sooner():
    policy = learned()
    due = policy.due(pages(), Context(NOW))
    assert due[SCOUTS[1]] < due[SCOUTS[1] - 1] - DAY
    assert due[SCOUTS[1]] < due[SCOUTS[0]]


def test_nothing_is_added_where_others_would_not_be_visited_or_nobody_believes_the_clocks():
    dear = learned(price=1e6 * DAY)
    np.testing.assert_allclose(dear.value(pages(), Context(NOW)), alone(dear), rtol=1e-9)
    doubted = learned(believed=False)
    np.testing.assert_allclose(doubted.value(pages(), Context(NOW)), alone(doubted), rtol=1e-9)
    nobody_knows = learned(price=math.nan)
    np.testing.assert_allclose(nobody_knows.value(pages(), Context(NOW)), alone(nobody_knows), rtol=1e-9)


def test_others_are_taken_to_weigh_no_more_than_pages_do():
    policy = learned()
    light, heavy = (policy.value(pages(weight), Context(NOW))[SCOUTS[1]] for weight in (1.0, 50.0))
    assert heavy - light == pytest.approx(49 * alone(policy)[SCOUTS[1]], rel=0.2)


def test_a_restless_page_tells_of_nobody():
    scout, restless = SCOUTS[1] - 1, SCOUTS[1]
    policy = learned(restless=restless)
    times = policy.value(pages(), Context(NOW)) / alone(policy)
    assert times[restless] == pytest.approx(1.0, rel=1e-9)
    assert times[scout] > 11.4
