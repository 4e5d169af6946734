"""Counts of each page's checks and of checks that found it changed or gone; a fold over visits."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.pages import Visits
from evercrawl.types import Flags, Floats, Slots

CORRECTION: Final = 0.5
"""a = b of the estimator: number of unchanged checks assumed for a page that was found changed every time."""
_ROW: Final = [
    ("first_at", "f8"), ("at", "f8"), ("changed_at", "f8"), ("watched_s", "f8"), ("checks", "u4"), ("changes", "u4"),
    ("site", "u4"), ("recent", "u1"), ("misses", "u1"),
]  # fmt: skip
_MOST_MISSES: Final = 255


class Checked:
    """A row per page: `first_at` and `at`, the first reading and last request; `changed_at`, last found changed.

    A *check* is a visit that showed whether the page changed: there were `checks` of them, `changes` of these found a
    change, and the intervals before them sum to `watched_s` seconds. `recent` holds the outcomes of the last eight, the
    latest in the lowest bit; `misses` counts the consecutive visits that found the page gone. All columns are zero for
    an unvisited page.

    Examples
    --------
    A page is read, found changed an hour later, then gone twice:

    >>> from evercrawl.schedule.pages import Visits
    >>> def visit(at: float, since: float, read: bool, changed: bool) -> Visits:
    ...     column, flag = (lambda value: np.array([value], float)), (lambda value: np.array([value], bool))
    ...     return Visits(np.array([7], np.uint32), np.array([0], np.uint32), column(at), column(since), flag(read),
    ...                   flag(not read), flag(changed), column(np.nan), column(0), column(0), np.array([0]),
    ...                   flag(False), np.array([0]))
    >>> checked = Checked()
    >>> checked.learn(visit(1e6, np.nan, True, False))
    >>> checked.learn(visit(1e6 + 3600, 3600, True, True))
    >>> checked.learn(visit(1e6 + 7200, np.nan, False, False))
    >>> checked.learn(visit(1e6 + 9000, np.nan, False, False))
    >>> row = checked.take(np.array([7], np.uint32))[0]
    >>> row["checks"].item(), row["changes"].item(), row["watched_s"].item(), row["misses"].item()
    (1, 1, 3600.0, 2)
    """

    def __init__(self) -> None:
        self._kept = Rows(_ROW)

    def learn(self, visits: Visits) -> None:
        """Count visits, at most one per page."""
        slots = visits.slot
        rows = self._kept.upto(int(slots.max(initial=0)) + 1)
        row = rows[slots]
        check, found = checks_among(visits), visits.changed.astype(np.uint8)
        row["first_at"] = np.where(visits.read & (row["first_at"] == 0), visits.at, row["first_at"])
        row["at"], row["site"] = visits.at, visits.site
        row["changed_at"] = np.where(visits.changed, visits.at, row["changed_at"])
        row["watched_s"] += np.where(check, np.maximum(visits.interval_s, 0.0), 0.0)
        row["checks"] += check
        row["changes"] += visits.changed & check
        row["recent"] = np.where(check, row["recent"] << 1 | found, row["recent"])
        again = np.minimum(row["misses"], _MOST_MISSES - 1) + np.uint8(1)
        row["misses"] = np.where(visits.gone, again, np.where(visits.read, 0, row["misses"]))
        rows[slots] = row

    def take(self, slots: Slots) -> NDArray[Any]:
        """Return copies of the rows of pages, shape (n,)."""
        return self._kept.take(slots)

    def all(self) -> tuple[Slots, NDArray[Any]]:
        """Return the slots of all requested pages, and their rows."""
        rows = self._kept.upto(0)
        slots = np.flatnonzero(rows["at"] > 0).astype(np.uint32)
        return slots, rows[slots]


def checks_among(visits: Visits) -> Flags:
    """Return which visits showed whether their page had changed since an earlier visit, shape (n,)."""
    return visits.read & ~np.isnan(visits.interval_s)


def update_ratio(checks: ArrayLike, changes: ArrayLike) -> Floats:
    """Return the changes of pages per check interval: -ln((n - x + 0.5) / (n + 0.5)), r of (13) and U of (7).

    x of n checks found a change. A page never found changed gets 0, one always found changed at most ln(2 n + 1).

    Examples
    --------
    >>> update_ratio([0, 10, 10], [0, 0, 4]).round(4)
    array([0.    , 0.    , 0.4796])

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating frequency of change, equation 13 of the survey of Meng, Wang, Yan (2006); the
    RPUC paper's equations 4 and 7 are the same.
    """
    checks, changes = np.asarray(checks, np.float64), np.asarray(changes, np.float64)
    found: Floats = -np.log((checks - changes + CORRECTION) / (checks + CORRECTION))
    return found + 0.0


def rate_per_s(checks: ArrayLike, changes: ArrayLike, watched_s: ArrayLike) -> Floats:
    """Return rates of change, per second, shape (n,): the update ratio divided by the mean interval between visits.

    Examples
    --------
    Four changes in ten checks, one every 100 s:

    >>> rate_per_s([10], [4], [1000.0]).round(6)
    array([0.004796])
    """
    mean_s = np.asarray(watched_s, np.float64) / np.maximum(checks, 1)
    return update_ratio(checks, changes) / np.maximum(mean_s, 1e-3)
