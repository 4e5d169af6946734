"""Whether the changes of a page come together in time, and those of a site in batches.

Were a page to change at random moments, a change would say nothing of the next. As in `locality` every comparison is
with what chance would make of the same counts, page by page, so that a page that changes much is not taken for a burst.

References
----------
Wald, Wolfowitz (1940). On a test whether two samples are from the same population: runs in a random order.
Goh, Barabasi (2008). Burstiness and memory in complex systems.
"""

import numpy as np

from evercrawl.change.locality import Clustering, compared
from evercrawl.types import Floats, Ints


def in_time(changes: Ints, bins: Ints, following: Ints) -> Clustering:
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
    return compared(seen, float((k * (k - 1) / m).sum()), float(variance.sum()))


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
