"""Which pages change at one time of the day: what is kept of each to find out, and what that says."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.pages import Visits
from evercrawl.schedule.policies.marked_point.instants import DAY_S, WEEK
from evercrawl.types import Flags, Floats

ROW: Final = [("hours", "u1", 24), ("days", "u1", WEEK), ("nights", "u1", WEEK), ("since", "f8")]
"""What is kept of a page: its changes by hour of the day, by day of the week, and by night, which lasts from a day's
noon to the next; and since when they are counted. By nights, a window over midnight lies within one."""
_VAGUE_S: Final = 7200.0  # a change without a date is known to the hour, roughly, where the page was read so lately
_LEAST: Final = 8  # changes without which nothing is regular: 7 of 8 by chance within 2 hours have odds of 1 to 200,000
_PART: Final = 0.8
_SURE: Final = 0.98
_FULL: Final = 255  # of a count: then all of the page's are halved, so that what it did long ago is forgotten
_HOUR_S: Final = DAY_S / 24
_BINS: Final = (("hours", 24, _HOUR_S, 0.0), ("days", WEEK, DAY_S, 0.0), ("nights", WEEK, DAY_S, DAY_S / 2))
_MIDNIGHT: Final = 0  # the window that ends with this hour begins in the day before


def learn(rows: NDArray[Any], visits: Visits) -> NDArray[Any]:
    """Return the rows of the visited pages after the visits: when changes were, where that is known; see `ROW`."""
    known = visits.changed & visits.read
    dated = ~np.isnan(visits.age_s)
    known &= dated | (visits.interval_s <= _VAGUE_S)
    at = visits.at - np.where(dated, visits.age_s, 0.5 * np.nan_to_num(visits.interval_s))
    at = np.where(known, at, 0.0)
    pages = np.flatnonzero(known)
    for name, places, length_s, begins_s in _BINS:
        bins = ((at[pages] - begins_s) // length_s).astype(np.int64) % places
        counts = rows[name]
        counts[pages, bins] += 1
        rows[name] = counts
    rows["since"] = np.where((rows["since"] == 0) & visits.read, visits.at, rows["since"])
    return _halved(rows, visits.at)


def _halved(rows: NDArray[Any], at: Floats) -> NDArray[Any]:
    """Return the rows, where a count is full with half of all counts, and of the time in which they were made."""
    full = np.any([rows[name].max(1) >= _FULL for name, *_ in _BINS], axis=0)
    for name, *_ in _BINS:
        rows[name] = np.where(full[:, None], rows[name] // 2, rows[name])
    rows["since"] = np.where(full, (at + rows["since"]) / 2, rows["since"])
    return rows


class RegularPages(NamedTuple):
    """Which pages are regular, shape (n,), when of a day they have changed, and how probably on each day.

    The former in seconds from the day's beginning: more than a day where that is after midnight.
    """

    pages: Flags
    offset_s: Floats
    chances: Floats


def regular(rows: NDArray[Any], now: float) -> RegularPages:
    """Tell which pages change at one time of the day: four in five changes within two hours, eight at least.

    Examples
    --------
    Changes at about 9 o'clock, on four days of each of two weeks:

    >>> rows = np.zeros(1, ROW)
    >>> rows["hours"][0, 9], rows["days"][0, :4] = 8, 2
    >>> found = regular(rows, now=14 * DAY_S)
    >>> found.pages, found.offset_s / 3600, found.chances
    (array([ True]), array([10.]), array([[0.98, 0.98, 0.98, 0.98, 0.  , 0.  , 0.  ]]))

    Half of them before midnight, half after, in the night from day 1 to day 2: 25 hours after day 1 began all is over.

    >>> rows = np.zeros(1, ROW)
    >>> rows["hours"][0, [23, 0]], rows["nights"][0, 1] = 5, 10
    >>> found = regular(rows, now=70 * DAY_S)
    >>> found.offset_s / 3600, found.chances
    (array([25.]), array([[0.  , 0.98, 0.  , 0.  , 0.  , 0.  , 0.  ]]))
    """
    hours = rows["hours"].astype(np.int64)
    within = hours + np.roll(hours, 1, 1)  # column h: the hours before h and from h on
    end = (within * (_FULL + 1) + hours).argmax(1)  # of two windows with as many, the one with more in its last hour
    over = end == _MIDNIGHT
    changes = hours.sum(1)
    enough = (changes >= _LEAST) & (within.max(1) >= _PART * changes)
    weeks = np.maximum((now - rows["since"]) / (WEEK * DAY_S), 1.0)
    days = np.where(over[:, None], rows["nights"], rows["days"])
    return RegularPages(
        enough, np.where(over, DAY_S, 0.0) + (end + 1.0) * _HOUR_S, np.minimum(days / weeks[:, None], _SURE)
    )
