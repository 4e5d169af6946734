"""All that a partition knows, as a fold over its journal: known URLs, one record a fetched page, hosts, counts.

The same `apply` runs while crawling and while replaying, so the journal folds to what memory holds by construction;
`verify` folds it once more and compares.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from evercrawl.store.arena import reserve
from evercrawl.store.events import CHANGED, HAS_LINKS, UNCHANGED, Discovery, Event, Found, Visit
from evercrawl.store.known import TICKS_PER_S, KnownLog
from evercrawl.store.records import Records
from evercrawl.store.table import NO_RECORD, KeyMap, Table
from evercrawl.store.urllog import UrlLog
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.disk import Disk
    from evercrawl.types import Floats, Keys, Slots

RETRIED: Final = frozenset({0, 408, 425, 429, 500, 502, 503, 504})  # statuses that another try may cure
IN_VAIN: Final = (Outcome.ERROR, Outcome.REFUSED, Outcome.GONE)
RETRIES: Final = 2  # visits after which a page in trouble waits for its refresh like any other

_NONE: Final = np.zeros(0, np.uint32)


class State:
    """What is known, in memory.

    Parameters
    ----------
    disk
        Where the derived files (`known.bin`, `urls.log`) live.
    epoch
        Start of the crawl, seconds since the epoch; instants in records count from here.
    keys
        URLs -> 64-bit keys.
    known, tail
        How many URLs a snapshot says there were, and those of the unfinished block.
    writable
        False for a reader beside a running crawl: nothing is written or cut.
    """

    def __init__(
        self,
        disk: Disk,
        epoch: float,
        keys: Callable[[list[str]], Keys],
        *,
        known: int = 0,
        tail: list[str] | None = None,
        writable: bool = True,
    ) -> None:
        self.epoch = epoch
        self.keys = keys
        self.known = KnownLog(disk, known, writable=writable)
        self.urls = UrlLog.open(disk, known, tail or [], writable=writable)
        self.table = Table()
        self.records = Records()
        self.hosts: list[str] = []
        self.host_numbers: dict[str, int] = {}
        self.away: dict[int, float] = {}  # host -> leave it alone until then
        self.outcomes: Counter[int] = Counter()  # pages by their last outcome
        self.visits = 0
        self.changes = 0
        self.wire_bytes = 0
        self._digests = KeyMap(1 << 20)
        self._originals: Slots = reserve(np.uint32, 1 << 28)

    def host_number(self, name: str, new: list[str]) -> int:
        """Return the number of a host; a new one gets the next number and is added to `new`, to be admitted later."""
        number = self.host_numbers.get(name)
        if number is None:
            number = len(self.host_numbers)
            self.host_numbers[name] = number
            new.append(name)
        return number

    def admit(self, found: Discovery, at: float, keys: Keys) -> None:
        """Take note of URLs that are in the table since just now."""
        assert found.first_slot == self.known.count, "slots are given out in the order of the journal"
        for name in found.new_hosts:
            self.host_numbers.setdefault(name, len(self.hosts))
            self.hosts.append(name)
        self.known.append(keys, found.hosts, self.ticks(at), found.source, found.depth, found.hops)
        self.urls.append(found.urls)
        new = slice(found.first_slot, found.first_slot + len(found.urls))
        self.table.record[new] = NO_RECORD | min(found.hops, 255) << 8 | min(found.depth, 255)

    def replay(self, event: Event, pointer: int) -> None:
        """Fold one event that was read back from the journal."""
        if not (isinstance(event, (Visit, Found))) or event.found is None:
            self.apply(event, pointer)
            return
        found = event.found
        if found.urls:
            keys = self.keys(found.urls)
            slots, new = self.table.intern(keys)
            assert new.all(), "the journal names a URL twice"
            assert int(slots[0]) == found.first_slot, "the journal leaves out a URL"
            self.admit(found, event.at, keys)
        self.apply(event, pointer)

    def apply(self, event: Event, pointer: int) -> None:
        """Fold one event whose discoveries are admitted already."""
        if isinstance(event, Visit):
            self._visited(event, pointer)
        elif not isinstance(event, Found):
            self._lost(event.slot)

    def _visited(self, event: Visit, pointer: int) -> None:
        slot = event.slot
        rows = self.records.rows
        outcome = 0
        if event.visits == 1:
            cell = int(self.table.record[slot])  # a snapshot may have been copied after this visit
            depth = cell & 0xFF if cell & NO_RECORD else int(self.known.row(slot)["depth"])
            index = self.records.add()
            self.table.record[slot] = index
            old_event, importance, shape, scale = 0, 0.0, 0.0, 0.0
        else:
            index = int(self.table.record[slot])
            record = rows[index].item()
            _, _, _, size, held, similar, old_event, importance, shape, scale, _, _, _, outcome, depth = record
            self.outcomes[outcome] -= 1
            if event.flags & UNCHANGED or (held and not event.flags & HAS_LINKS):
                # the content is the one held, and so are its size and its likeness; trouble brings none
                event = msgspec.structs.replace(event, size_bytes=size, simhash=similar)
        rows[index] = (
            slot, event.host, self.ticks(event.at), min(event.size_bytes, 0xFFFFFFFF), event.digest, event.simhash,
            pointer if event.flags & HAS_LINKS else old_event, importance, shape, scale,
            min(event.visits, 0xFFFF), min(event.changes, 0xFFFF), event.status, event.outcome, depth,
        )  # fmt: skip
        self.outcomes[event.outcome] += 1
        self.visits += 1
        self.changes += event.flags & CHANGED
        self.wire_bytes += event.wire_bytes
        if event.retry_at:
            self.away[event.host] = event.retry_at
        if event.outcome == Outcome.OK and event.digest and not (event.flags & UNCHANGED and outcome == Outcome.OK):
            number = int(self._digests.intern(np.array([event.digest], np.uint64))[0][0])
            self._originals[number] = slot

    def _lost(self, slot: int) -> None:
        index = int(self.table.record[slot])
        if not index & NO_RECORD:
            row = self.records.rows[index]
            if row["outcome"]:
                self.outcomes[int(row["outcome"])] -= 1
                row["outcome"] = 0
            facts = self.known.row(slot)
            self.table.record[slot] = NO_RECORD | int(facts["hops"]) << 8 | int(facts["depth"])

    def index_originals(self) -> None:
        """Learn again, from the records, which page first had each content."""
        rows = self.records.rows[: self.records.count]
        rows = rows[(rows["outcome"] == Outcome.OK) & (rows["digest"] != 0)]
        numbers, _ = self._digests.intern(np.ascontiguousarray(rows["digest"]))
        self._originals[numbers[::-1]] = rows["slot"][::-1]

    def original(self, digest: int) -> int:
        """Return the slot of a page whose last content had this digest; NO_SLOT where none has."""
        number = int(self._digests.find(np.array([digest], np.uint64))[0])
        if number == NO_SLOT:
            return NO_SLOT
        slot = int(self._originals[number])
        index = self.record_of(slot)
        row = self.records.rows[index] if index is not None else None
        return slot if row is not None and int(row["digest"]) == digest and row["outcome"] == Outcome.OK else NO_SLOT

    def record_of(self, slot: int) -> int | None:
        """Return the index of a page's record; None before its first visit."""
        cell = int(self.table.record[slot])
        return None if cell & NO_RECORD else cell

    def ticks(self, at: float) -> int:
        """Return an instant as records keep it."""
        return min(max(round((at - self.epoch) * TICKS_PER_S), 0), 0xFFFFFFFF)

    def instant(self, ticks: float) -> float:
        """Return a record's instant in seconds since the epoch."""
        return self.epoch + ticks / TICKS_PER_S

    def visited_at(self, slot: int) -> float:
        """Return the instant of the last visit to a page that has a record."""
        return self.epoch + float(self.records.rows["visited"][self.table.record[slot]]) / TICKS_PER_S

    def columns(self, slots: Slots) -> tuple[Floats, Floats]:
        """Return visited_at (nan before the first visit) and cash of pages, each of shape (n,)."""
        cells = self.table.record[slots]
        seen = (cells & np.uint32(NO_RECORD)) == 0
        visited_at = np.full(len(slots), np.nan)
        visited_at[seen] = self.epoch + self.records.rows["visited"][cells[seen]] / TICKS_PER_S
        return visited_at, self.table.cash[slots].astype(np.float64)

    def unanswered(self, hosts: list[int]) -> list[int]:
        """Return those of `hosts` from which no answer came when they were last asked."""
        rows = self.records.rows[: self.records.count]
        asked = (rows["outcome"] != 0) & (rows["outcome"] != Outcome.REFUSED) & np.isin(rows["host"], hosts)
        rows = rows[asked]
        rows = rows[np.argsort(rows["visited"], kind="stable")]
        last = dict(zip(rows["host"].tolist(), rows["status"].tolist(), strict=True))
        return [host for host in hosts if last.get(host) == 0]

    def to_try(self, named: Slots = _NONE) -> tuple[Slots, Slots]:
        """Return the slots to be fetched now, and the visited ones in order of last visit, for their refresh.

        To be fetched are those of `named` that were visited in vain, those never visited in order of discovery, and
        those whose last visit may end otherwise today: no request was made, no answer came, or the host was in trouble.
        """
        count = self.known.count
        fresh = np.flatnonzero(self.table.record[:count] & np.uint32(NO_RECORD)).astype(np.uint32)
        rows = self.records.rows[: self.records.count]
        rows = rows[rows["outcome"] != 0]
        first = np.isin(rows["slot"], named) & np.isin(rows["outcome"], IN_VAIN)
        error, refused = rows["outcome"] == Outcome.ERROR, rows["outcome"] == Outcome.REFUSED
        trouble = error & np.isin(rows["status"], list(RETRIED)) & (rows["visits"] <= RETRIES)
        again = (refused | error & (rows["status"] == 0) | trouble) & ~first
        seen = rows[~(first | again)]
        new = np.concatenate([rows["slot"][first], fresh, rows["slot"][again]])
        return new, seen["slot"][np.argsort(seen["visited"], kind="stable")]
