"""Rising: which pages gain importance, by two windows of different length over the links that came and went."""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats, Ints

LONGER: Final = 8.0
"""How many times as long the long window is: with the windows of adaptive OPIC, T = 1 and T = 8."""

DOUBT: Final = 4.0
"""How many links it takes until half of a rise is believed; where links come and go at random, 1 is usual."""


class Steps(NamedTuple):
    """Changes of what links bring to pages, shape (steps,) each.

    Attributes
    ----------
    page, at
        Whose, and the instant of the change, in any unit of time.
    amount
        By how much what the page gets became more; below 0 where links went.
    """

    page: Ints
    at: Floats
    amount: Floats


def mean_over(importance: Floats, steps: Steps, now: float, length: float) -> Floats:
    """Return what the importance of pages was on the mean of a window that ends now, shape (pages,).

    The window is exponential: what was an age a ago counts as exp(-a / length). A step of an age a has been there for
    1 - exp(-a / length) of it. Before its first step a page had what it has now less all its steps, for ever.

    Parameters
    ----------
    importance
        Of the pages now, shape (pages,).
    steps
        What changed, in the same unit of importance.
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
    """Return how much pages rise, and their mean importance in the short and the long window; shape (pages,) each.

    The score is ln((short + usual) / (long + usual)), times n / (n + `DOUBT`), n being the effective number of links
    behind it: 0 for what stays as it is, below 0 for what falls. Both shrink what there is little evidence for: a page
    to which little ever came is not said to rise by becoming a little more, nor one that owes all to a single link, or
    to more that came than went by chance, by as much as one to which many link by now.

    Parameters
    ----------
    importance, steps, now
        As for `mean_over`.
    length
        Of the short window; the long one is `LONGER` times as long.
    usual
        The importance of a page of which nothing is known: the mean page's.

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
    """Return how many equal links, all come or all gone, would tell as much as those of each page; shape (pages,).

    It is (sum a)^2 / sum a^2 over what each step adds to the difference of the two windows. Where links come and go at
    random that is 1 on the mean, however many they are: the square of a sum that is as often above 0 as below, in
    units of its variance.
    """
    age = _age(steps, now)
    told = steps.amount * (np.exp(-age / (LONGER * length)) - np.exp(-age / length))
    whole, squares = np.bincount(steps.page, told, pages), np.bincount(steps.page, told**2, pages)
    links: Floats = np.divide(whole**2, squares, out=np.zeros(pages), where=squares > 0)
    return links


def _age(steps: Steps, now: float) -> Floats:
    age: Floats = np.maximum(now - steps.at, 0.0)
    return age
