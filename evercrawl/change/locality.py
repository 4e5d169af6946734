"""Whether changes come together: on the pages of a site or folder, in time on one page, in batches on many.

Were each page to change at random moments of its own, a page that changed would say nothing of its neighbours, and a
change nothing of the next; then the numbers here are 1, or 0 where they count standard errors. Every comparison is with
what chance would make of the very same counts, so that pages and sites that change much do not by that alone look as if
changes came together.

References
----------
Donner (1986), for the correlation within groups. Wald, Wolfowitz (1940), for runs in a random order. Goh, Barabasi
(2008). Burstiness and memory in complex systems.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from evercrawl.change.base import Flags
    from evercrawl.types import Floats, Ints


class Together(NamedTuple):
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


def correlation(group: Ints, changed: Flags) -> float:
    """Return how alike the pages of a group are, from 0 to 1: the correlation of changed or not within groups.

    Parameters
    ----------
    group, changed
        Of each visit: number of its site, or of its folder; and whether it found a change; shape (n,).

    Returns
    -------
    float
        0 where a change says nothing of others in the group (or, by chance, a little less), 1 where all of a group
        change or none; nan where there is no group of two, or no difference at all.

    Examples
    --------
    >>> correlation(np.array([0, 0, 1, 1]), np.array([True, True, False, False]))
    1.0
    """
    counts, sums = _counted(group, changed)
    n, k = float(counts.sum()), len(counts)
    mean = float(sums.sum()) / n if n else 0.0
    if n <= k or not 0.0 < mean < 1.0:
        return math.nan
    if k == 1:
        return 0.0
    size = (n - float((counts**2).sum()) / n) / (k - 1)
    between = float((counts * (sums / counts - mean) ** 2).sum()) / (k - 1)
    within = float((sums * (1.0 - sums / counts)).sum()) / (n - k)
    return (between - within) / (between + (size - 1.0) * within)


def in_groups(group: Ints, changed: Flags) -> Together:
    """Return how many pairs of changes fall into one group, over how many would if the same changes fell at random.

    Parameters
    ----------
    group, changed
        As for `correlation`.

    Examples
    --------
    Two of four pages changed, on one of two sites: one pair in one group, where a third is expected.

    >>> in_groups(np.array([0, 0, 1, 1]), np.array([True, True, False, False])).lift
    3.0
    """
    counts, sums = _counted(group, changed)
    n, changes = float(counts.sum()), float(sums.sum())
    seen, pairs = float((sums * (sums - 1)).sum()) / 2, float((counts * (counts - 1)).sum()) / 2
    expected = pairs * _likely(changes, n, 2)
    return _compared(seen, expected, _variance_of_pairs(counts, n, changes) - expected**2)


def _variance_of_pairs(counts: Floats, n: float, changes: float) -> float:
    """Return the mean square of how many pairs of so many pages, drawn at random, are each within one group."""
    one, two_more = float(_falling(counts, 2).sum()) / 2, float(_falling(counts, 3).sum())
    two, three, four = (_likely(changes, n, order) for order in (2, 3, 4))
    apart = one * one - one - two_more  # ordered pairs of pairs that share no page; those that share one: `two_more`
    return two * one + three * two_more + four * apart


def in_time(changes: Ints, bins: Ints, following: Ints) -> Together:
    """Return how often a change is followed by another at once, over how often that would be in a random order.

    Parameters
    ----------
    changes
        Of each page: bins of time (say weeks) in which it changed, shape (n,).
    bins
        Bins in which it was watched, shape (n,).
    following
        Bins with a change right after one with a change, shape (n,).

    Examples
    --------
    Changed in weeks 1, 2 and 3 of nine: two follow, where 3 x 2 / 9 are expected.

    >>> in_time(np.array([3]), np.array([9]), np.array([2])).lift
    3.0
    """
    k, m = (np.asarray(of, np.float64) for of in (changes, bins))
    watched = m > 1
    k, m, seen = k[watched], m[watched], float(np.asarray(following)[watched].sum())
    variance = k * (k - 1) * (m - k) * (m - k + 1) / (m * m * (m - 1))  # of the number of runs
    return _compared(seen, float((k * (k - 1) / m).sum()), float(variance.sum()))


def binned(page: Ints, at: Floats, width_s: float, began_at: Floats, ended_at: Floats) -> tuple[Ints, Ints, Ints]:
    """Return what `in_time` asks, from a record of changes: changes, bins and following, each of shape (pages,).

    Parameters
    ----------
    page, at
        Of each change: which page, and when; shape (n,).
    width_s
        Length of a bin.
    began_at, ended_at
        Between which instants each page was watched, shape (pages,); only whole bins count.

    Examples
    --------
    >>> binned(np.array([0, 0, 0]), np.array([0.5, 1.5, 3.5]), 1.0, np.zeros(1), np.array([4.2]))
    (array([3]), array([4]), array([1]))
    """
    pages = len(began_at)
    bins = np.maximum((ended_at - began_at) // width_s, 0.0).astype(np.int64)
    place = np.floor((at - began_at[page]) / width_s).astype(np.int64)
    inside = (place >= 0) & (place < bins[page])
    stride = int(bins.max(initial=0)) + 2  # so that the last bin of a page is not next to the first of the following
    cells = np.unique(page[inside] * stride + place[inside])
    follows = cells[1:][np.diff(cells) == 1]
    return np.bincount(cells // stride, minlength=pages), bins, np.bincount(follows // stride, minlength=pages)


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


def _counted(group: Ints, changed: Flags) -> tuple[Floats, Floats]:
    """Return the visits and the changes of each group that has any."""
    number = np.unique(group, return_inverse=True)[1]
    counts = np.bincount(number).astype(np.float64)
    sums = np.bincount(number, changed.astype(np.float64), len(counts))
    return counts, sums.astype(np.float64)


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


def _compared(seen: float, expected: float, variance: float) -> Together:
    lift = seen / expected if expected > 0 else math.nan
    certain = variance <= 1e-12 * (1.0 + expected * expected)
    return Together(lift, math.nan if certain else (seen - expected) / math.sqrt(variance))
