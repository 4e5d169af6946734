"""The kind of change each visit showed, judged by the visits before it."""

import enum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.store.journal.events import UNCHANGED
from evercrawl.store.state import HELD
from evercrawl.types import Flags, Ints, Outcome

NONE: Final = 0xFFFFFFFF
"""In place of the number of a visit: there is none."""
_DECISIVE: Final = np.array([*HELD, Outcome.GONE, Outcome.REDIRECT], np.uint8)
_HELD: Final = np.array(HELD, np.uint8)


class ChangeKind(enum.IntEnum):
    """The change of a page that a visit showed."""

    NOTHING = 0
    FIRST = 1  # first reading; news if the page is new on a site read before
    CHANGED = 2  # its words differ from those read before, or its bytes if it has no words
    VANISHED = 3  # gone (404, 410), and existed before
    RETURNED = 4  # exists again
    MOVED = 5  # redirects, and had content before


class PageStates(NamedTuple):
    """The state of pages before some visits, shape (n,) each.

    Attributes
    ----------
    outcome
        Of the last visit that saw content, a redirect or a gone page; 0 if there was none.
    version
        Number of the visit that brought the content last read; NONE if there was none.
    """

    outcome: NDArray[np.uint8]
    version: NDArray[np.uint32]


class Judged(NamedTuple):
    """For each visit, shape (n,): the outcome that counts from then on, the version before it, and its kind."""

    state: NDArray[np.uint8]
    before: NDArray[np.uint32]
    kind: NDArray[np.uint8]


def brings_version(outcome: NDArray[Any], flags: NDArray[Any]) -> Flags:
    """Return which visits brought content that differs in bytes from that before, shape (n,)."""
    brings: Flags = np.isin(outcome, _HELD) & ((flags & UNCHANGED) == 0)
    return brings


def carried(
    order: Ints, starts: Ints, outcome: NDArray[Any], flags: NDArray[Any], first: int, earlier: PageStates
) -> PageStates:
    """Return the state of the page before each visit, shape (n,), in the order of the visits.

    Parameters
    ----------
    order, starts
        Visits sorted by page and time; the start of each page in that order.
    outcome, flags
        Of each visit.
    first
        Number of the first visit.
    earlier
        The state of each page before all of them.
    """
    n, pages = len(order), np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    outcomes, own = outcome[order], brings_version(outcome, flags)[order]
    last_decisive = _last_before(np.isin(outcomes, _DECISIVE), starts, pages)
    last_version = _last_before(own, starts, pages)
    found = PageStates(np.empty(n, np.uint8), np.empty(n, np.uint32))
    found.outcome[order] = np.where(last_decisive >= 0, outcomes[last_decisive], earlier.outcome[pages])
    numbers = (order[last_version] + first).astype(np.uint32)
    found.version[order] = np.where(last_version >= 0, numbers, earlier.version[pages])
    return found


def judged(outcome: NDArray[Any], flags: NDArray[Any], known: PageStates, other: Flags) -> Judged:
    """Return the judgement of each visit.

    Parameters
    ----------
    outcome, flags
        Of each visit, shape (n,).
    known
        The state before each.
    other
        Whether its words differ from those of the version before; its bytes, if it has no words.
    """
    held, read = np.isin(outcome, _HELD), known.version != NONE
    was_held, was_gone = np.isin(known.outcome, _HELD), known.outcome == Outcome.GONE
    was_away = was_gone | (known.outcome == Outcome.REDIRECT)
    kind = np.zeros(len(outcome), np.uint8)
    kind[held & ~read] = ChangeKind.FIRST
    kind[held & read & was_held & brings_version(outcome, flags) & other] = ChangeKind.CHANGED
    kind[held & read & was_away] = ChangeKind.RETURNED
    kind[(outcome == Outcome.GONE) & was_held] = ChangeKind.VANISHED
    kind[(outcome == Outcome.REDIRECT) & was_held] = ChangeKind.MOVED
    state = np.where(np.isin(outcome, _DECISIVE), outcome, known.outcome).astype(np.uint8)
    return Judged(state, known.version, kind)


def _last_before(marked: Flags, starts: Ints, pages: Ints) -> Ints:
    """Return, for each position, the last marked one before it in its page; -1 if there is none."""
    last = np.maximum.accumulate(np.where(marked, np.arange(len(marked)), -1)) if len(marked) else np.zeros(0, np.int64)
    before = np.concatenate(([-1], last[:-1])).astype(np.int64) if len(marked) else last
    return np.where(before >= starts[pages], before, -1)
