"""Rising pages: gains in importance, from two windows of different length over links that appeared and vanished."""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats, Ints

LONGER: Final = 8.0
"""Ratio of the long window to the short one, as in adaptive OPIC with T = 1 and T = 8."""

DOUBT: Final = 4.0
"""Effective number of links at which a rise counts half; where links come and go at random, 1 is usual."""


class Steps(NamedTuple):
    """Changes in what links bring to pages, shape (steps,) each.

    Attributes
    ----------
    page, at
        Number of the page, and instant of the change in any unit of time.
    amount
        Increase of what the page gets; negative where links vanished.
    """

    page: Ints
    at: Floats
    amount: Floats


def mean_over(importance: Floats, steps: Steps, now: float, length: float) -> Floats:
    """Return the mean importance of pages over a window that ends now, shape (pages,).

    The window is exponential: an instant of age a has the weight exp(-a / length), so a step of age a has been present
    for 1 - exp(-a / length) of the window. Before its first step a page is taken to have always had its present
    importance less all its steps.

    Parameters
    ----------
    importance
        Importance of the pages now, shape (pages,).
    steps
        Changes, in the same unit of importance.
    now, length
        Instant, and length of the window, in the unit of time of the steps.

    Examples
    --------
    A page that has 3, of which 2 came 5 units of time ago:

    >>> mean_over(np.array([3.0]), Steps(np.array([0]), np.array([5.0]), np.array([2.0])), 10.0, 5.0)
    array([2.2642])
    """
    absent = steps.amount * np.exp(-_age(steps, now) / length)
    mean: Floats = np.maximum(importance - np.bincount(steps.page, absent, len(importance)), 0.0)
    return mean


def rising(importance: Floats, steps: Steps, now: float, length: float, usual: float) -> tuple[Floats, Floats, Floats]:
    """Return the score of each page's rise, and its mean importance in both windows; shape (pages,) each.

    The score is ln((short + usual) / (long + usual)), times n / (n + `DOUBT`), where n is the effective number of links
    behind the rise: 0 for a steady page, negative for one that falls. Both terms shrink scores with little evidence: a
    page of little importance does not rise much by gaining a little, and a rise from a single link, or from random
    comings and goings of links, scores less than one from many new links.

    Parameters
    ----------
    importance, steps, now
        As for `mean_over`.
    length
        Length of the short window; the long one is `LONGER` times as long.
    usual
        Prior importance of a page: that of the mean page.

    Examples
    --------
    Two pages rose from 1 to 5, the first by four links and the second by one; a third stays:

    >>> steps = Steps(np.array([0, 0, 0, 0, 1]), np.full(5, 8.0), np.array([1.0, 1, 1, 1, 4]))
    >>> rising(np.array([5.0, 5.0, 1.0]), steps, now=10.0, length=1.0, usual=1.0)[0]
    array([0.3189, 0.1276, 0.    ])

    References
    ----------
    Abiteboul, Preda, Cobena (2003), section 4: the derivative of importance, as its change within the time window.
    Kish (1965). Survey Sampling, for the effective number.
    """
    short, long = (mean_over(importance, steps, now, of) for of in (length, LONGER * length))
    ratio = np.log((short + usual) / (long + usual))
    links = effective(len(importance), steps, now, length)
    score: Floats = ratio * links / (links + DOUBT)
    return score, short, long


def effective(pages: int, steps: Steps, now: float, length: float) -> Floats:
    """Return the effective number of links behind each page's change; shape (pages,).

    It is (sum a)^2 / sum a^2 over what each step adds to the difference of the two windows. Where links come and go at
    random it is 1 on average, however many they are: the square of a sum with mean 0, in units of its variance.
    """
    age = _age(steps, now)
    told = steps.amount * (np.exp(-age / (LONGER * length)) - np.exp(-age / length))
    whole, squares = np.bincount(steps.page, told, pages), np.bincount(steps.page, told**2, pages)
    links: Floats = np.divide(whole**2, squares, out=np.zeros(pages), where=squares > 0)
    return links


def _age(steps: Steps, now: float) -> Floats:
    age: Floats = np.maximum(now - steps.at, 0.0)
    return age
