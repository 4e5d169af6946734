"""Whether the pages of a site or folder change together.

A group is what could change together: the pages of one folder in one week, say. Were each page to change by itself, a
page that changed would say nothing of its neighbours; then the numbers here are 1, or 0 where they count standard
errors. Every comparison is with what chance would make of the very same counts, so that much change does not by itself
look as if changes came together. See `bursts` for the same in time.

References
----------
Donner (1986). A review of inference procedures for the intraclass correlation coefficient.
"""

import math
from typing import NamedTuple

import numpy as np

from evercrawl.types import Floats, Ints


class Clustering(NamedTuple):
    """How much more often than by chance changes come together.

    Attributes
    ----------
    lift
        Seen over expected: 1 by chance; nan where nothing could come together.
    errors
        By how many standard errors more was seen than expected; nan where chance leaves no room.
    """

    lift: float
    errors: float


def correlation(counts: Ints, changed: Ints) -> float:
    """Return how alike the pages of a group are, from 0 to 1: the correlation of changed or not within groups.

    Parameters
    ----------
    counts, changed
        Of each group: pages that were watched, and those of them that changed; shape (groups,).

    Returns
    -------
    float
        0 where a change says nothing of others in the group (or, by chance, a little less), 1 where all of a group
        change or none; nan where there is no group of two, or no difference at all.

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
    """Return how many pairs of changes fall into one group, over how many would if the same changes fell at random.

    Parameters
    ----------
    counts, changed
        As for `correlation`.

    Examples
    --------
    Two of four pages changed, on one of two sites: one pair in one group, where a third is expected.

    >>> in_groups(np.array([2, 2]), np.array([2, 0])).lift
    3.0
    """
    pages, sums = _floats(counts, changed)
    n, changes = float(pages.sum()), float(sums.sum())
    seen, pairs = float((sums * (sums - 1)).sum()) / 2, float((pages * (pages - 1)).sum()) / 2
    expected = pairs * _likely(changes, n, 2)
    return compared(seen, expected, _variance_of_pairs(pages, n, changes) - expected**2)


def _variance_of_pairs(counts: Floats, n: float, changes: float) -> float:
    """Return the mean square of how many pairs of so many pages, drawn at random, are each within one group."""
    one, two_more = float(_falling(counts, 2).sum()) / 2, float(_falling(counts, 3).sum())
    two, three, four = (_likely(changes, n, order) for order in (2, 3, 4))
    apart = one * one - one - two_more  # ordered pairs of pairs that share no page; those that share one: `two_more`
    return two * one + three * two_more + four * apart


def _floats(counts: Ints, changed: Ints) -> tuple[Floats, Floats]:
    """Return the pages and the changes of each group that has any page."""
    there = counts > 0
    return counts[there].astype(np.float64), changed[there].astype(np.float64)


def _falling(of: Floats, order: int) -> Floats:
    """Return x (x - 1) ... of so many factors."""
    found = np.ones(of.shape)
    for step in range(order):
        found = found * (of - step)
    return found


def _likely(changes: float, n: float, order: int) -> float:
    """Return the probability that so many given pages of n are all among those that changed."""
    both = _falling(np.array([changes, n]), order)
    return float(both[0] / max(both[1], 1.0)) if n >= order else 0.0


def compared(seen: float, expected: float, variance: float) -> Clustering:
    """Return how what was seen compares with what chance makes of it, by its mean and variance."""
    lift = seen / expected if expected > 0 else math.nan
    certain = variance <= 1e-12 * (1.0 + expected * expected)
    return Clustering(lift, math.nan if certain else (seen - expected) / math.sqrt(variance))
