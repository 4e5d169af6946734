"""The best that any schedule can do when all rates of change are known: the yardstick.

Pages change at random moments (Poisson) at rate lam, matter w, and are visited evenly, f times a second, for uneven
visits earn less. The problem max sum w F(f, lam), F = (f / lam) (1 - e^(-lam / f)), with sum f = budget, has one
multiplier, the price P, and each page for itself solves h(x) = P lam / w, where x = lam / f, h(x) = 1 - e^-x (1 + x).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from evercrawl.types import Floats

_SMALL: Final = 0.02  # below it h is taken as a series
_HALVINGS: Final = 60


class Allocation(NamedTuple):
    """The optimum.

    Attributes
    ----------
    price
        P: what one more visit a second would add to `value`.
    rate
        f of each page, visits a second; 0 for those that are not worth any.
    value
        sum w F: divided by sum w, the mean probability that a copy is fresh, weighted.
    """

    price: float
    rate: Floats
    value: float


def h(x: ArrayLike) -> Floats:
    """Return 1 - e^-x (1 + x), from 0 at 0 to 1 at infinity.

    Examples
    --------
    >>> h([0.0, 1.0, np.inf]).round(6)
    array([0.      , 0.264241, 1.      ])
    """
    x = np.asarray(x, np.float64)
    few = np.minimum(x, 1.0)
    series = few**2 * (1 / 2 - few * (1 / 3 - few * (1 / 8 - few * (1 / 30 - few * (1 / 144 - few / 840)))))
    many = np.minimum(x, 700.0)
    found: Floats = np.where(x < _SMALL, series, -np.expm1(-many) - many * np.exp(-many))
    return found


def interval(level: ArrayLike) -> Floats:
    """Return x with h(x) = `level`; infinity for levels from 1 on.

    Examples
    --------
    >>> interval(h([0.001, 1.0, 20.0])).round(9)
    array([1.e-03, 1.e+00, 2.e+01])
    """
    level = np.asarray(level, np.float64)
    y = np.clip(level, 1e-300, 1 - 1e-16)
    low, high = np.zeros(y.shape), np.full(y.shape, 50.0)
    x = np.minimum(np.sqrt(2 * y) * (1 + np.sqrt(2 * y) / 3), 40.0)
    for _ in range(60):  # Halley's steps on h(x) - y; h' = x e^-x, h'' = (1 - x) e^-x
        off = h(x) - y
        low, high = np.where(off < 0, x, low), np.where(off < 0, high, x)
        slope = x * np.exp(-x)
        following = x - 2 * off * slope / np.maximum(2 * slope**2 - off * (1 - x) * np.exp(-x), 1e-300)
        inside = (following > low) & (following < high)
        following = np.where(inside, following, (low + high) / 2)
        done = np.abs(following - x) <= 1e-15 * x
        x = following
        if done.all():
            break
    return np.where(level >= 1, np.inf, x)


def freshness(rate: ArrayLike, lam: ArrayLike) -> Floats:
    """Return F, the part of the time that a page visited evenly at `rate` and changing at `lam` is fresh.

    Examples
    --------
    >>> freshness([0.0, 1.0], 1.0).round(6)
    array([0.      , 0.632121])
    """
    rate, lam = np.broadcast_arrays(np.asarray(rate, np.float64), np.asarray(lam, np.float64))
    visited = rate > 0
    r = np.where(visited, lam, 1.0) / np.where(visited, rate, 1.0)
    still = lam == 0
    fresh = np.where(still, 1.0, -np.expm1(-r) / np.where(r == 0, 1.0, r))
    return np.where(visited, fresh, np.where(still, 1.0, 0.0))


def rates_at(price: float, weight: ArrayLike, lam: ArrayLike) -> Floats:
    """Return how often each page is visited in the optimum in which a visit costs `price`.

    Examples
    --------
    The second page changes too often to be worth it:

    >>> rates_at(0.5, [1.0, 1.0], [0.1, 4.0]).round(4)
    array([0.2814, 0.    ])
    """
    weight, lam = np.broadcast_arrays(np.asarray(weight, np.float64), np.asarray(lam, np.float64))
    moving = (lam > 0) & (weight > 0)
    level = np.where(moving, price * lam / np.where(weight > 0, weight, 1.0), 1.0)
    return np.where(moving, lam / interval(level), 0.0)


def optimum(weight: ArrayLike, lam: ArrayLike, budget: float) -> Allocation:
    """Return the best allocation of `budget` visits a second to pages of known weight and rate of change.

    Parameters
    ----------
    weight, lam
        w and the rate of change of each page, shape (n,); at least one page matters and changes.
    budget
        Visits a second, above 0.

    Examples
    --------
    >>> found = optimum([1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0], 5.0)
    >>> found.rate.round(2)
    array([1.15, 1.36, 1.35, 1.14, 0.  ])

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, section 4; weights: section 6.
    """
    weight, lam = np.asarray(weight, np.float64), np.asarray(lam, np.float64)
    assert budget > 0, "there is something to allocate"
    moving = (lam > 0) & (weight > 0)
    assert moving.any(), "there is a page to allocate it to"
    high = float(np.log((weight[moving] / lam[moving]).max()))
    low = high - 1.0
    while rates_at(float(np.exp(low)), weight, lam).sum() < budget:
        low -= 2 * (high - low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rates_at(float(np.exp(middle)), weight, lam).sum() > budget:
            low = middle
        else:
            high = middle
    more, less = (rates_at(float(np.exp(end)), weight, lam) for end in (low, high))
    if less.sum() > budget:  # so small that no price can be told from that at which nothing is visited
        less = np.zeros(len(less))
    over = float(more.sum() - less.sum())  # prices so near to each other differ only where a page is hardly worth it
    rate = less + (more - less) * ((budget - less.sum()) / over if over > 0 else 0.0)
    return Allocation(float(np.exp((low + high) / 2)), rate, float((weight * freshness(rate, lam)).sum()))
