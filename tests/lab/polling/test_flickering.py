"""Pages that flicker: what a visit finds, what counts, and what is known to last."""

import numpy as np
import pytest

from evercrawl.lab.polling.flickering import Flickering, flickering, in_closed_form
from evercrawl.lab.polling.population import DAY_S, Population, population
from evercrawl.model.worth.lasting_weight import LEAST

PAGES = Population(np.ones(40), np.full(40, 0.05), np.zeros(40, np.int64))
FLICKERS = np.arange(40) < 20


def visited(*, each_look=True, heeded=True, visits=20, every_days=2.0):
    """Return a world after some visits to all of its pages, and which parts of them were found changed."""
    world, found, now = Flickering(PAGES, FLICKERS, 1, each_look=each_look, heeded=heeded), [], 0.0
    for _ in range(visits):
        world.pass_to(now)
        found.append(world.visit(np.arange(40), now).changed)
        now += every_days * DAY_S
    return world, np.array(found), now


def test_what_flickers_is_another_at_each_look_or_as_often_as_its_rate_says():
    _, changed, _ = visited()
    assert not changed[0].any(), "what is new is no change"
    assert changed[1:, FLICKERS].all()
    assert changed[1:, ~FLICKERS].mean() == pytest.approx(1 - np.exp(-0.1), abs=0.04)
    _, changed, _ = visited(each_look=False)
    assert changed[1:].mean() == pytest.approx(1 - np.exp(-0.1), abs=0.03)


def test_only_what_does_not_flicker_counts():
    world, _, now = visited()
    fresh = world.earned(now) / now
    expected = -np.expm1(-0.1) / 0.1
    assert fresh == pytest.approx(expected, abs=1e-9)
    assert not world.stale(now)[FLICKERS].any()
    assert (world.visits, world.wasted) == (800, 400)


def test_what_lasts_weighs_where_it_is_heeded_and_no_page_weighs_nothing():
    world, _, _ = visited()
    assert world.weight[FLICKERS].mean() < 0.3
    assert world.weight[~FLICKERS].min() == 1.0
    assert world.weight.min() >= LEAST
    world, _, _ = visited(heeded=False)
    assert (world.weight == 1.0).all()


def test_the_best_there_is_knows_which_pages_flicker():
    pages = population(500, seed=2)
    flickers = flickering(500, 0.4, seed=2)
    assert flickers.sum() == 200
    world = Flickering(pages, flickers, 1, each_look=False, heeded=False)
    alike, best = in_closed_form(pages, flickers, 0.1)
    assert alike < best == pytest.approx(world.best(0.1))
    none = np.zeros(500, np.bool_)
    assert in_closed_form(pages, none, 0.1) == pytest.approx([pages.optimum(0.1).value] * 2, rel=1e-6)
