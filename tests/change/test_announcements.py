"""Which part of its changes a site announces."""

import numpy as np
import pytest

from evercrawl.change.announcements import Recall, expected


def test_a_site_that_never_announced_a_change_announces_none() -> None:
    recall, site = Recall(2), np.zeros(1, np.int64)
    yes, no = np.ones(1, bool), np.zeros(1, bool)
    recall.learn(site, yes, no, np.ones(1))
    recall.learn(site, no, yes, np.ones(1))
    assert not recall.any
    assert recall.of(np.array([0, 1])).tolist() == [0.0, 0.0]
    recall.learn(site, yes, yes, np.zeros(1))
    assert recall.any
    recall.grow(3)
    assert recall.of(np.array([0, 1, 2]))[1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("true", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("wait", [0.3, 2.0])
def test_it_is_found_although_whoever_follows_announcements_sees_few_of_the_others(true, wait) -> None:
    """Pages change once a day; each is visited when it is announced, or after some days without."""
    draw, recall, site = np.random.default_rng(1), Recall(1), np.zeros(200, np.int64)
    for _ in range(20):
        heard = draw.exponential(1 / true, 200)
        told, until = heard < wait, np.minimum(heard, wait)
        changed = told | (draw.exponential(1 / (1 - true), 200) < until)
        many = expected(np.full(200, 1e9), np.full(200, 1e9), until, recall.of(site))
        recall.learn(site, told, changed, many)
    assert recall.of(site[:1]).item() == pytest.approx(true, abs=0.08)
    assert recall.relied_on(site[:1]).item() == pytest.approx(max(2 * true - 1, 0.0), abs=0.16)
