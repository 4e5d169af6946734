"""The columns of derived files, gathered from the journal's events."""

from array import array
from typing import Any, Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Event, Found, Visit
from evercrawl.types import NO_SLOT, Outcome, Slots

EXTERNAL: Final = np.uint32(1 << 31)
"""In `link_row`: the link counts as one between sites."""
THROUGH: Final = np.uint32(1 << 30)
"""In `link_row`: the source only leads to the target, by a redirect, its content or its canonical URL."""
ROW: Final = np.uint32((1 << 30) - 1)
"""In `link_row`: the visit that saw the link, counted from the first of its run."""
MINUTE_S: Final = 60

_CODES: Final = {"B": "u1", "H": "<u2", "I": "<u4", "Q": "<u8", "d": "<f8"}
_VISITS: Final = {
    "number": "Q", "pointer": "Q", "at": "d", "slot": "I", "outcome": "B", "status": "H", "flags": "I", "digest": "Q",
    "simhash": "Q", "words": "I", "size": "I", "wire": "I", "out": "I", "title": "I", "again": "B",
}  # fmt: skip
_NEWS: Final = {
    "news_first": "I",
    "news_count": "I",
    "news_host": "I",
    "news_source": "I",
    "news_at": "d",
    "news_row": "I",
}


class LinkColumns(NamedTuple):
    """Links in stored form, in ascending order of their targets: slots, and rows with flag bits above."""

    target: Slots
    row: Slots


class VisitColumns:
    """Columns gathered from consecutive events, in journal order.

    Attributes
    ----------
    visits, links
        Number of each so far.
    """

    def __init__(self) -> None:
        self._visits: dict[str, array[Any]] = {name: array(code) for name, code in _VISITS.items()}
        self._news: dict[str, array[Any]] = {name: array(code) for name, code in _NEWS.items()}
        self._targets: list[Slots] = []
        self._sources: list[Slots] = []
        self.visits = self.links = 0

    def add(self, pointer: int, number: int, event: Event) -> None:
        """Take in an event."""
        if isinstance(event, Found):
            self._find(event.found.first_slot, event.found.hosts, NO_SLOT, event.at)
        elif isinstance(event, Visit):
            self._visit(pointer, number, event)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return visits and news by name, shape (n,) each."""
        gathered = self._visits | self._news
        return {name: np.frombuffer(values, np.dtype(_CODES[values.typecode])) for name, values in gathered.items()}

    def link_columns(self) -> LinkColumns:
        """Return the links."""
        if not self._targets:
            return LinkColumns(np.zeros(0, np.uint32), np.zeros(0, np.uint32))
        targets, rows = np.concatenate(self._targets), np.concatenate(self._sources)
        order = np.argsort(targets, kind="stable")
        return LinkColumns(targets[order], rows[order])

    def _visit(self, pointer: int, number: int, event: Visit) -> None:
        row = (
            number, pointer, event.at, event.slot, event.outcome, event.status, event.flags, event.digest,
            event.simhash, event.words, min(event.size_bytes, 0xFFFFFFFF), min(event.wire_bytes, 0xFFFFFFFF), event.out,
            xxhash.xxh32_intdigest(event.title.encode("utf-8", "surrogatepass")), event.visits > 1,
        )  # fmt: skip
        for values, value in zip(self._visits.values(), row, strict=True):
            values.append(value)
        if event.flags & HAS_LINKS:
            self._link(event)
        if event.found is not None and event.visits > 1 and event.outcome != Outcome.REDIRECT:
            self._find(event.found.first_slot, event.found.hosts, event.host, event.at)
        self.visits += 1

    def _link(self, event: Visit) -> None:
        if event.alias != NO_SLOT:
            targets, rows = np.array([event.alias], np.uint32), np.array([self.visits], np.uint32) | THROUGH | EXTERNAL
        elif event.targets:
            targets = decode_slots(event.targets)
            rows = np.full(len(targets), self.visits, np.uint32)
            if event.external:
                bits = np.unpackbits(np.frombuffer(event.external, np.uint8), bitorder="little", count=len(targets))
                rows |= bits.astype(np.uint32) << np.uint32(31)
        else:
            return
        self._targets.append(targets)
        self._sources.append(rows)
        self.links += len(targets)

    def _find(self, first_slot: int, hosts: list[int], source: int, at: float) -> None:
        """Record newly known URLs, in stretches of one host each; `source` is the host that named them."""
        start = 0
        for place in range(1, len(hosts) + 1):
            if place == len(hosts) or hosts[place] != hosts[start]:
                row = (first_slot + start, place - start, hosts[start], source, at, self.visits)
                for values, value in zip(self._news.values(), row, strict=True):
                    values.append(value)
                start = place


def minutes(
    at: NDArray[Any], changed: NDArray[Any], failed: NDArray[Any], wire: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return counts of visits by the minute in which they began, minutes ascending.

    Parameters
    ----------
    at, changed, failed, wire
        Of each visit, shape (n,): its instant in seconds since the epoch, whether it found a change, whether it failed,
        its bytes.

    Examples
    --------
    >>> at, changed, failed = np.array([60.0, 119.0, 120.0]), np.array([1, 0, 1]), np.array([0, 0, 1])
    >>> counts = minutes(at, changed, failed, np.array([5, 5, 9]))
    >>> counts["minute"].tolist(), counts["minute_visits"].tolist(), counts["minute_bytes"].tolist()
    ([1, 2], [2, 1], [10, 9])
    """
    minute, where = np.unique((at // MINUTE_S).astype(np.uint32), return_inverse=True)
    return {"minute": minute, "minute_visits": np.bincount(where, minlength=len(minute)).astype(np.uint32)} | {
        f"minute_{name}": np.bincount(where, weights=values, minlength=len(minute)).astype(dtype)
        for name, values, dtype in (("changes", changed, "<u4"), ("errors", failed, "<u4"), ("bytes", wire, "<u8"))
    }
