"""Expected freshness and age of a copy of a page that changes at random moments (a Poisson process).

A copy is *fresh* as long as its page has not changed since the visit; then its *age* is 0. Otherwise its age is the
time since the first change that it misses. Rates of change and of visits are per second, times in seconds; any other
unit can be used consistently.

References
----------
Cho, Garcia-Molina (2000). Synchronizing a database to improve freshness. Meng, Wang, Yan (2006), (1)-(8), table 1; (4)
says "last update", which contradicts (8): it is the first since the visit.
"""

import math
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.types import Floats

Order: TypeAlias = Literal["fixed", "random_order", "purely_random"]
"""Orders of visits: at a fixed interval; once in every cycle at a random moment (the pages in a new random order each
time); at random moments (a Poisson process)."""
ORDERS: Final[tuple[Order, ...]] = ("fixed", "random_order", "purely_random")
_NEAR: Final = 1.0  # below it, differences of nearly equal numbers are computed as series
_TERMS: Final = 20


def age_after(lam: ArrayLike, passed_s: ArrayLike) -> Floats:
    """Return the expected age of a copy at a time after the visit: t (1 - (1 - e^(-lam t)) / (lam t)), (8).

    Examples
    --------
    >>> age_after(1.0, [0.0, 1.0, 1e-9]).round(21)
    array([0.00000000e+00, 3.67879441e-01, 5.00000000e-19])
    """
    x = _product(lam, passed_s)
    return x * np.asarray(passed_s, np.float64) * _tails(x).second


def mean_freshness(lam: ArrayLike, rate: ArrayLike, order: Order = "fixed") -> Floats:
    """Return the fraction of time for which a copy is fresh, F, by table 1.

    Parameters
    ----------
    lam, rate
        Changes and visits per second. Without visits, a copy is always fresh if its page never changes, else never.
    order
        The order of visits.

    Examples
    --------
    >>> [mean_freshness(1.0, 1.0, order).round(4).item() for order in ORDERS]
    [0.6321, 0.6004, 0.5]
    """
    lam, rate = np.broadcast_arrays(np.asarray(lam, np.float64), np.asarray(rate, np.float64))
    r = _changes_a_visit(lam, rate)
    tails = _tails(r)
    if order == "fixed":
        found = tails.first
    elif order == "random_order":
        found = tails.second * (1 + tails.first)
    else:
        found = 1 / (1 + r)
    return np.asarray(found)


def mean_age(lam: ArrayLike, rate: ArrayLike, order: Order = "fixed") -> Floats:
    """Return the mean age of a copy over time, A, in seconds, by table 1; infinity without visits.

    Examples
    --------
    >>> [mean_age(1.0, 1.0, order).round(4).item() for order in ORDERS]
    [0.1321, 0.1838, 0.5]
    """
    lam, rate = np.broadcast_arrays(np.asarray(lam, np.float64), np.asarray(rate, np.float64))
    r, visited = _changes_a_visit(lam, rate), rate > 0
    tails = _tails(r)
    if order == "fixed":
        found = tails.third
    elif order == "random_order":
        found = 2 * tails.fourth + tails.third - tails.third**2
    else:
        found = 1 - 1 / (1 + r)
    return np.where(visited, found / np.where(visited, rate, 1.0), np.where(lam > 0, np.inf, 0.0))


def _product(lam: ArrayLike, passed_s: ArrayLike) -> Floats:
    return np.asarray(np.asarray(lam, np.float64) * np.asarray(passed_s, np.float64))


class _Tails(NamedTuple):
    """Remainders of 1 - e^-r after repeatedly subtracting the first term of its series and dividing by r.

    first (1 - e^-r) / r, second (1 - first) / r, third 1/2 - second, fourth 1/6 - third / r; at 0: 1, 1/2, 0 and 0.
    """

    first: Floats
    second: Floats
    third: Floats
    fourth: Floats


def _tails(r: Floats) -> _Tails:
    near, far = np.minimum(r, _NEAR), np.maximum(r, _NEAR)
    third, fourth = np.zeros(r.shape), np.zeros(r.shape)
    for k in range(_TERMS, 0, -1):  # sum of (-1)^(k+1) r^k / (k+2)! and / (k+3)!
        third = near * (1 / math.factorial(k + 2) - third)
        fourth = near * (1 / math.factorial(k + 3) - fourth)
    first = -np.expm1(-far) / far
    second = (1 - first) / far
    third = np.where(r < _NEAR, third, 0.5 - second)
    fourth = np.where(r < _NEAR, fourth, 1 / 6 - third / far)
    first = np.where(r < _NEAR, 1 - near * (0.5 - third), first)
    return _Tails(first, 0.5 - third, third, fourth)


def _changes_a_visit(lam: Floats, rate: Floats) -> Floats:
    """Return r = lam / f; infinity for a changing page that is never visited, 0 for one that never changes."""
    changes = lam > 0
    with np.errstate(over="ignore", divide="ignore"):
        r = np.where(changes, lam, 0.0) / np.where(changes, np.maximum(rate, 0.0), 1.0)
    return np.asarray(r)
