"""Visits at one price for all pages, in closed form for any rule."""

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from evercrawl.types import Floats

By: TypeAlias = Callable[[Floats], Floats]


_CHANGES: Final = (-40.0, 25.0)  # range of the logarithm of the changes between two visits
_PRICES: Final = (-80.0, 60.0)  # range of the logarithm of the price
_HALVINGS: Final = 48


def changes(worth: By, spent: By, budget: float, pages: int) -> Floats:
    """Return the expected changes between two visits of each page, x = lam t, shape (n,); infinity for no visits.

    Parameters
    ----------
    worth
        The value of a visit as a function of x; never decreasing.
    spent
        The budget that visits to a page use per day, as a function of x; positive and decreasing.
    budget
        The budget per day of all pages.
    pages
        n.

    Examples
    --------
    Two pages that change once a day, with visits of value x and 2 x and cost 1:

    >>> changes(lambda x: np.array([1.0, 2.0]) * x, lambda x: 1 / x, 3.0, 2).round(6)
    array([1. , 0.5])
    """
    low, high = _PRICES
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        much = _spending(_reached(worth, middle, pages), spent) > budget
        low, high = (middle, high) if much else (low, middle)
    return _reached(worth, high, pages)


def _spending(x: Floats, spent: By) -> float:
    found = spent(np.where(np.isinf(x), 1.0, x))
    return float(np.where(np.isinf(x), 0.0, found).sum())


def _reached(worth: By, price: float, pages: int) -> Floats:
    """Return the x at which a visit's value reaches the price, given as its logarithm."""
    asked = math.exp(price)
    low, high = (np.full(pages, end) for end in _CHANGES)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        enough = worth(np.exp(middle)) >= asked
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(high == _CHANGES[1], np.inf, np.exp(high))
