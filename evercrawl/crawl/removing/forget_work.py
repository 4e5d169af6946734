"""What a forgetting overwrites: events of the journal, records of the archive, and words in other files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec
import numpy as np

from evercrawl.clock import SystemClock
from evercrawl.crawl.removing.forget_targets import ForgetTargets
from evercrawl.crawl.removing.requisites import ForgottenRequisites
from evercrawl.errors import StoreError
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store import forgetting
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import ID_BYTES
from evercrawl.store.forgetting import Blank, Patch
from evercrawl.store.forgotten import Forgotten
from evercrawl.store.journal.events import Discovery, Event, Found, Obeyed, Visit
from evercrawl.store.journal.frame import Press
from evercrawl.store.journal.requisite_events import RequisiteFetched, RequisitesNeeded
from evercrawl.store.journal.segment import HEADER_BYTES, frames, segments
from evercrawl.store.orders import FILE as ORDERS
from evercrawl.store.orders import words_masked
from evercrawl.store.partition import Partition
from evercrawl.store.repair.archive import StandingPiece, filler, standing
from evercrawl.store.requisites.losing import gone_of, gone_records
from evercrawl.types import NO_SLOT

_URL: Final = re.compile(rb"https?://[^\s\"'<>\\]+")
_MASKED: Final = (ORDERS, "usage.jsonl", "signals.jsonl", "quarantine.json", "skipped.json")
_EVERY: Final = 256
_REQUEST_BYTES: Final = 1000  # of one request; more bytes before an answer hold requests of a browser
Watch = Callable[[str, int, int], None]


class ForgetWork:
    """Works out what is to be overwritten.

    Parameters
    ----------
    partition, table
        The crawl, and the table of all that is forgotten, old and new.
    meant, watch, order
        As `forget` has them.
    """

    def __init__(
        self, partition: Partition, table: Forgotten, meant: ForgetTargets, watch: Watch, order: str = ""
    ) -> None:
        self._partition, self._disk, self._hasher = partition, partition.disk, partition.hasher
        self._table, self._watch, self._order = table, watch, order
        self._hosts = [host.encode() for host in meant.hosts]
        self._slots = np.sort(meant.slots)
        self._new = Forgotten(meant.slots, meant.keys, {})
        self._ends: dict[int, int] = {}  # by segment: the end of the last named record that is there
        self._gone = gone_records(partition.journal.replay())
        self._passed: dict[int, int] = {}  # by segment: the end of the last lost record since then
        self._patches, self._blanks = list[Patch](), list[Blank]()
        forgotten = partition.state.forgotten
        self._beside = ForgottenRequisites(
            partition.journal, lambda slot: self._new.has(slot) or forgotten.has(slot), self._goes
        )

    def plan(self) -> forgetting.ForgetPlan:
        """Return the plan."""
        self._journal()
        for segment in sorted(self._passed):
            self._between(segment, self._ends.get(segment, 0), self._disk.size(self._partition.archive.name(segment)))
        for name in _MASKED:
            self._mask(name)
        now = SystemClock().now()
        return forgetting.new_plan(now, self._table.data(), self._patches, self._blanks, {})

    def _journal(self) -> None:
        press, files = Press(self._partition.state.forgotten.frames.get), segments(self._disk)
        decode = msgspec.msgpack.Decoder(Event).decode
        encode = msgspec.msgpack.Encoder().encode
        count = 0
        for segment in files:
            for frame in frames(self._disk, segment.start, segment.start + HEADER_BYTES):
                before = press.unpack(frame)
                events = [decode(data) for data in before]
                left = [self._without(event, number) for number, event in enumerate(events, frame.sequence)]
                if any(new is not event for new, event in zip(left, events, strict=True)):
                    packed = press.pack_again(frame, [encode(self._marked(event)) for event in left])
                    if packed is None:
                        shorter = [encode(self._marked(event, like_others=True)) for event in left]
                        packed = press.pack_again(frame, shorter)
                    self._table.frames.pop(frame.offset, None)
                    if packed is None:
                        packed, self._table.frames[frame.offset] = press.pack_moved(
                            frame, [encode(self._marked(event)) for event in left]
                        )
                    self._patches.append(Patch(segment.name, frame.offset - segment.start, packed))
                count += 1
                if count % _EVERY == 0:
                    self._watch("events", frame.sequence, self._partition.journal.sequence)

    def _without(self, event: Event, number: int) -> Event:
        """Return an event without what is to be forgotten; the event itself if it contains none of that."""
        if isinstance(event, Visit):
            gone = self._new.has(event.slot)
            self._archived(event, number, gone=gone)
            if gone:
                event = msgspec.structs.replace(
                    event, digest=0, digest_rest=0, simhash=0, words=0, archive=None, content=0, etag="",
                    last_modified="", mime="", title="", language="", error="", text=None, near=NO_SLOT,
                )  # fmt: skip
            elif event.error and self.masked(event.error.encode()) is not None:
                event = msgspec.structs.replace(event, error="")
        if isinstance(event, RequisitesNeeded):
            return self._beside.needed(event)
        if isinstance(event, RequisiteFetched):
            return self._beside.came(event, blanked=self._came(event, number))
        if isinstance(event, Obeyed):
            if self.masked(event.result.encode()) is not None:
                event = msgspec.structs.replace(event, result="forgotten")
            if event.root.encode() in self._hosts:
                event = msgspec.structs.replace(event, root="")
        if isinstance(event, (Visit, Found, Obeyed)) and event.found is not None and self._names(event.found):
            event = msgspec.structs.replace(event, found=self._table.told(event.found))
        return event

    def _names(self, found: Discovery) -> bool:
        """Whether an event made known a URL or host that is to be forgotten."""
        first, last = np.searchsorted(self._slots, (found.first_slot, found.first_slot + len(found.urls))).tolist()
        return bool(last > first) or any(name.encode() in self._hosts for name in found.new_hosts)

    def _marked(self, event: Event, *, like_others: bool = False) -> Event:
        """Return an event in the form that the journal keeps from now on."""
        if isinstance(event, (Visit, Found, Obeyed)) and event.found is not None:
            return msgspec.structs.replace(event, found=self._table.marked(event.found, like_others=like_others))
        return event

    def _archived(self, event: Visit, number: int, *, gone: bool) -> None:
        """Plan to overwrite the record of a visit, and its request, which precedes it."""
        if event.archive is None or self._given_up(event.archive, number):
            return
        segment, offset, length = event.archive
        start, self._ends[segment] = self._ends.get(segment, 0), offset + length
        if not gone:
            if offset - start > _REQUEST_BYTES or segment in self._passed:
                self._between(segment, start, offset)
            return
        name, own, first = self._partition.archive.name(segment), list[StandingPiece](), offset
        for one in self._standing(segment, start, offset):
            if one.record is not None and one.record.url:
                own.append(one)
            else:  # all before that belongs to another visit, whose record was given up
                self._blank_all(name, own)
                own = []
        for one in reversed(own):
            assert one.record is not None, "those that are damaged are not among them"
            first = one.start if self._goes(one.record.url) else first
        self._blank(name, first, offset + length - first)

    def _given_up(self, where: Pointer, number: int) -> bool:
        """Whether the record that an event names was given up later, so that something else may be in its place now."""
        gone = self._gone.get(where, -1) > number
        if gone:
            self._passed[where.segment] = max(self._passed.get(where.segment, 0), where.offset + where.length)
        return gone

    def _standing(self, segment: int, start: int, end: int) -> Iterator[StandingPiece]:
        """Yield what precedes a record that is there; plan to overwrite damaged parts of records that were given up."""
        name, passed = self._partition.archive.name(segment), segment in self._passed
        if self._passed.get(segment, 0) <= end:
            self._passed.pop(segment, None)
        for one in standing(self._disk, name, start, end):
            if one.record is None:
                if not passed:
                    what = f"{name} is damaged at byte {one.start}, and nothing was changed"
                    raise StoreError(f"{what}; run `evercrawl verify --repair` first")
                self._blank(name, one.start, one.end - one.start)
            yield one

    def _blank(self, name: str, offset: int, size: int) -> None:
        """Plan to overwrite a span of the archive."""
        noise = os.urandom(ID_BYTES)
        if not filler(size, 0.0, noise, ""):
            raise StoreError(f"{name}, byte {offset}: {size} bytes are too few for a record; nothing was changed")
        self._blanks.append(Blank(name, offset, size, noise))

    def _blank_all(self, name: str, among: Iterable[StandingPiece]) -> None:
        """Plan to overwrite those records that are of pages to be forgotten."""
        for one in among:
            if one.record is not None and self._goes(one.record.url):
                self._blank(name, one.start, one.end - one.start)

    def _between(self, segment: int, start: int, end: int) -> None:
        """Plan to overwrite records that are to be forgotten and that no event names.

        They are requests of a browser for a page that stays, or requests whose answers were given up.
        """
        self._blank_all(self._partition.archive.name(segment), self._standing(segment, start, end))

    def _came(self, event: RequisiteFetched, number: int) -> bool:
        """Plan to overwrite the record of a requisite and its request; return whether the record is overwritten."""
        if event.archive is None or gone_of(event) is not None or self._given_up(event.archive, number):
            return False
        segment, offset, length = event.archive
        name, before = self._partition.archive.name(segment), self._ends.get(segment, 0)
        if offset + length <= before:  # it is stored with the page whose browser requested it
            within = any(each.name == name and each.offset <= offset < each.offset + each.size for each in self._blanks)
            if within or not self._beside.goes(event.number):
                return within
            self._blank(name, offset, length)
            return True
        self._ends[segment] = offset + length
        if not self._beside.goes(event.number):
            if segment in self._passed:
                self._between(segment, before, offset)
            return False
        others, begins = list(self._standing(segment, before, offset)), offset
        if others and others[-1].record is not None and others[-1].record.kind == "request":
            begins = others.pop().start
        self._blank_all(name, others)
        self._blank(name, begins, offset + length - begins)
        return True

    def _goes(self, url: str) -> bool:
        """Whether a URL is to be forgotten, of a page or of a requisite."""
        if not url:
            return False
        return self._new.has_key(self._hasher.key(url)) or hostname(url).encode() in self._hosts

    def _mask(self, name: str) -> None:
        data = self._disk.read(name, 0, self._disk.size(name))
        masked = self.masked(data) if data else None
        if self._order and name == ORDERS:
            masked = words_masked(data if masked is None else masked, self._order)
        if masked is not None:
            self._patches.append(Patch(name, 0, masked))

    def masked(self, data: bytes) -> bytes | None:
        """Return a text with forgotten URLs and hosts overwritten; None if it contains none."""
        masked = _URL.sub(self._over, data)
        for host in self._hosts:
            for written in (
                host,
                re.escape(host.decode()).encode(),
                re.escape(host.decode()).encode().replace(b"\\", b"\\\\"),
            ):
                masked = masked.replace(written, b"~" * len(written))
        return masked if masked != data else None

    def _over(self, match: re.Match[bytes]) -> bytes:
        url = normalise(match[0].decode("utf-8", "replace").rstrip(".,;:)"))
        known = url is not None and self._new.has_key(self._hasher.key(url))
        return b"~" * len(match[0]) if known else match[0]
