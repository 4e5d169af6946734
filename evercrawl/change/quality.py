"""What a page is worth to those who see it, from how fast its popularity grows: quality is where popularity will end.

Popularity P is the share of people who like the page: those who know it, A, times the part of these who like it, the
quality Q. Who looks at the page makes others know it. So where P draws visitors in proportion (`surfed`), P grows as
dP/dt = c P (Q - P), c = r v / n; where people come through a search engine that ranks by popularity (`searched`), with
visits as P^(9/4), as dP/dt = c P^(9/4) (Q - P), and a good new page waits for very long. Time is in whatever unit c is.

References
----------
Cho, Roy (2004). Impact of search engines on page popularity. Cho, Roy, Adams (2005). Page quality: in search of an
unbiased web ranking. Meng, Wang, Yan (2006), (18)-(23), whose (19) lost a sign and (21) its differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from evercrawl.types import Floats

_HALVINGS: Final = 200
_NEARLY: Final = -1 + 1e-16
_NEAREST: Final = 400.0  # as near to the quality, in the hyperbolic tangent, as a float can tell and much further


def surfed(quality: ArrayLike, first: ArrayLike, growth: ArrayLike, passed: ArrayLike) -> Floats:
    """Return the popularity after a time where visitors come as the page is popular: a logistic curve, (20) solved.

    Parameters
    ----------
    quality, first
        Q, and the popularity at the beginning, 0 < first <= Q.
    growth
        c, per unit of time.
    passed
        Units of time since.

    Examples
    --------
    >>> surfed(0.5, 0.25, 1.0, [0.0, 2.0, 1e9]).round(6)
    array([0.25    , 0.365529, 0.5     ])
    """
    q, p, c, t = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (quality, first, growth, passed)))
    return np.asarray(q / (1 + (q / p - 1) * np.exp(-c * q * t)))


def awareness(growth: ArrayLike, popularity_times: ArrayLike, first: ArrayLike = 0.0) -> Floats:
    """Return who knows the page, A = 1 - (1 - first) e^(-c int P): (19), for the integral of its popularity over time.

    Examples
    --------
    >>> awareness(1.0, [0.0, np.log(2.0)])
    array([0. , 0.5])
    """
    seen = np.asarray(growth, np.float64) * np.asarray(popularity_times, np.float64)
    return 1 - (1 - np.asarray(first, np.float64)) * np.exp(-seen)


def searched(quality: ArrayLike, first: ArrayLike, growth: ArrayLike, passed: ArrayLike) -> Floats:
    """Return the popularity after a time where people come through searches; parameters as for `surfed`.

    (22), (23): the time it takes to come from one popularity to another is known in closed form; here it is turned
    round, by halving, in y with P = Q tanh(y)^4, in which nothing is lost near the quality. A page that begins with
    popularity Q stays there.

    Raises
    ------
    ValueError
        Where `first` is not above 0, or above Q: no page of that quality ever was so popular.

    Examples
    --------
    >>> searched(0.5, 0.05, 1.0, [0.0, 10.0, 1e9]).round(6)
    array([0.05    , 0.056003, 0.5     ])
    """
    q, p, c, t = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (quality, first, growth, passed)))
    if not ((p > 0) & (p <= q)).all():
        raise ValueError("the popularity at the beginning must be above 0, and no more than the quality")
    level = p == q
    start = np.where(level, _NEAREST, np.arctanh(np.where(level, 0.0, p / q) ** 0.25))
    goal = c * t + _clock(start, q)
    low, high = start, np.full(q.shape, _NEAREST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        late = _clock(middle, q) > goal
        low, high = np.where(late, low, middle), np.where(late, middle, high)
    return np.where(level, q, q * np.tanh(low) ** 4)


def _clock(y: Floats, quality: Floats) -> Floats:
    """Return c t at which P = Q tanh(y)^4, up to a constant: the integral of dP / (P^(9/4) (Q - P)).

    With P = u^4 it is 4 du / (u^6 (Q - u^4)) = 4 (1 / (Q u^6) + 1 / (Q^2 u^2) + u^2 / (Q^2 (Q - u^4))) du.
    """
    root = quality**0.25
    u = root * np.tanh(y)
    return 4 * ((y - np.arctan(np.tanh(y))) / (2 * root) - 1 / u - quality / (5 * u**5)) / quality**2


def estimate(before: ArrayLike, after: ArrayLike, passed: ArrayLike, growth: ArrayLike) -> Floats:
    """Return the quality from two popularities, Q = (dP / dt) / (c P) + P with the second as P: (21), never below 0.

    Examples
    --------
    It doubled within a unit of time:

    >>> estimate([0.01], 0.02, 1.0, 10.0)
    array([0.07])
    """
    p0, p1, t, c = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (before, after, passed, growth)))
    found = p1 + (p1 - p0) / (t * c * np.where(p1 > 0, p1, 1.0))
    return np.maximum(np.where(p1 > 0, found, 0.0), 0.0)


def estimate_between(before: ArrayLike, after: ArrayLike, passed: ArrayLike, growth: ArrayLike) -> Floats:
    """Return the quality from two popularities far apart: exact where popularity is `surfed`, whatever time passed.

    ln P grows by c (Q - P), so (21) is the beginning of a series in the time between. Solved for the logistic curve
    through both points instead. Where popularity fell the nearest there is: the later popularity.

    Examples
    --------
    >>> estimate_between([0.25], surfed(0.5, 0.25, 1.0, 7.0), 7.0, 1.0).round(9)
    array([0.5])
    """
    p0, p1, t, c = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (before, after, passed, growth)))
    rising = (p1 > p0) & (p0 > 0)
    p0, p1 = np.where(rising, p0, 1.0), np.where(rising, p1, 2.0)
    low, high = p1, p1 + np.log(p1 / p0) / (c * t) + 1e-300  # P is below P1 throughout: so Q is below the latter
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        nearer = np.maximum((p0 - p1) / (middle - p0), _NEARLY)
        over = np.log(p1 / p0) - np.log1p(nearer) > c * middle * t  # c Q t = ln (P1 / P0 (Q - P0) / (Q - P1))
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.where(rising, high, np.asarray(after, np.float64))
