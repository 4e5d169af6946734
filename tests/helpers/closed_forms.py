"""How pages change, by the formulas of the papers: what tests hold estimates and worlds against."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.change.copies import first_missed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from evercrawl.types import Floats, Keys


def burstiness(gaps_s: Floats) -> tuple[float, float]:
    """Return how uneven the gaps between changes of one page are: their coefficient of variation, and B.

    Parameters
    ----------
    gaps_s
        Times from each change to the next, shape (n,), two at least.

    Returns
    -------
    tuple
        Standard deviation over mean c: 1 at random moments, 0 for a clock; and B = (c - 1) / (c + 1): 0, -1, and 1 for
        changes all in one burst. Both are nan where there are too few.

    Examples
    --------
    >>> burstiness(np.array([7.0, 7.0, 7.0]))
    (0.0, -1.0)
    """
    if len(gaps_s) < 2 or not gaps_s.mean() > 0:
        return math.nan, math.nan
    c = float(gaps_s.std(ddof=1) / gaps_s.mean())
    return c, (c - 1.0) / (c + 1.0)


def in_batches(at: Floats, width_s: float, least: int = 10) -> float:
    """Return which part of a site's changes comes in batches of so many within one bin of time; nan of none.

    Examples
    --------
    >>> in_batches(np.array([0.0, 0.1, 0.2, 9.0]), 1.0, least=3)
    0.75
    """
    if not len(at):
        return math.nan
    sizes = np.unique(np.floor(at / width_s), return_counts=True)[1]
    return float(sizes[sizes >= least].sum()) / len(at)


def freshness(changes_at: Floats, visits_at: Floats, at: Floats) -> Floats:
    """Return 1 where the copy is the page as it is, else 0, shape (k,): (3); see `first_missed`.

    Examples
    --------
    >>> freshness(np.array([1.0, 2.0]), np.array([0.0, 3.0]), np.array([0.5, 2.5, 3.5]))
    array([1., 0., 1.])
    """
    return np.where(first_missed(changes_at, visits_at, at) <= at, 0.0, 1.0)


def age(changes_at: Floats, visits_at: Floats, at: Floats) -> Floats:
    """Return how long before each instant the page left the copy behind, 0 where it did not: (4); see `first_missed`.

    Examples
    --------
    >>> age(np.array([1.0, 2.0]), np.array([0.0, 3.0]), np.array([0.5, 2.5, 3.5]))
    array([0. , 1.5, 0. ])
    """
    return np.maximum(at - first_missed(changes_at, visits_at, at), 0.0)


def changes_probability(lam: float, passed_s: float, count: int) -> float:
    """Return the probability of so many changes in a time: (lam t)^k e^(-lam t) / k!, (1).

    Examples
    --------
    >>> round(changes_probability(2.0, 1.0, 2), 9) == round(2 * math.exp(-2), 9)
    True
    """
    x = lam * passed_s
    return math.exp(count * math.log(x) - x - math.lgamma(count + 1)) if x > 0 else float(count == 0)


def changed_probability(lam: ArrayLike, passed_s: ArrayLike) -> Floats:
    """Return the probability that a page has changed within a time: 1 - e^(-lam t), (2) and (7).

    Examples
    --------
    >>> changed_probability(1.0, [0.0, 1.0]).round(6)
    array([0.      , 0.632121])
    """
    return -np.expm1(-np.multiply(lam, passed_s))


def freshness_after(lam: ArrayLike, passed_s: ArrayLike) -> Floats:
    """Return the probability that a copy is fresh a time after the visit: e^(-lam t), (8).

    Examples
    --------
    >>> freshness_after(1.0, [0.0, 1.0]).round(6)
    array([1.      , 0.367879])
    """
    return np.exp(-np.multiply(lam, passed_s))


def weighted(values: ArrayLike, weight: ArrayLike) -> float:
    """Return the mean of what pages have, by weight: sum w v / sum w, (5) for a weight of 1; 0 where nothing weighs.

    Examples
    --------
    >>> from evercrawl.change.expectations import mean_freshness
    >>> weighted(mean_freshness([0.0, 1.0], 1.0), [3.0, 1.0])
    0.9080301
    """
    values, weight = np.broadcast_arrays(np.asarray(values, np.float64), np.asarray(weight, np.float64))
    counts = weight > 0
    total = float(weight[counts].sum())
    return float((weight[counts] * values[counts]).sum()) / total if total else 0.0


def extent(simhash: int, simhash_before: int) -> float:
    """Return how much of a changed page is new, 0 to 1, as the hashes of its words tell: 1 - cos(pi d / 64).

    The cosine between two texts is the share of the runs of words that they have in common. The hash knows it to about
    0.1, and of a wholly new text it sees 0.92 on average. Where either has no words nothing is known, and all of it is
    taken for new.

    Examples
    --------
    >>> extent(0b1011, 0b1011), round(extent(0b1111, 0b1000), 3), extent(0, 0b1011)
    (0.0, 0.011, 1.0)
    """
    if not (simhash and simhash_before):
        return 1.0
    return min(1.0 - math.cos(math.pi * (simhash ^ simhash_before).bit_count() / 64), 1.0)


def replaced_by_resemblance(resemblance: float) -> float:
    """Return which part of a page is new where only its resemblance to what it was is known, its length being as then.

    Examples
    --------
    >>> replaced_by_resemblance(1 / 3)
    0.5
    """
    return (1.0 - resemblance) / (1.0 + resemblance)


SKETCH: Final = 128
"""Runs in a sketch, a kilobyte: it knows the resemblance to about 0.04."""


def resemblance(one: Keys, other: Keys) -> float:
    """Return which part of all runs two texts share, from 0 to 1; 1 for two empty ones.

    Examples
    --------
    >>> resemblance(np.array([1, 2, 3], np.uint64), np.array([2, 3, 4], np.uint64))
    0.5
    """
    shared = len(np.intersect1d(one, other, assume_unique=True))
    together = len(one) + len(other) - shared
    return shared / together if together else 1.0


def sketch(runs: Keys, size: int = SKETCH) -> Keys:
    """Return the smallest of the runs' hashes: a sample that is drawn alike from every text.

    Examples
    --------
    >>> sketch(np.array([1, 2, 3], np.uint64), 2)
    array([1, 2], dtype=uint64)
    """
    return runs[:size]


def resemblance_of_sketches(one: Keys, other: Keys, size: int = SKETCH) -> float:
    """Return about what `resemblance` says of the texts that two sketches are of.

    The smallest runs of both texts together are a fair sample of all their runs.

    Examples
    --------
    >>> resemblance_of_sketches(np.array([1, 2, 9], np.uint64), np.array([2, 3, 4], np.uint64), 3)
    0.3333333
    """
    sample = np.union1d(one, other)[:size]
    if not len(sample):
        return 1.0
    return float((np.isin(sample, one) & np.isin(sample, other)).mean())


_HALVINGS: Final = 200


_NEARLY: Final = -1 + 1e-16


_NEAREST: Final = 400.0  # as near to the quality, in the hyperbolic tangent, as a float can tell and much further


def surfed(quality: ArrayLike, first: ArrayLike, growth: ArrayLike, passed: ArrayLike) -> Floats:
    """Return the popularity after a time where visitors come as the page is popular: a logistic curve, (20) solved.

    Parameters
    ----------
    quality, first
        Q, and the popularity at the beginning, 0 < first <= Q.
    growth
        c, per unit of time.
    passed
        Units of time since.

    Examples
    --------
    >>> surfed(0.5, 0.25, 1.0, [0.0, 2.0, 1e9]).round(6)
    array([0.25    , 0.365529, 0.5     ])
    """
    q, p, c, t = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (quality, first, growth, passed)))
    return np.asarray(q / (1 + (q / p - 1) * np.exp(-c * q * t)))


def awareness(growth: ArrayLike, popularity_times: ArrayLike, first: ArrayLike = 0.0) -> Floats:
    """Return who knows the page, A = 1 - (1 - first) e^(-c int P): (19), for the integral of its popularity over time.

    Examples
    --------
    >>> awareness(1.0, [0.0, np.log(2.0)])
    array([0. , 0.5])
    """
    seen = np.asarray(growth, np.float64) * np.asarray(popularity_times, np.float64)
    return 1 - (1 - np.asarray(first, np.float64)) * np.exp(-seen)


def searched(quality: ArrayLike, first: ArrayLike, growth: ArrayLike, passed: ArrayLike) -> Floats:
    """Return the popularity after a time where people come through searches; parameters as for `surfed`.

    (22), (23): the time it takes to come from one popularity to another is known in closed form; here it is turned
    round, by halving, in y with P = Q tanh(y)^4, in which nothing is lost near the quality. A page that begins with
    popularity Q stays there.

    Raises
    ------
    ValueError
        Where `first` is not above 0, or above Q: no page of that quality ever was so popular.

    Examples
    --------
    >>> searched(0.5, 0.05, 1.0, [0.0, 10.0, 1e9]).round(6)
    array([0.05    , 0.056003, 0.5     ])
    """
    q, p, c, t = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (quality, first, growth, passed)))
    if not ((p > 0) & (p <= q)).all():
        raise ValueError("the popularity at the beginning must be above 0, and no more than the quality")
    level = p == q
    start = np.where(level, _NEAREST, np.arctanh(np.where(level, 0.0, p / q) ** 0.25))
    goal = c * t + _clock(start, q)
    low, high = start, np.full(q.shape, _NEAREST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        late = _clock(middle, q) > goal
        low, high = np.where(late, low, middle), np.where(late, middle, high)
    return np.where(level, q, q * np.tanh(low) ** 4)


def _clock(y: Floats, quality: Floats) -> Floats:
    """Return c t at which P = Q tanh(y)^4, up to a constant: the integral of dP / (P^(9/4) (Q - P)).

    With P = u^4 it is 4 du / (u^6 (Q - u^4)) = 4 (1 / (Q u^6) + 1 / (Q^2 u^2) + u^2 / (Q^2 (Q - u^4))) du.
    """
    root = quality**0.25
    u = root * np.tanh(y)
    return 4 * ((y - np.arctan(np.tanh(y))) / (2 * root) - 1 / u - quality / (5 * u**5)) / quality**2


def estimate_between(before: ArrayLike, after: ArrayLike, passed: ArrayLike, growth: ArrayLike) -> Floats:
    """Return the quality from two popularities far apart: exact where popularity is `surfed`, whatever time passed.

    ln P grows by c (Q - P), so (21) is the beginning of a series in the time between. Solved for the logistic curve
    through both points instead. Where popularity fell the nearest there is: the later popularity.

    Examples
    --------
    >>> estimate_between([0.25], surfed(0.5, 0.25, 1.0, 7.0), 7.0, 1.0).round(9)
    array([0.5])
    """
    p0, p1, t, c = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (before, after, passed, growth)))
    rising = (p1 > p0) & (p0 > 0)
    p0, p1 = np.where(rising, p0, 1.0), np.where(rising, p1, 2.0)
    low, high = p1, p1 + np.log(p1 / p0) / (c * t) + 1e-300  # P is below P1 throughout: so Q is below the latter
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        nearer = np.maximum((p0 - p1) / (middle - p0), _NEARLY)
        over = np.log(p1 / p0) - np.log1p(nearer) > c * middle * t  # c Q t = ln (P1 / P0 (Q - P0) / (Q - P1))
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.where(rising, high, np.asarray(after, np.float64))


def lasting_of(before: int, after: int, later: int, bits: int = 64) -> float:
    """Return what `lasting` says, about, by the similarity hashes of the three visits: cos(2, 3) - cos(1, 3).

    The cosine of two texts is the share of the runs of words that they have in common, so this is what the page and
    what it became have in common, less what was there before. It is not clipped, so that its mean over many changes is
    right: of one change it is off by 0.3 at times, and of what went to and fro it is below 0.

    Parameters
    ----------
    before, after, later
        Hashes at three visits, of which the last need not have found a change.
    bits
        How many of the low bits are compared.

    Examples
    --------
    All was replaced, and stays; then what is replaced each time:

    >>> lasting_of(0xFFFF0000, 0xFF00FF00, 0xFF00FF00, 32), lasting_of(0xFFFF0000, 0xFF00FF00, 0xF0F0F0F0, 32)
    (1.0, 0.0)

    References
    ----------
    Charikar (2002). Similarity Estimation Techniques from Rounding Algorithms. Olston, Pandey (2008).
    """
    mask = (1 << bits) - 1
    here, there = (math.cos(math.pi * ((one ^ later) & mask).bit_count() / bits) for one in (after, before))
    return here - there
