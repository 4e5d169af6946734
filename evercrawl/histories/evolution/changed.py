"""How pages changed: how much of them, whether back to what they were, and how many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evercrawl.change.extent import extents
from evercrawl.histories.history import CHANGED, REMOVED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.histories.evolution.lives import ByPage
    from evercrawl.histories.history import History
    from evercrawl.types import Floats, Ints

    Flags = NDArray[np.bool_]


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


def changes_of(history: History, events: ByPage) -> Changes:
    """Return all changes of the pages; their lives are those of `lives_of`."""
    rows = np.flatnonzero((events.op == CHANGED) & ~events.begins)
    after, before = events.order[rows], events.order[rows - 1]
    bits = np.bitwise_count(history.simhash[after] ^ history.simhash[before]).astype(np.int64)
    new = extents(history.simhash[after], history.simhash[before])
    life = (np.cumsum(events.begins) - 1)[rows]
    returned, batch = _returned(history)[after], _batches(history)[after]
    return Changes(events.page[rows], life, events.at[rows], bits, new, returned, batch)


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
