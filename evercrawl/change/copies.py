"""Freshness and age of a copy, from the record of its page's changes and visits.

References
----------
Cho, Garcia-Molina (2000). Synchronizing a database to improve freshness; Meng, Wang, Yan (2006), (3)-(6).
"""

import numpy as np

from evercrawl.types import Floats


def first_missed(changes_at: Floats, visits_at: Floats, at: Floats) -> Floats:
    """Return the first change after the last visit before each instant; infinity if it is still to come.

    Parameters
    ----------
    changes_at, visits_at
        Instants in ascending order, shape (n,) and (m,). If a change and a visit coincide, the visit saw the change.
    at
        Instants of interest, none before the first visit, shape (k,).

    Examples
    --------
    >>> first_missed(np.array([1.0, 2.0]), np.array([0.0, 3.0]), np.array([2.5, 3.5]))
    array([ 1., inf])
    """
    seen_at = visits_at[np.searchsorted(visits_at, at, side="right") - 1]
    return np.append(changes_at, np.inf)[np.searchsorted(changes_at, seen_at, side="right")]


def over_time(changes_at: Floats, visits_at: Floats, end_at: float) -> tuple[float, float]:
    """Return the mean freshness and the mean age of the copy from the first visit to the end: (6), exactly.

    Examples
    --------
    The copy is fresh for 1 of 3 s, then up to 2 s old, then fresh for 1 s:

    >>> over_time(np.array([1.0, 2.0]), np.array([0.0, 3.0]), 4.0)
    (0.5, 0.5)
    """
    visits_at = visits_at[visits_at < end_at]
    until = np.append(visits_at[1:], end_at)
    stale_s = np.maximum(until - first_missed(changes_at, visits_at, visits_at), 0.0)
    span_s = end_at - visits_at[0]
    return float(1.0 - stale_s.sum() / span_s), float((0.5 * stale_s**2).sum() / span_s)
