"""Tests whether the changes of a page cluster in time, and those of a site in batches.

If a page changes at random moments, a change carries no information about the next. As in `locality`, each statistic is
compared with its expectation for the same counts in random order, page by page, so that frequent changes alone do not
count as a burst.

References
----------
Wald, Wolfowitz (1940). On a test whether two samples are from the same population: runs in a random order.
Goh, Barabasi (2008). Burstiness and memory in complex systems.
"""

import numpy as np

from evercrawl.change.locality import Clustering, compared
from evercrawl.types import Floats, Ints


def in_time(changes: Ints, bins: Ints, following: Ints) -> Clustering:
    """Return how often a change directly follows another, relative to a random order.

    Parameters
    ----------
    changes
        Number of time bins (such as weeks) in which each page changed, shape (n,).
    bins
        Number of bins in which it was observed, shape (n,).
    following
        Number of bins with a change directly after a bin with a change, shape (n,).

    Examples
    --------
    Changes in weeks 1, 2 and 3 of nine: two follow directly, where 3 x 2 / 9 are expected.

    >>> in_time(np.array([3]), np.array([9]), np.array([2])).lift
    3.0
    """
    k, m = (np.asarray(of, np.float64) for of in (changes, bins))
    watched = m > 1
    k, m, seen = k[watched], m[watched], float(np.asarray(following)[watched].sum())
    variance = k * (k - 1) * (m - k) * (m - k + 1) / (m * m * (m - 1))  # of the number of runs
    return compared(seen, float((k * (k - 1) / m).sum()), float(variance.sum()))


def binned(page: Ints, at: Floats, width_s: float, began_at: Floats, ended_at: Floats) -> tuple[Ints, Ints, Ints]:
    """Return the arguments of `in_time` from a record of changes: changes, bins and following, of shape (pages,).

    Parameters
    ----------
    page, at
        Page and time of each change; shape (n,).
    width_s
        Length of a bin, in seconds.
    began_at, ended_at
        Start and end of the observation of each page, shape (pages,); only complete bins count.

    Examples
    --------
    >>> binned(np.array([0, 0, 0]), np.array([0.5, 1.5, 3.5]), 1.0, np.zeros(1), np.array([4.2]))
    (array([3]), array([4]), array([1]))
    """
    pages = len(began_at)
    bins = np.maximum((ended_at - began_at) // width_s, 0.0).astype(np.int64)
    place = np.floor((at - began_at[page]) / width_s).astype(np.int64)
    inside = (place >= 0) & (place < bins[page])
    stride = int(bins.max(initial=0)) + 2  # separates the last bin of a page from the first of the next page
    cells = np.unique(page[inside] * stride + place[inside])
    follows = cells[1:][np.diff(cells) == 1]
    return np.bincount(cells // stride, minlength=pages), bins, np.bincount(follows // stride, minlength=pages)
