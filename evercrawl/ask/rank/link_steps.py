"""Links that appeared and vanished during a crawl, as changes in the importance that their targets get."""

from __future__ import annotations

from array import array
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.importance.base import Links
from evercrawl.importance.sites.rising import Steps
from evercrawl.model.stored.reader import events
from evercrawl.model.view import View
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, PARTIAL, Visit
from evercrawl.types import NO_SLOT, Floats, Outcome, Slots

_HOPS: Final = 4  # from an alias to its original
_UNREAD: Final = -1.0


class _Held(NamedTuple):
    """The links of a page as last read, and whether they may be incomplete."""

    targets: bytes
    external: bytes
    out: int
    partial: bool

    def differs(self, other: _Held) -> bool:
        """Return whether the links differ."""
        return (self.targets, self.external, self.out) != (other.targets, other.external, other.out)


def link_steps(view: View) -> Steps:
    """Return the links that appeared and vanished, as steps of importance by slot; instants in s since the epoch.

    A link seen when a page is first read may be as old as the page, so it does not count as new: otherwise every page
    that a growing crawl discovers would seem to rise. A link is new if the page had been read before without it, or if
    the page itself is new, that is, became known by a new link. Its instant is the middle of the time between the two
    readings.
    A link brings a part of what its page has *now*, so that only changes of links make steps, and not what the crawl
    learned about their pages meanwhile; links that stay make none, however many others there are. Links to an alias
    count as links to its original.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    return _Reader(view).steps()


class _Reader:
    """A reader of the journal that compares the links of each page with those it had before."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._final = final_pages(view)
        self._held: dict[int, _Held] = {}
        self._born: Floats = np.full(view.state.known.count, _UNREAD)  # when new pages appeared
        self._page, self._at, self._amount = array("q"), array("d"), array("d")

    def steps(self) -> Steps:
        for _, _, event in events(self._view.partition, self._view.partition.journal.sequence):
            if isinstance(event, Visit) and event.flags & HAS_LINKS and event.slot < len(self._born):
                self._read(event)
        columns = (np.array(self._page, np.int64), np.array(self._at), np.array(self._amount))
        return Steps(*columns)

    def _read(self, event: Visit) -> None:
        """Compare one reading with the one before."""
        before = self._held.get(event.slot)
        partial = bool(event.flags & PARTIAL) or event.outcome == Outcome.TRUNCATED or event.alias != NO_SLOT
        now = self._held[event.slot] = _Held(event.targets, event.external, event.out, partial)
        if partial:
            return
        if before is None:
            if self._born[event.slot] != _UNREAD:
                self._step(event.slot, float(self._born[event.slot]), None, now)
        elif not before.partial and before.differs(now):
            at = event.at - event.interval_s / 2
            self._step(event.slot, at, before, now)
            if event.found is not None and event.found.source == event.slot:
                first = event.found.first_slot
                self._born[first : first + len(event.found.urls)] = at

    def _step(self, slot: int, at: float, before: _Held | None, now: _Held) -> None:
        """Record a step for each link that a page has gained or lost between two readings."""
        value = float(self._view.importance[slot])
        there, gives = self._gifts(value, now)
        had, gave = self._gifts(value, before) if before is not None else (there[:0], gives[:0])
        own = self._final[slot]  # the target of links to aliases of the page
        came, went = ~np.isin(there, had) & (there != own), ~np.isin(had, there) & (had != own)
        changed = np.concatenate([there[came], had[went]])
        self._page.extend(changed.tolist())
        self._at.extend([at] * len(changed))
        self._amount.extend(np.concatenate([gives[came], -gave[went]]).tolist())

    def _gifts(self, value: float, held: _Held) -> tuple[Slots, Floats]:
        """Return the targets of a page's links, and how much each gets from a page of the given value."""
        inside, outside = self._view.scheme.each(value, Links(out=held.out))
        slots = decode_slots(held.targets)
        bits = np.frombuffer(held.external.ljust(-(-len(slots) // 8), b"\0"), np.uint8)
        away = np.unpackbits(bits, count=len(slots), bitorder="little")
        known = slots < len(self._final)  # a crawl running meanwhile may know more by now
        return self._final[slots[known]], np.where(away, outside, inside)[known].astype(np.float64)


def final_pages(view: View) -> Slots:
    """Return the page that represents each known page: itself, or the original of an alias; shape (known,)."""
    rows: Any = view.state.records.rows[: view.state.records.count]
    final = np.arange(view.state.known.count, dtype=np.uint32)
    aliases = rows[rows["alias"] != NO_SLOT]
    final[aliases["slot"]] = aliases["alias"]
    for _ in range(_HOPS):
        final = final[final]
    return final
