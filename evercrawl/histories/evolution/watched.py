"""What a history says of each page between two instants: when it lived, when and how it changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evercrawl.change.extent import extents
from evercrawl.histories.history import APPEARED, CHANGED, REMOVED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.histories.history import History
    from evercrawl.types import Floats, Ints

    Flags = NDArray[np.bool_]

DAY_S: Final = 86_400.0
WEEK_S: Final = 7 * DAY_S
YEAR_S: Final = 365.25 * DAY_S


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


class Changes(NamedTuple):
    """Changes, by page and then by time.

    Attributes
    ----------
    page, life, at
        Whose, in which row of `Lives`, and when; shape (n,) as all that follow.
    bits
        How many of the 64 bits of the words' similarity hash became others.
    new
        Which part of the words is new, 0 to 1, as these bits tell.
    returned
        Whether the page is again as it was before.
    batch
        How many pages of the site changed at that instant.
    """

    page: Ints
    life: Ints
    at: Floats
    bits: Ints
    new: Floats
    returned: Flags
    batch: Ints


class Watched(NamedTuple):
    """What there was to be seen of a history.

    Attributes
    ----------
    lives, changes
        Of its pages.
    first_at
        When each page appeared first, shape (pages,); infinity for one that never did.
    looks
        Of each page: visits that could have seen a change, shape (pages,); nan where every change is on record.
    since, until
        Between which instants.
    """

    lives: Lives
    changes: Changes
    first_at: Floats
    looks: Floats
    since: float
    until: float


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


def watch(history: History, since: float = -math.inf, until: float = math.inf) -> Watched:
    """Return what its pages did between two instants, in seconds since the epoch.

    Of a page that appeared before `since` the time from then on counts; its age is known all the same.
    """
    order = np.argsort(history.page, kind="stable")
    page, op, at = history.page[order], history.op[order], history.at[order].astype(np.float64)
    first = np.diff(page, prepend=-1) != 0
    begins = (op == APPEARED) | (first & (op != REMOVED))
    life = np.cumsum(begins) - 1
    lives = _lives(history, page, op, at, begins)
    inside = (lives.appeared_at <= until) & (lives.ended_at >= since)
    number = np.cumsum(inside) - 1
    counts = (op == CHANGED) & ~begins & (at >= since) & (at <= until) & inside[life] & (at <= lives.ended_at[life])
    changes = _changes(history, order, np.flatnonzero(counts), number[life])
    first_at = np.full(len(history), math.inf)
    np.minimum.at(first_at, lives.page, lives.appeared_at)
    lives = _clipped(lives, inside, since, until)
    return Watched(lives, changes, first_at, _looks(history, lives, since, until), since, until)


def _looks(history: History, lives: Lives, since: float, until: float) -> Floats:
    """Return how many looks of each page had one before: a life begins with one that has none."""
    seen, pages = history.seen, len(history)
    if seen is None:
        return np.full(pages, math.nan)
    inside = (seen.look_at >= since) & (seen.look_at <= until)
    first = lives.page[lives.appeared_at >= since]
    counts = np.bincount(seen.look[inside], minlength=pages) - np.bincount(first, minlength=pages)
    return np.asarray(counts, np.float64)


def _lives(history: History, page: Ints, op: NDArray[np.int8], at: Floats, begins: Flags) -> Lives:
    rows = np.flatnonzero(begins)
    whose, appeared_at = page[rows], at[rows]
    bounds = np.append(rows[1:], len(page))
    same = np.append(whose[1:] == whose[:-1], False) if len(whose) else np.zeros(0, np.bool_)
    following = np.where(same, np.append(appeared_at[1:], math.inf)[: len(rows)], ends(history)[whose])
    removals = np.append(np.flatnonzero(op == REMOVED), len(page))
    removal = removals[np.searchsorted(removals, rows)]
    died = removal < bounds
    ended_at = np.where(died, np.append(at, math.inf)[removal], np.maximum(following, appeared_at))
    seen = history.seen
    known = seen.born[whose] if seen is not None else appeared_at > beginnings(history)[whose]
    return Lives(whose, appeared_at, appeared_at, ended_at, known, died)


def _clipped(lives: Lives, inside: Flags, since: float, until: float) -> Lives:
    ended_at = lives.ended_at[inside]
    return Lives(
        lives.page[inside], lives.appeared_at[inside], np.maximum(lives.began_at[inside], since),
        np.minimum(ended_at, until), lives.known[inside], lives.died[inside] & (ended_at <= until),
    )  # fmt: skip


def _changes(history: History, order: Ints, rows: Ints, life: Ints) -> Changes:
    """Return the changes in `rows` of the events as `order` sorts them."""
    after, before = order[rows], order[rows - 1]
    simhash = history.simhash
    bits = np.bitwise_count(simhash[after] ^ simhash[before]).astype(np.int64)
    new = extents(simhash[after], simhash[before])
    at = history.at[after].astype(np.float64)
    returned, batch = _returned(history)[after], _batches(history)[after]
    return Changes(history.page[after], life[rows], at, bits, new, returned, batch)


def _returned(history: History) -> Flags:
    """Return whether each event brought its page back to a state that it was in before; all states are remembered."""
    there = np.flatnonzero(history.op != REMOVED)
    page, content = history.page[there], history.content[there]
    order = np.lexsort((content, page))  # stable: events of one state stay in the order of time
    same = (np.diff(page[order], prepend=-1) == 0) & (np.diff(content[order], prepend=np.uint64(0)) == 0)
    returned = np.zeros(len(history.op), np.bool_)
    returned[there[order]] = same
    return returned


def _batches(history: History) -> Ints:
    """Return how many pages of its site changed at the instant of each event."""
    rows = np.flatnonzero(history.op == CHANGED)
    page, at = history.page[rows], history.at[rows]
    site = history.site[page]
    order = np.lexsort((page, at, site))
    new = (np.diff(site[order], prepend=-1) != 0) | (np.diff(at[order], prepend=np.int64(0)) != 0)
    distinct = new | (np.diff(page[order], prepend=-1) != 0)
    number = np.cumsum(new) - 1
    sizes = np.bincount(number, distinct).astype(np.int64) if len(rows) else rows
    found = np.zeros(len(history.op), np.int64)
    found[rows[order]] = sizes[number]
    return found
