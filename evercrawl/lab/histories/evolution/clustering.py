"""Clustering of changes: in time, in batches, on a few pages, and persistence of activity.

Also rank correlation.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.bursts import binned, in_time
from evercrawl.lab.histories.evolution.changed import RecordedChanges
from evercrawl.lab.histories.evolution.lives import WEEK_S, Lives
from evercrawl.types import Floats

Flags = NDArray[np.bool_]


def ranks(of: NDArray[Any]) -> Floats:
    """Return the rank of each value in ascending order, from 1; ties share their mean rank.

    Examples
    --------
    >>> ranks(np.array([7, 3, 7]))
    array([2.5, 1. , 2.5])
    """
    _, number, count = np.unique(of, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[number], np.float64)


def rank_correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return Spearman's rho of two lists, shape (n,): 1 for the same order, -1 for the opposite; nan if one is flat.

    Examples
    --------
    >>> round(rank_correlation(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3])), 3)
    0.8
    """
    x, y = (of - of.mean() if len(of) else of for of in (ranks(a), ranks(b)))
    spread = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return float((x * y).sum()) / spread if spread > 0 else math.nan


BATCH: Final = 10
"""Minimum number of pages of a site that change at one instant to count as a batch."""
_TENTH: Final = 0.1
_HALVES_S: Final = 8 * WEEK_S  # minimum length of a life whose halves are compared


class ClusteredChanges(NamedTuple):
    """Measures of the clustering of changes; nan if undefined.

    Attributes
    ----------
    weekly_lift
        Probability that a week with a change is followed by another one on the same page, relative to a random order of
        the same weeks; for pages with every change on record, or visited twice a week.
    weekly_errors
        Excess over chance, in standard errors.
    in_batches
        Share of the changes at instants at which at least `BATCH` pages of the site changed.
    busiest_tenth
        Share of the changes made by the most active tenth of the pages.
    halves
        Rank correlation of the pages' changes in the first and the second half of the time observed.
    """

    weekly_lift: float
    weekly_errors: float
    in_batches: float
    busiest_tenth: float
    halves: float


def together(lives: Lives, changes: RecordedChanges, counts: Floats, dense: Flags) -> ClusteredChanges:
    """Return the clustering of the changes of some pages.

    Parameters
    ----------
    lives, changes
        The lives and the changes of the pages.
    counts
        Number of changes of each page, shape (pages,).
    dense
        Whether each life was visited often enough to tell weeks with a change from others, shape (lives,).
    """
    weekly = binned(changes.life, changes.at, WEEK_S, lives.began_at, lives.ended_at)
    weeks = in_time(*(column[dense] for column in weekly))
    batches = float((changes.batch >= BATCH).mean()) if len(changes.at) else math.nan
    return ClusteredChanges(*weeks, batches, busiest(counts), halves(lives, changes))


def busiest(counts: Floats, share: float = _TENTH) -> float:
    """Return the share of all changes that the busiest `share` of the pages makes; the last page counts in part.

    Examples
    --------
    >>> busiest(np.array([0.0, 1.0, 3.0, 0.0]), 0.25)
    0.75
    """
    total = float(counts.sum())
    if not total:
        return math.nan
    most = np.concatenate([[0.0], np.cumsum(np.sort(counts)[::-1])])
    return float(np.interp(share * len(counts), np.arange(len(most)), most)) / total


def halves(lives: Lives, changes: RecordedChanges) -> float:
    """Return the rank correlation of changes in the first and the second half of each life."""
    middle = (lives.began_at + lives.ended_at) / 2
    late = changes.at > middle[changes.life]
    first, second = (np.bincount(changes.life[of], minlength=len(middle)) for of in (~late, late))
    long = lives.ended_at - lives.began_at >= _HALVES_S
    return rank_correlation(first[long], second[long])
