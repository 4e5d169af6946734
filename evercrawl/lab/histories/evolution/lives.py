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
    """The events of a history by page, and then by time; shape (events,) each.

    Attributes
    ----------
    order
        Which event of the history it is.
    page, op, at
        As in `History`, the instant in seconds.
    begins
        Whether it begins a life.
    """

    order: Ints
    page: Ints
    op: NDArray[np.int8]
    at: Floats
    begins: Flags


class Lives(NamedTuple):
    """Times from a page's appearance to its removal or the end of the record; a page that came back has several.

    Attributes
    ----------
    page
        Whose it is, ascending; shape (n,) as all that follow.
    appeared_at
        When it began.
    began_at, ended_at
        Between which instants of it the page was watched.
    known
        Whether it is known to have come to be then: of what was there at the beginning nobody knows since when.
    died
        Whether it ended with the removal.
    """

    page: Ints
    appeared_at: Floats
    began_at: Floats
    ended_at: Floats
    known: Flags
    died: Flags


def ends(history: History) -> Floats:
    """Return up to when what each page did is known, shape (pages,): the last event of its site, or the last look."""
    if history.seen is not None:
        return history.seen.until.astype(np.float64)
    return _of_sites(history, np.maximum, -math.inf)


def beginnings(history: History) -> Floats:
    """Return the first event of each page's site, shape (pages,): what appeared then may have been there before."""
    return _of_sites(history, np.minimum, math.inf)


def _of_sites(history: History, extreme: np.ufunc, start: float) -> Floats:
    found = np.full(len(history.sites), start)
    extreme.at(found, history.site[history.page], history.at.astype(np.float64))
    return np.asarray(found[history.site], np.float64)


def by_page(history: History) -> ByPage:
    """Return the events of a history by page; whatever follows a removal, or nothing, begins a life."""
    order = np.argsort(history.page, kind="stable")
    page, op = history.page[order], history.op[order]
    away = (np.diff(page, prepend=-1) != 0) | (np.append(REMOVED, op)[: len(op)] == REMOVED)
    return ByPage(order, page, op, history.at[order].astype(np.float64), (op == APPEARED) | (away & (op != REMOVED)))


def lives_of(history: History, events: ByPage) -> Lives:
    """Return all lives of the pages, each watched from its beginning to its end."""
    rows = np.flatnonzero(events.begins)
    page, at = events.page[rows], events.at[rows]
    bounds = np.minimum(_next(rows, len(events.page)), np.searchsorted(events.page, page, "right"))
    removals = np.flatnonzero(events.op == REMOVED)
    removal = np.append(removals, len(events.page))[np.searchsorted(removals, rows)]
    died = removal < bounds
    goes_on = _next(page, -1) == page  # it appeared once more, and nobody had noted that it was gone
    until = np.where(goes_on, _next(at, math.inf), np.maximum(ends(history)[page], at))
    ended_at = np.where(died, np.append(events.at, math.inf)[removal], until)
    seen = history.seen
    known = at > beginnings(history)[page] if seen is None else seen.born[page]
    return Lives(page, at, at, ended_at, known, died)


def _next(column: NDArray[Any], last: float) -> NDArray[Any]:
    """Return what stands one row further down, and under the last row `last`."""
    return np.append(column[1:], last)[: len(column)]


def between(lives: Lives, since: float, until: float) -> tuple[Lives, Flags]:
    """Return lives as far as they were watched between two instants, and which of them were at all, shape (n,)."""
    inside = (lives.appeared_at <= until) & (lives.ended_at >= since)
    ended_at = lives.ended_at[inside]
    clipped = Lives(
        lives.page[inside], lives.appeared_at[inside], np.maximum(lives.began_at[inside], since),
        np.minimum(ended_at, until), lives.known[inside], lives.died[inside] & (ended_at <= until),
    )  # fmt: skip
    return clipped, inside
