"""What stays and what flickers, on made-up pages whose pieces have known lives."""

import numpy as np
import pytest

from evercrawl.change import longevity
from evercrawl.change.extent import replaced


def keys(of):
    return np.array(sorted(of), np.uint64)


def churning(steps, seed=1):
    """Half of the page stays, a quarter is other each time, a quarter is replaced piece by piece: 40 pieces."""
    rng = np.random.default_rng(seed)
    slow, fresh = list(range(1000, 1010)), 2000
    for _ in range(steps):
        slow[rng.integers(10)] = fresh
        fresh += 1
        noise = range(fresh, fresh + 10)
        fresh += 10
        yield keys([*range(20), *slow, *noise])


def test_what_lasts_of_a_change():
    versions = list(churning(60))
    new = [replaced(*versions[i : i + 2]) for i in range(58)]
    stays = [longevity.lasting(*versions[i : i + 3]) for i in range(58)]
    assert np.mean(new) == pytest.approx(11 / 40, abs=0.01)
    assert np.mean(stays) == pytest.approx(1 / 40, abs=0.01)
    assert longevity.lasting(keys([1]), keys([]), keys([1])) == 0.0
    assert longevity.lasting(keys([]), keys([1, 2]), keys([1, 2])) == 1.0


def test_divergence_is_the_mean_over_all_moments():
    rng = np.random.default_rng(2)
    at = np.sort(rng.uniform(0, 100, 12))
    versions = [keys(rng.choice(30, 12, replace=False).tolist()) for _ in at]
    ages_s = np.array([0.0, 3.0, 20.0, 60.0])
    found = longevity.divergence(at, versions, ages_s)
    for age_s, told in zip(ages_s.tolist(), found.tolist(), strict=True):
        moments = np.linspace(at[0], at[-1] - age_s, 20_001)[:-1]
        copy, page = (np.searchsorted(at, when, "right") - 1 for when in (moments, moments + age_s))
        want = np.mean([replaced(versions[a], versions[b]) for a, b in zip(copy.tolist(), page.tolist(), strict=True)])
        assert told == pytest.approx(want, abs=2e-3)
    assert found[0] == 0.0


def test_flicker_is_worth_nothing_and_what_lasts_is():
    ages_s = np.linspace(0.0, 50.0, 5001)
    assert longevity.worth_s(ages_s, np.full(5001, 0.7)) == pytest.approx(np.zeros(5001), abs=1e-9)
    lam = 0.2
    changing = longevity.worth_s(ages_s, -np.expm1(-lam * ages_s))
    x = lam * ages_s
    assert changing == pytest.approx((1 - np.exp(-x) * (1 + x)) / lam, abs=1e-4)  # that of freshness


def test_lifetimes():
    lives = longevity.Lifetimes()
    for at, version in enumerate(churning(400)):
        lives.learn(float(at), version)
    survival = lives.survival(np.array([0.5, 1.5, 5.5]))
    assert survival[0] == 1.0
    slow = np.array([0.9, 0.9**5])  # of a piece that is one of ten, of which one is replaced each time
    assert survival[1:] == pytest.approx(slow / 11, abs=0.01)
    assert lives.returned == 0
    assert lives.flickering == 0.0


def test_pieces_that_come_back():
    lives = longevity.Lifetimes()
    assert np.isnan(lives.flickering)
    for at in range(21):
        lives.learn(float(at), keys([1, 2, 10 + at % 2]))
    assert (lives.appeared, lives.returned) == (1, 19)
    assert lives.flickering == 0.95
    assert lives.survival(np.array([0.5, 1.0, 9.0])).tolist() == [1.0, 0.0, 0.0]
    assert longevity.Lifetimes().survival(np.ones(2)).tolist() == [1.0, 1.0]
