"""Which part of its changes a site announces."""

import numpy as np
import pytest

from evercrawl.change import gamma
from evercrawl.change.announcements import Recall, listening, looking


def test_a_site_that_never_announced_a_change_announces_none() -> None:
    recall, site, one = Recall(2), np.zeros(1, np.int64), np.ones(1)
    yes, no = np.ones(1, bool), np.zeros(1, bool)
    recall.learn(site, yes, no, one, one)
    recall.learn(site, no, yes, one, one)
    assert not recall.any
    assert recall.of(np.array([0, 1])).tolist() == [0.0, 0.0]
    recall.learn(site, yes, yes, one, one)
    assert recall.any
    first, none = recall.of(np.array([0, 1])).tolist()
    assert 0.1 < first < 0.6
    assert none == 0.0


def test_what_is_usual_speaks_for_a_site_of_which_little_is_known() -> None:
    """Nineteen sites announce nine tenths of what was to be expected; of the last one announcement is known."""
    recall, yes, no = Recall(20), np.ones(20, bool), np.zeros(20, bool)
    sites, many = np.arange(20), np.where(np.arange(20) < 19, 1.0, 0.0)
    for turn in range(100):
        known = slice(None) if turn == 0 else slice(19)
        told = no if turn % 10 == 9 else yes
        recall.learn(sites[known], told[known], yes[known], many[known], many[known])
    *others, last = recall.of(sites).tolist()
    assert others == pytest.approx([others[0]] * 19)
    assert last == pytest.approx(others[0], rel=0.15)


@pytest.mark.parametrize(("listened", "changes"), [(0.001, 1.0), (50.0, 0.0)])
def test_sites_that_announce_as_no_site_can_do_not_decide_for_one_that_shows_otherwise(listened, changes) -> None:
    """A site announced one of its four changes; others seem to announce far more than change, or to hide nothing."""
    recall = Recall(41)
    recall.heard[:], recall.listened[:], recall.looked[:] = 100.0, listened, 50.0
    recall.missed[:] = changes * 100.0
    recall.heard[40], recall.missed[40], recall.listened[40], recall.looked[40] = 1.0, 3.0, 4.0, 4.0
    assert 0.1 < recall.of(np.array([40])).item() < 0.85  # it was 0.96, and 0.92


@pytest.mark.parametrize("true", [0.1, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("wait", [0.3, 2.0, 5.0])
@pytest.mark.parametrize("shape", [0.4, 3.0])
def test_it_is_found_although_whoever_follows_announcements_sees_few_of_the_others(true, wait, shape) -> None:
    """Rates are drawn from what is believed of them; pages are visited when announced, or after some days without."""
    draw, recall, n = np.random.default_rng(1), Recall(1), 3000
    rate, site = draw.gamma(shape, 1.0, n), np.zeros(n, np.int64)
    a, b, part = np.full(n, shape), np.ones(n), 0.5
    for _ in range(12):
        heard = draw.exponential(1.0, n) / (true * rate)
        told, until = heard < wait, np.minimum(heard, wait)
        silent = draw.exponential(1.0, n) / ((1 - true) * rate) < until
        changed = told | silent
        past = a, b, until, np.full(n, part)
        recall.learn(site, told, changed, listening(*past), looking(*past))
        quiet = np.where(changed & ~told, part * until, 0.0)
        a, b = gamma.learn_many(a, b + quiet, until - quiet, changed, np.where(told, part * until, np.nan))
        part = recall.of(site[:1]).item()
    assert part == pytest.approx(true, abs=0.07)
