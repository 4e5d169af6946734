"""Lives of pages: when they existed, and when they were observed."""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.histories.history import APPEARED, REMOVED, History
from evercrawl.types import Floats, Ints

Flags = NDArray[np.bool_]

DAY_S: Final = 86_400.0
WEEK_S: Final = 7 * DAY_S
YEAR_S: Final = 365.25 * DAY_S


class ByPage(NamedTuple):
    """The events of a history, sorted by page and time; shape (events,) each.

    Attributes
    ----------
    order
        Index of the event in the history.
    page, op, at
        As in `History`, the time in seconds.
    begins
        Whether the event begins a life.
    """

    order: Ints
    page: Ints
    op: NDArray[np.int8]
    at: Floats
    begins: Flags


class Lives(NamedTuple):
    """Periods from a page's appearance to its removal or the end of the record; a page that returned has several.

    Attributes
    ----------
    page
        The page, ascending; shape (n,) like all other columns.
    appeared_at
        Start of the life.
    began_at, ended_at
        Start and end of the observation within the life.
    known
        Whether the page is known to have been created then; pages that existed at the start of the record may be older.
    died
        Whether the life ended with the page's removal.
    """

    page: Ints
    appeared_at: Floats
    began_at: Floats
    ended_at: Floats
    known: Flags
    died: Flags


def ends(history: History) -> Floats:
    """Return the end of each page's observation, shape (pages,): the last event of its site, or its last visit."""
    if history.seen is not None:
        return history.seen.until.astype(np.float64)
    return _of_sites(history, np.maximum, -math.inf)


def beginnings(history: History) -> Floats:
    """Return the first event of each page's site, shape (pages,); pages that appeared then may be older."""
    return _of_sites(history, np.minimum, math.inf)


def _of_sites(history: History, extreme: np.ufunc, start: float) -> Floats:
    found = np.full(len(history.sites), start)
    extreme.at(found, history.site[history.page], history.at.astype(np.float64))
    return np.asarray(found[history.site], np.float64)


def by_page(history: History) -> ByPage:
    """Return the events of a history by page; a page's first event, and any event after a removal, begins a life."""
    order = np.argsort(history.page, kind="stable")
    page, op = history.page[order], history.op[order]
    away = (np.diff(page, prepend=-1) != 0) | (np.append(REMOVED, op)[: len(op)] == REMOVED)
    return ByPage(order, page, op, history.at[order].astype(np.float64), (op == APPEARED) | (away & (op != REMOVED)))


def lives_of(history: History, events: ByPage) -> Lives:
    """Return all lives of the pages, observed from beginning to end."""
    rows = np.flatnonzero(events.begins)
    page, at = events.page[rows], events.at[rows]
    bounds = np.minimum(_next(rows, len(events.page)), np.searchsorted(events.page, page, "right"))
    removals = np.flatnonzero(events.op == REMOVED)
    removal = np.append(removals, len(events.page))[np.searchsorted(removals, rows)]
    died = removal < bounds
    goes_on = _next(page, -1) == page  # the page appeared again without a recorded removal
    until = np.where(goes_on, _next(at, math.inf), np.maximum(ends(history)[page], at))
    ended_at = np.where(died, np.append(events.at, math.inf)[removal], until)
    seen = history.seen
    known = at > beginnings(history)[page] if seen is None else seen.born[page]
    return Lives(page, at, at, ended_at, known, died)


def _next(column: NDArray[Any], last: float) -> NDArray[Any]:
    """Return the column shifted up by one row, with `last` as the last row."""
    return np.append(column[1:], last)[: len(column)]


def between(lives: Lives, since: float, until: float) -> tuple[Lives, Flags]:
    """Return the lives limited to a period, and which lives overlap it, shape (n,)."""
    inside = (lives.appeared_at <= until) & (lives.ended_at >= since)
    ended_at = lives.ended_at[inside]
    clipped = Lives(
        lives.page[inside], lives.appeared_at[inside], np.maximum(lives.began_at[inside], since),
        np.minimum(ended_at, until), lives.known[inside], lives.died[inside] & (ended_at <= until),
    )  # fmt: skip
    return clipped, inside
