"""Exact freshness of a crawl's copies, from the times of its requests and of the pages' changes, without sampling."""

from collections.abc import Sequence

import numpy as np

from evercrawl.types import Floats


def fresh_s(asked: Floats, changes: Floats, start: float, end: float) -> float:
    """Return how long between `start` and `end` the copy of one page equals the page, in seconds.

    Parameters
    ----------
    asked
        Instants at which the page was fetched (or reported unchanged), in order.
    changes
        Instants at which it changed, in order.

    Examples
    --------
    Fetched at 1 and 5, changed at 4 and 9: fresh from 1 to 4 and from 5 to 9.

    >>> fresh_s(np.array([1.0, 5.0]), np.array([4.0, 9.0]), 0.0, 10.0)
    7.0
    """
    if not len(asked):
        return 0.0
    stale_at = np.append(changes, np.inf)[np.searchsorted(changes, asked, side="right")]
    until = np.minimum(stale_at, np.append(asked[1:], np.inf))
    return float(np.maximum(np.minimum(until, end) - np.maximum(asked, start), 0.0).sum())


def weighted(asked: Sequence[Floats], changes: Sequence[Floats], weights: Floats, start: float, end: float) -> float:
    """Return the mean freshness over time and pages, weighted.

    Parameters
    ----------
    asked, changes
        Of each page, as for `fresh_s`.
    weights
        Of each page, shape (n,).

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for Web crawlers.
    """
    fresh = [
        fresh_s(of, changed, start, end) if weight else 0.0
        for of, changed, weight in zip(asked, changes, weights.tolist(), strict=True)
    ]
    return float(np.dot(weights, fresh) / (weights.sum() * (end - start)))
