"""Turns of the virtual page under `virtual_page = focused`: its cash goes to pages by weight, as in the OPIC paper.

The virtual page is treated like other pages: when it holds enough cash, it has a turn and gives all of it away. Each
unread page and each page with content of its own gets a part in proportion to its weight. With this setting `discovery`
and `[[focus]]` move cash, and so change importance; otherwise they multiply the key by which visits are chosen
(`model.focus`). Each turn is an event with amounts, so the fold needs no settings. Changed weights apply to all known
pages from the next turn on.

References
----------
Abiteboul, Preda, Cobena (2003). Adaptive on-line page importance computation, on the focus of a crawl.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.config import Focus
from evercrawl.model.focus import Focusing, discovery_share
from evercrawl.model.rules.barred import Barred
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import Discovery, VirtualSpent
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import MEMBER
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats, Ints

TURN: Final = 1 / 16
"""Share of all cash at which the virtual page has its turn; if the mean cash of a page is more, that is the threshold.

With a tax of 0.15 and visits that move twice the mean cash, a turn comes once for every fifth of the pages."""


class VirtualTurns:
    """Lets the virtual page have its turns, in a crawl whose scheme gives it turns.

    Parameters
    ----------
    partition
        The crawl directory.
    discovery, focus
        The settings: an unread page counts `discovery` / (1 - `discovery`) times as much as other pages, and a page
        that matches an entry of `focus` counts `weight` times.
    barred
        The pages that the scope keeps out, which get nothing; None keeps no page out.
    """

    def __init__(
        self, partition: Partition, discovery: float, focus: Sequence[Focus], barred: Barred | None = None
    ) -> None:
        self._partition, self._state, self._barred = partition, partition.state, barred
        self._unread, self._read = discovery_share(discovery)
        self._focusing = Focusing(partition.state, focus, partition.journal.read) if focus else None
        self._rest = 0  # visits and discoveries until the next attempt, after no page could get anything

    def found(self, found: Discovery) -> None:
        """Take a turn if one is due after a discovery."""
        self.turn(len(found.urls))

    def turn(self, events: int = 1) -> None:
        """Take a turn if one is due, after a number of events; if no page can get anything, wait for further events."""
        state, self._rest = self._state, self._rest - events
        accounts, count = state.accounts, state.known.count
        if not accounts.focused or not count or accounts.virtual < max(TURN, 1 / (1 + count)) or self._rest > 0:
            return
        weights = self.weights()
        total = float(weights.sum())
        if not total:
            self._rest = 1 + count // 64
            return
        found, which = np.unique(weights, return_inverse=True)
        groups = [(float(w), np.flatnonzero(which == i)) for i, w in enumerate(found.tolist()) if w]
        unit, at = accounts.virtual / total, state.last_at()
        runs = tuple(encode_runs(slots) for _, slots in groups)
        self._partition.remember(VirtualSpent(at, runs, tuple(unit * weight for weight, _ in groups)))

    def weights(self) -> Floats:
        """Return the weight of each known page, by slot; 0 for pages that get nothing."""
        state, count = self._state, self._state.known.count
        cells = state.table.record[:count]
        seen = cells < NO_RECORD
        rows = state.records.rows
        member = np.zeros(count, np.bool_)
        member[seen] = (rows["flags"][cells[seen]] & MEMBER) != 0
        unread = ~seen
        if self._barred is not None:
            unread &= np.unpackbits(self._barred.bits[: (count + 7) // 8], bitorder="little")[:count] == 0
        weights = np.where(unread, self._unread, np.where(member, self._read, 0.0))
        weights *= state.accounts.sites["trusted"][state.site_of[state.known.hosts()]] > 0
        if self._focusing is not None:
            weights *= self._focusing.weights(np.arange(count, dtype=np.uint32))
        return weights


def encode_runs(slots: Ints) -> bytes:
    """Return ascending slots, shape (n,), encoded as the begin and the end of each run.

    >>> from evercrawl.store.journal.codec import decode_runs
    >>> decode_runs(encode_runs(np.array([3, 4, 5, 9]))).tolist()
    [3, 4, 5, 9]
    """
    breaks = np.flatnonzero(np.diff(slots) != 1) + 1
    first, last = slots[np.append(0, breaks)], slots[np.append(breaks - 1, len(slots) - 1)]
    return encode_slots(np.concatenate((first, last + 1)).astype(np.uint32))
