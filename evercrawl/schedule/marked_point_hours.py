"""Which pages change at one time of the day: what is kept of each to find out, and what that says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl.schedule.marked_point_instants import DAY_S, WEEK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.schedule.base import Flags, Visits
    from evercrawl.types import Floats

ROW: Final = [("hours", "u1", 24), ("days", "u1", WEEK), ("since", "f8")]
"""What is kept of a page: its changes by hour of the day and by day of the week, and when it was first seen."""
_VAGUE_S: Final = 7200.0  # a change without a date is known to the hour, roughly, where the page was read so lately
_LEAST: Final = 8  # changes without which nothing is regular: 7 of 8 by chance within 2 hours have odds of 1 to 200,000
_PART: Final = 0.8
_SURE: Final = 0.98
_FULL: Final = 255


def learn(rows: NDArray[Any], visits: Visits) -> NDArray[Any]:
    """Return the rows of the visited pages after the visits: when changes were, where that is known; see `ROW`."""
    known = visits.changed & visits.read
    dated = ~np.isnan(visits.age_s)
    known &= dated | (visits.interval_s <= _VAGUE_S)
    at = visits.at - np.where(dated, visits.age_s, 0.5 * np.nan_to_num(visits.interval_s))
    at = np.where(known, at, 0.0)
    pages = np.flatnonzero(known)
    for name, length_s, places in (("hours", DAY_S / 24, 24), ("days", DAY_S, WEEK)):
        bins = (at[pages] // length_s).astype(np.int64) % places
        counts = rows[name]
        counts[pages, bins] += counts[pages, bins] < _FULL
        rows[name] = counts
    rows["since"] = np.where((rows["since"] == 0) & visits.read, visits.at, rows["since"])
    return rows


class Regular(NamedTuple):
    """Which pages are regular, shape (n,), when on a day they have changed (s), and how probably on each day."""

    pages: Flags
    offset_s: Floats
    chances: Floats


def regular(rows: NDArray[Any], now: float) -> Regular:
    """Tell which pages change at one time of the day: four in five changes within two hours, eight at least.

    Examples
    --------
    Changes at about 9 o'clock, on four days of each of two weeks:

    >>> rows = np.zeros(1, ROW)
    >>> rows["hours"][0, 9], rows["days"][0, :4] = 8, 2
    >>> found = regular(rows, now=14 * DAY_S)
    >>> found.pages, found.offset_s / 3600, found.chances
    (array([ True]), array([10.]), array([[0.98, 0.98, 0.98, 0.98, 0.  , 0.  , 0.  ]]))
    """
    hours, days = rows["hours"].astype(np.float64), rows["days"].astype(np.float64)
    within = hours + np.roll(hours, 1, 1)  # column h: the hours before h and from h on
    end = within.argmax(1)
    changes = hours.sum(1)
    enough = (changes >= _LEAST) & (within.max(1) >= _PART * changes) & (changes < _FULL)
    weeks = np.maximum((now - rows["since"]) / (WEEK * DAY_S), 1.0)
    return Regular(enough, (end + 1.0) * DAY_S / 24, np.minimum(days / weeks[:, None], _SURE))
