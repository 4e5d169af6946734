"""Changes of pages: their extent, reversions, and batches."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.extent import extents
from evercrawl.lab.histories.evolution.lives import ByPage
from evercrawl.lab.histories.history import CHANGED, REMOVED, History
from evercrawl.types import Floats, Ints

Flags = NDArray[np.bool_]


class RecordedChanges(NamedTuple):
    """Changes by page and time; shape (n,) each.

    Attributes
    ----------
    page, life, at
        The page, the row in `Lives`, and the time of the change.
    bits
        Number of the 64 bits of the words' similarity hash that changed.
    new
        Share of new words, from 0 to 1, estimated from these bits.
    returned
        Whether the page returned to an earlier state.
    batch
        Number of pages of the site that changed at that instant.
    found_at, unseen_s
        Time at which the change was found, and the time since the visit before; if every change is on record, it was
        found when it was made.
    """

    page: Ints
    life: Ints
    at: Floats
    bits: Ints
    new: Floats
    returned: Flags
    batch: Ints
    found_at: Floats
    unseen_s: Floats


def changes_of(history: History, events: ByPage) -> RecordedChanges:
    """Return all changes of the pages; `life` refers to the rows of `lives_of`."""
    rows = np.flatnonzero((events.op == CHANGED) & ~events.begins)
    after, before = events.order[rows], events.order[rows - 1]
    bits = np.bitwise_count(history.simhash[after] ^ history.simhash[before]).astype(np.int64)
    new = extents(history.simhash[after], history.simhash[before])
    life = (np.cumsum(events.begins) - 1)[rows]
    returned, batch = _returned(history)[after], _batches(history)[after]
    return RecordedChanges(
        events.page[rows], life, events.at[rows], bits, new, returned, batch,
        *_found(history, events.page[rows], events.at[rows]),
    )  # fmt: skip


def _found(history: History, page: Ints, at: Floats) -> tuple[Floats, Floats]:
    """Return the times at which changes were found, and the times since the visits before."""
    seen = history.seen
    if seen is None or not len(seen.look):
        return at, np.zeros(len(at))
    order = np.lexsort((seen.look_at, seen.look))
    look, look_at = seen.look[order], seen.look_at[order]
    first, stride = int(look_at.min()), int(look_at.max() - look_at.min()) + 2  # keys of pages do not overlap
    key = look * stride + look_at - first
    place = np.searchsorted(key, page * stride + np.clip(at.astype(np.int64) - first, 0, stride - 1))
    here = np.minimum(place, len(look) - 1)
    before = np.maximum(place - 1, 0)
    found_at = np.where((place < len(look)) & (look[here] == page), np.maximum(look_at[here], at), at)
    there = (place > 0) & (look[before] == page)
    return found_at, np.where(there, np.maximum(found_at - look_at[before], 0.0), 0.0)


def _returned(history: History) -> Flags:
    """Return whether each event brought its page back to any earlier state."""
    there = np.flatnonzero(history.op != REMOVED)
    page, content = history.page[there], history.content[there]
    order = np.lexsort((content, page))  # stable: events of one state stay in the order of time
    same = (np.diff(page[order], prepend=-1) == 0) & (np.diff(content[order], prepend=np.uint64(0)) == 0)
    returned = np.zeros(len(history.op), np.bool_)
    returned[there[order]] = same
    return returned


def _batches(history: History) -> Ints:
    """Return the number of pages of the same site that changed at the instant of each event."""
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
