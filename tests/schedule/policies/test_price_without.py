"""Parts of the price policy that are left out: each of them has a say, and none where it is left out."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import Conditions, poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.clocks._layout import BURST, COHORT, FULL, KIN, NONE, ODDS, SETTINGS, SIBLING
from evercrawl.schedule.clocks.clocks import PARTS
from evercrawl.schedule.pages import KIN_LEVELS, Visits
from evercrawl.schedule.policies.price.price import Price

DAY = 86_400.0
BEGAN = 1.8e9
N, FOLDERS, ROUNDS = 48, 4, 14


def learned(without: str = "") -> Price:
    """A policy that saw pages change by folders, half of the time with a date, and now and then by names."""
    draw, policy, slots, none = np.random.default_rng(5), Price(without=without), np.arange(N), np.zeros(N)
    folder, name = slots % FOLDERS, slots // FOLDERS
    kin = np.zeros((N, KIN_LEVELS), np.uint64)
    kin[:, 0] = slots // 6 + 1
    for k in range(ROUNDS):
        at = BEGAN + k * DAY + slots * DAY / N
        together = (draw.random(FOLDERS) < 0.3)[folder] | (draw.random(N // FOLDERS) < 0.2)[name]
        dated = np.where(draw.random(N) < 0.5, at - (BEGAN + (k - 0.01) * DAY), np.nan)
        policy.learn(Visits(
            slots.astype(np.uint32), slots * 0, at, np.full(N, DAY if k else np.nan), slots >= 0, slots < 0,
            together & (k > 0), dated, none, none, none.astype(int), slots < 0, none.astype(int),
            folder + np.uint64(1), name + np.uint64(1), kin=kin,
        ))  # fmt: skip
    memory = {key: rows.copy() for key, rows in policy.state().items()}
    memory["sites"][:, ODDS] = 1e6
    policy.restore(memory)
    for k in range(200):
        policy.chosen(np.full(1, 2e3), Context(BEGAN + k * DAY / 30, N))
    policy.weight_ratio[:] = 1.0
    return policy


def worth(policy: Price) -> np.ndarray:
    one, none = np.ones(N), np.zeros(N)
    visited_at = BEGAN + (ROUNDS - 1) * DAY + np.arange(N) * DAY / N
    pages = Pages(np.arange(N, dtype=np.uint32), visited_at, one, none, one, 9 * DAY * one, one, none, none)
    return policy.value(pages, Context(BEGAN + (ROUNDS + 0.5) * DAY))


@pytest.mark.parametrize("part", [*PARTS, "age"])
def test_each_part_has_a_say(part):
    assert not np.allclose(worth(learned(part)), worth(learned()), rtol=1e-3)


def test_what_is_left_out_is_not_learned():
    assert len(learned("exposure").state()["pages"]) == 0
    assert (learned("cohorts").state()["pages"]["cohort"] == NONE).all()
    assert (learned("siblings").state()["pages"]["sibling"] == NONE).all()
    assert (learned("kin").state()["pages"]["kin"] == NONE).all()
    whole = learned().state()
    assert (whole["pages"]["cohort"] != NONE).any()
    assert (whole["pages"]["sibling"][:N] != NONE).all()
    for part, index in (("cohorts", COHORT), ("siblings", SIBLING), ("kin", KIN)):
        assert whole["sites"][0, FULL + index] != learned(part).state()["sites"][0, FULL + index]
    assert learned("burst").state()["told"][BURST - SETTINGS] == 0.0


def test_several_parts_are_left_out_and_none_that_there_is_not():
    both = learned("mates, age")
    assert not np.allclose(worth(both), worth(learned("mates")), rtol=1e-3)
    with pytest.raises(
        ConfigError, match=r"price: without must be one of .*age, not 'burst,clocks': 'clocks' is not one of them"
    ):
        Price(without="burst,clocks")


@pytest.mark.parametrize("given", [{"harmonic": -1}, {"harmonic": 7}, {"close": -3}, {"close": 2}])
def test_numbers_that_make_no_sense_are_refused(given):
    with pytest.raises(ConfigError, match=f"price: {next(iter(given))} must be from"):
        Price(**given)


def test_clocks_cost_nothing_where_each_page_changes_alone():
    """The mean of some webs: the slightest difference of a rate lets either be ahead by a point on one of them."""
    ahead, often = [], Conditions(steps=10)
    for seed in range(3, 8):
        pages = population(300, seed, correlation=0.5)
        clocked, unclocked = (
            poll(Price(without=left_out), pages, 0.03, cycles=6, measured_from=3, seed=seed, conditions=often).ratio
            for left_out in ("", "exposure")
        )
        ahead.append(clocked - unclocked)
    assert np.mean(ahead) > -0.005
