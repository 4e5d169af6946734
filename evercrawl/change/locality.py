"""Tests whether the pages of a site or folder change together.

A group contains pages that could change together, such as those of one folder in one week. If pages change
independently, a changed page carries no information about its neighbours; then the statistics here are 1, or 0 where
they count standard errors. Each statistic is compared with its expectation for the same counts at random, so that
frequent changes alone do not count as clustering. `bursts` does the same in time.

References
----------
Donner (1986). A review of inference procedures for the intraclass correlation coefficient.
"""

import math
from typing import NamedTuple

import numpy as np

from evercrawl.types import Floats, Ints


class Clustering(NamedTuple):
    """The frequency of joint changes relative to chance.

    Attributes
    ----------
    lift
        Ratio of the observed to the expected number: 1 by chance; nan if nothing could come together.
    errors
        Excess of the observed number, in standard errors; nan if chance leaves no variance.
    """

    lift: float
    errors: float


def correlation(counts: Ints, changed: Ints) -> float:
    """Return the similarity of the pages of a group, from 0 to 1: the intraclass correlation of being changed.

    Parameters
    ----------
    counts, changed
        Number of observed pages of each group, and of those that changed; shape (groups,).

    Returns
    -------
    float
        0 (or, by chance, slightly less) if a change carries no information about others in the group, 1 if all pages of
        a group change or none; nan without a group of two, or without any variance.

    Examples
    --------
    >>> correlation(np.array([2, 2]), np.array([2, 0]))
    1.0
    """
    pages, sums = _floats(counts, changed)
    n, k = float(pages.sum()), len(pages)
    mean = float(sums.sum()) / n if n else 0.0
    if n <= k or not 0.0 < mean < 1.0:
        return math.nan
    if k == 1:
        return 0.0
    size = (n - float((pages**2).sum()) / n) / (k - 1)
    between = float((pages * (sums / pages - mean) ** 2).sum()) / (k - 1)
    within = float((sums * (1.0 - sums / pages)).sum()) / (n - k)
    return (between - within) / (between + (size - 1.0) * within)


def in_groups(counts: Ints, changed: Ints) -> Clustering:
    """Return how many pairs of changes fall into one group, relative to a random distribution of the same changes.

    Parameters
    ----------
    counts, changed
        As for `correlation`.

    Examples
    --------
    Two of four pages changed, on one of two sites: one pair falls into one group, where a third is expected.

    >>> in_groups(np.array([2, 2]), np.array([2, 0])).lift
    3.0
    """
    pages, sums = _floats(counts, changed)
    n, changes = float(pages.sum()), float(sums.sum())
    seen, pairs = float((sums * (sums - 1)).sum()) / 2, float((pages * (pages - 1)).sum()) / 2
    expected = pairs * _likely(changes, n, 2)
    return compared(seen, expected, _variance_of_pairs(pages, n, changes) - expected**2)


def _variance_of_pairs(counts: Floats, n: float, changes: float) -> float:
    """Return the mean square of the number of pairs within a group, for changes drawn at random."""
    one, two_more = float(_falling(counts, 2).sum()) / 2, float(_falling(counts, 3).sum())
    two, three, four = (_likely(changes, n, order) for order in (2, 3, 4))
    apart = one * one - one - two_more  # ordered pairs of pairs without a common page; those with one: `two_more`
    return two * one + three * two_more + four * apart


def _floats(counts: Ints, changed: Ints) -> tuple[Floats, Floats]:
    """Return the pages and changes of each non-empty group."""
    there = counts > 0
    return counts[there].astype(np.float64), changed[there].astype(np.float64)


def _falling(of: Floats, order: int) -> Floats:
    """Return the falling factorial x (x - 1) ... of the given order."""
    found = np.ones(of.shape)
    for step in range(order):
        found = found * (of - step)
    return found


def _likely(changes: float, n: float, order: int) -> float:
    """Return the probability that `order` given pages of n are all among those that changed."""
    both = _falling(np.array([changes, n]), order)
    return float(both[0] / max(both[1], 1.0)) if n >= order else 0.0


def compared(seen: float, expected: float, variance: float) -> Clustering:
    """Return the comparison of an observed number with its mean and variance by chance."""
    lift = seen / expected if expected > 0 else math.nan
    certain = variance <= 1e-12 * (1.0 + expected * expected)
    return Clustering(lift, math.nan if certain else (seen - expected) / math.sqrt(variance))
