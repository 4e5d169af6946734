"""Detection of pages that change at a regular time of the day: the stored counts, and the test."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.pages import Visits
from evercrawl.schedule.policies.marked_point.instants import DAY_S, WEEK
from evercrawl.types import Flags, Floats

ROW: Final = [("hours", "u1", 24), ("days", "u1", WEEK), ("nights", "u1", WEEK), ("since", "f8")]
"""The stored counts of a page: changes by hour of the day, by day of the week, and by night (from noon to the next
noon), and the start of counting. A window across midnight lies within one night."""
_VAGUE_S: Final = 7200.0  # an undated change is known to about the hour if the page was read this recently
_LEAST: Final = 8  # minimum number of changes: 7 of 8 within 2 hours by chance have odds of 1 to 200,000
_PART: Final = 0.8
_SURE: Final = 0.98
_FULL: Final = 255  # maximum of a count: then all counts of the page are halved, so that old changes are forgotten
_HOUR_S: Final = DAY_S / 24
_BINS: Final = (("hours", 24, _HOUR_S, 0.0), ("days", WEEK, DAY_S, 0.0), ("nights", WEEK, DAY_S, DAY_S / 2))
_MIDNIGHT: Final = 0  # the window that ends with this hour begins on the previous day


def learn(rows: NDArray[Any], visits: Visits) -> NDArray[Any]:
    """Return the rows of the visited pages updated with the times of changes, where these are known; see `ROW`."""
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
    """Return the rows; if a count is full, all counts and the time over which they were made are halved."""
    full = np.any([rows[name].max(1) >= _FULL for name, *_ in _BINS], axis=0)
    for name, *_ in _BINS:
        rows[name] = np.where(full[:, None], rows[name] // 2, rows[name])
    rows["since"] = np.where(full, (at + rows["since"]) / 2, rows["since"])
    return rows


class RegularPages(NamedTuple):
    """The regular pages, shape (n,), the time of day of their changes, and the probability of a change on each day.

    Times are in seconds from the beginning of the day; they exceed a day if they are after midnight.
    """

    pages: Flags
    offset_s: Floats
    chances: Floats


def regular(rows: NDArray[Any], now: float) -> RegularPages:
    """Return which pages change at one time of the day: four in five changes, and at least eight, within two hours.

    Examples
    --------
    Changes at about 9 o'clock, on four days of each of two weeks:

    >>> rows = np.zeros(1, ROW)
    >>> rows["hours"][0, 9], rows["days"][0, :4] = 8, 2
    >>> found = regular(rows, now=14 * DAY_S)
    >>> found.pages, found.offset_s / 3600, found.chances
    (array([ True]), array([10.]), array([[0.98, 0.98, 0.98, 0.98, 0.  , 0.  , 0.  ]]))

    Half of them before midnight, half after, in the night from day 1 to day 2: 25 hours after the start of day 1.

    >>> rows = np.zeros(1, ROW)
    >>> rows["hours"][0, [23, 0]], rows["nights"][0, 1] = 5, 10
    >>> found = regular(rows, now=70 * DAY_S)
    >>> found.offset_s / 3600, found.chances
    (array([25.]), array([[0.  , 0.98, 0.  , 0.  , 0.  , 0.  , 0.  ]]))
    """
    hours = rows["hours"].astype(np.int64)
    within = hours + np.roll(hours, 1, 1)  # column h: the hours h - 1 and h
    end = (within * (_FULL + 1) + hours).argmax(1)  # ties go to the window with more changes in its last hour
    over = end == _MIDNIGHT
    changes = hours.sum(1)
    enough = (changes >= _LEAST) & (within.max(1) >= _PART * changes)
    weeks = np.maximum((now - rows["since"]) / (WEEK * DAY_S), 1.0)
    days = np.where(over[:, None], rows["nights"], rows["days"])
    return RegularPages(
        enough, np.where(over, DAY_S, 0.0) + (end + 1.0) * _HOUR_S, np.minimum(days / weeks[:, None], _SURE)
    )
