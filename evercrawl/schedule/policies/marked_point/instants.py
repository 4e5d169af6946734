"""Visit times of pages whose changes, if any, happen at known instants.

The best moment for a visit is just after one of these instants. Between two visits, the probability that the copy is
fresh falls at each instant by the probability of a change there.

References
----------
Wolf, Squillante, Yu, Sethuraman, Ozsen (2002). Optimal crawling strategies for web search engines: the
quasi-deterministic case.
"""

from typing import Final

import numpy as np

from evercrawl.types import Floats, Ints

DAY_S: Final = 86_400.0
WEEK: Final = 7
SETS: Final = 1 << WEEK


def weekly_fresh(chances: Floats) -> Floats:
    """Return for every set of weekdays how long a page is fresh that is visited just after the instants of these days.

    Parameters
    ----------
    chances
        Probability of a change of each page on each day, shape (n, 7).

    Returns
    -------
    Floats
        Fresh days per week, shape (n, 128); bit d of the column's number stands for day d.

    Examples
    --------
    A page that certainly changes on day 0 only: visited then it is always fresh; visited before (day 6), for one day.

    >>> weekly_fresh(np.array([[1.0, 0, 0, 0, 0, 0, 0]]))[0, [0b1, 0b1000000, 0b0]]
    array([7., 1., 0.])
    """
    keep = np.concatenate([1.0 - chances, 1.0 - chances], 1)
    lasting = np.empty((WEEK, WEEK + 1, len(chances)))  # day of the visit, days until the next visit
    for day in range(WEEK):
        left = np.concatenate([np.ones((len(chances), 1)), np.cumprod(keep[:, day + 1 : day + WEEK], 1)], 1)
        lasting[day, 0], lasting[day, 1:] = 0.0, np.cumsum(left, 1).T
    found = np.zeros((len(chances), SETS))
    for days in range(1, SETS):
        chosen = [day for day in range(WEEK) if days >> day & 1]
        for day, following in zip(chosen, [*chosen[1:], chosen[0] + WEEK], strict=True):
            found[:, days] += lasting[day, following - day]
    return found


def best_days(weight: Floats, chances: Floats, price: float) -> Ints:
    """Return the set of days on which to visit each page at a `price` per visit (weight times seconds); shape (n,).

    Examples
    --------
    A page that changes every Friday (day 1, because the epoch was a Thursday) is visited only then.

    >>> best_days(np.ones(1), np.array([[0.0, 0.9, 0, 0, 0, 0, 0]]), 3600.0)
    array([2])
    """
    visits = np.array([days.bit_count() for days in range(SETS)], np.float64)
    return np.asarray((weight[:, None] * weekly_fresh(chances) * DAY_S - price * visits).argmax(1), np.int64)


def next_instant(after: Floats, days: Ints, offset_s: Floats) -> Floats:
    """Return the first instant after `after` that is `offset_s` from the beginning of one of the days; shape (n,).

    It is infinity if there are no days. An offset may exceed one day, but not two.

    Examples
    --------
    >>> next_instant(np.array([0.0, 9.5e4]), np.array([0b10, 0b10]), np.array([7200.0, 7200.0])) / DAY_S
    array([1.08333333, 8.08333333])

    An hour after the end of day 1, when day 2 began half an hour ago, or two hours ago:

    >>> next_instant(DAY_S * 2 + np.array([1800.0, 7200.0]), np.array([0b10, 0b10]), np.full(2, 25 * 3600.0)) / DAY_S
    array([2.04166667, 9.04166667])
    """
    found = np.full(len(after), np.inf)
    today = np.floor(np.nan_to_num(after) / DAY_S)
    for later in range(WEEK + 1, -2, -1):
        at = (today + later) * DAY_S + offset_s
        on = (days >> ((today + later).astype(np.int64) % WEEK)) & 1 == 1
        found = np.where(on & (at > after), at, found)
    return found
