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


def test_a_copy_of_what_flickers_is_other_at_every_age_and_of_what_lasts_more_and_more():
    versions = list(churning(200))
    at, ages_s = np.arange(200.0), np.array([1.0, 4.0, 8.0])
    flickers = [keys(of) for of in ([1, 2, 10 + i % 7] for i in range(200))]
    assert longevity.divergence(at, flickers, ages_s) == pytest.approx(np.full(3, 1 / 3), abs=0.01)
    slow = 10 * (1 - 0.9**ages_s)  # of ten pieces one is replaced each time
    assert longevity.divergence(at, versions, ages_s) == pytest.approx((10 + slow) / 40, abs=0.01)


def test_only_pairs_of_versions_that_are_asked_for_are_compared(monkeypatch):
    compared = []
    monkeypatch.setattr(longevity, "replaced", lambda old, new: compared.append((old, new)) or 0.0)
    versions = [keys([i]) for i in range(100)]
    longevity.divergence(np.arange(100.0), versions, np.array([1.0, 7.0]))
    assert len(compared) <= 200


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
