"""Checks that archive and journal agree; they are read in parallel, because both are in the order of the visits."""

from collections.abc import Callable
from typing import Final, cast

import msgspec

from evercrawl.ask.verify.findings import Findings
from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.model.stored.answers import exchange_of
from evercrawl.parse.urls import hostname
from evercrawl.small_file import LIST_BYTES, small
from evercrawl.store.archive.answer import Stored, is_answer, is_dom, stored
from evercrawl.store.archive.archive import COVERED, FOLDER
from evercrawl.store.archive.cdxj import Capture, capture_of, index_name, lines
from evercrawl.store.archive.member import unpack
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import DOM_PREFIX, RENDERED_FOR, EntryKind, iso_date, payload_digest
from evercrawl.store.archive.warc_read import parse, walk
from evercrawl.store.disk.disk import Disk
from evercrawl.store.journal.events import Visit
from evercrawl.store.journal.requisite_events import RequisiteFetched
from evercrawl.store.keeping import read_plan
from evercrawl.store.partition import Partition
from evercrawl.store.repair.damage import ArchiveSpan, Part
from evercrawl.store.state import State
from evercrawl.types import Outcome

_AHEAD_BYTES: Final = 1 << 20
_MEMBER: Final = b"\x1f\x8b\x08" + bytes(5)  # gzip, deflate, no name, no time; not covered by a checksum


class ArchiveCheck:
    """A check of the archive's segments, from one record with an event to the next.

    Parameters
    ----------
    partition, folded
        The crawl, and the fold of the events so far.
    lost
        Pointers of records that an event marks as lost -> the number of that event.
    running
        Whether a crawl is writing; records after the last event are then being written.
    clean
        Whether the crawl ended cleanly; there are then no records after the last event.
    """

    def __init__(
        self,
        partition: Partition,
        folded: State,
        lost: dict[Pointer, int],
        found: Findings,
        *,
        running: bool,
        clean: bool,
    ) -> None:
        self._archive, self._disk, self._folded = partition.archive, partition.disk, folded
        self._ahead = _Ahead(partition.disk)
        self._lost, self._found = lost, found
        self._running, self._clean = running, clean
        self._segment, self._at = 0, 0  # the position up to which the archive is checked
        self._given_up: list[tuple[int, int]] = []  # spans of lost records in this segment
        self._unnamed = set[tuple[int, int]]()  # starts of such records
        going = read_plan(partition.disk)
        self._begins = {span.archive: span.start for span in going.spans} if going is not None else {}
        if going is not None:
            found.mends.append("the removal of old versions was interrupted; the next start completes it")
        self._captures: list[Capture] = []
        self._behind = 0  # number of indexes that are behind their segments
        self._sound = True  # no error in this segment so far

    def visit(self, event: Visit, number: int) -> None:
        """Check the record of a visit and all records before it."""
        assert event.archive is not None
        if self._reached(event.archive, number):
            self._record(event, event.archive.offset, event.archive.length)

    def requisite(self, event: RequisiteFetched, number: int, key: int) -> None:
        """Check the record of a requisite, whose URL has this key, and all records before it."""
        assert event.archive is not None
        segment, offset, length = event.archive
        if (segment, offset + length) < (self._segment, self._at) or not self._reached(event.archive, number):
            return  # records requested by a browser precede their page, and were checked there
        self._found.count("archive records")
        where = f"the record of requisite {event.number} at byte {offset}"
        try:
            record = parse(unpack(self._ahead.read(self._name, offset, length)))
        except StoreError as error:
            self._lose(event.archive, f"{where}: {error}")
            return
        if record.damaged or not is_answer(record):
            self._lose(event.archive, f"{where} is no complete response: {'; '.join([*record.problems, record.kind])}")
            return
        self._remembered(record.url, offset)
        if key and self._folded.hasher.key(record.url) != key:
            self._lose(event.archive, f"{where} is of {record.url}")
            return
        answer = stored(record)
        if answer.kind is EntryKind.RESPONSE and payload_digest(answer.wire) != answer.digest:
            self._lose(event.archive, f"{where} has content that does not match its digest")
        if answer.kind is not EntryKind.NOT_MODIFIED:
            self._captures.append(capture_of(answer, offset, length))

    def _reached(self, where: Pointer, number: int) -> bool:
        """Check the records before the one that an event names; return whether that one is to be checked."""
        segment, offset, length = where
        if self._lost.get(where, -1) > number:
            self._given_up.append((self._begins.get(where, offset), offset + length))
            self._unnamed.add((segment, offset))
            return False
        while self._segment < segment:
            self._end_segment()
        if segment != self._segment or offset < self._at:
            self._blame(f"journal event {number} names byte {offset}, which is inside or before an earlier record")
            return False
        self._between(self._at, offset)
        self._at = offset + length
        return True

    def finish(self) -> None:
        """Check the records after the last one with an event, and the remaining segments."""
        last = max(self._archive.segments(), default=0)
        while self._segment < last and not self._running:
            self._end_segment(unnamed=self._unnamed_at_end)
        if not self._running:
            self._end_segment(unnamed=self._unnamed_at_end)
            self._strangers()
        if self._behind:
            self._found.mends.append(
                f"{self._behind} CDXJ indexes are behind their segments; the next run completes them"
            )

    @property
    def _name(self) -> str:
        return self._archive.name(self._segment)

    def _blame(self, what: str) -> None:
        self._sound = False
        self._found.blame(f"{self._name}: {what}", self._name, Part.ARCHIVE)

    def _unnamed_at_end(self, what: str) -> None:
        if self._clean:
            self._blame(what)
        elif not any(self._name in sentence for sentence in self._found.mends):
            self._found.mends.append(f"{self._name}: {what}; the next start cuts it off and fetches the page again")
        self._sound = False

    def _end_segment(self, unnamed: object = None) -> None:
        self._between(self._at, self._disk.size(self._name), at_end=unnamed is not None)
        self._found.count("archive segments", 1 if self._at or self._disk.size(self._name) else 0)
        if not self._running and self._sound:
            self._index()
        self._segment, self._at = self._segment + 1, 0
        self._given_up, self._captures, self._sound = [], [], True

    def _between(self, start: int, end: int, *, at_end: bool = False) -> None:
        """Check records without an event: requests and segment headers are allowed there, responses are not."""
        blame = self._unnamed_at_end if at_end else self._blame
        while (start := self._walk(start, end, blame)) < end:
            behind = [stop for begin, stop in self._given_up if begin <= start < stop <= end]
            if not behind or not self._begins:  # an unfinished removal overwrites what it began to
                blame(f"damaged at byte {start}: there is no complete record")
                self._found.damage.spans.append(ArchiveSpan(self._segment, start, end))
                return
            start = min(behind)

    def _walk(self, start: int, end: int, blame: Callable[[str], None]) -> int:
        """Check the complete records from `start`; return the end of the last one."""
        at = start
        try:
            for one in walk(cast("Disk", _Window(self._ahead, start, end)), self._name):
                if one.record.damaged or self._ahead.read(self._name, at, len(_MEMBER)) != _MEMBER:
                    return at
                self._found.count("archive records")
                self._remembered(one.record.url, at)
                if is_answer(one.record) and RENDERED_FOR.lower() in one.record.fields:
                    if (self._segment, at) not in self._unnamed:
                        self._captures.append(capture_of(stored(one.record), at, one.length))
                elif is_answer(one.record) and (self._segment, at) not in self._unnamed:
                    blame(f"no journal event names the record of {one.record.url} at byte {at}")
                at += one.length
        except StoreError:
            pass
        return at

    def _record(self, event: Visit, offset: int, length: int) -> None:
        """Check the record that an event names."""
        self._found.count("archive records")
        url = self._folded.urls.get(event.slot)
        where = f"the record of {url} at byte {offset}"
        data = self._ahead.read(self._name, offset, length)
        try:
            record = parse(unpack(data))
        except StoreError as error:
            self._broken(event, f"{where}: {error}")
            return
        if record.damaged or not is_answer(record) or not data.startswith(_MEMBER):
            self._broken(event, f"{where} is no complete response: {'; '.join([*record.problems, record.kind])}")
            return
        if record.url.removeprefix(DOM_PREFIX) != url or record.fields.get("warc-date") != iso_date(event.at):
            was = f"is of {record.url} at {record.fields.get('warc-date')}"
            self._broken(event, f"{where}, visited at {iso_date(event.at)}, {was}")
            return
        answer = stored(record)
        self._remembered(url, offset)
        self._content(event, answer, where)
        if answer.kind is not EntryKind.NOT_MODIFIED and not is_dom(record):
            self._captures.append(capture_of(answer, offset, length))

    def _remembered(self, url: str, offset: int) -> None:
        """Check that a record does not belong to a forgotten URL."""
        forgotten = self._folded.forgotten
        if url and forgotten and forgotten.has_url(self._folded.hasher, url, hostname(url)):
            self._found.blame(f"{self._name}: the record at byte {offset} is of a forgotten URL", self._name)

    def _content(self, event: Visit, answer: Stored, where: str) -> None:
        """Check that the content is the one that the event describes."""
        if answer.kind is not EntryKind.RESPONSE:
            return
        if answer.digest != payload_digest(answer.wire):
            self._broken(event, f"{where} has content that does not match its digest")
        if event.outcome in (Outcome.OK, Outcome.DUPLICATE) and event.status != 304:
            self._found.count("contents")
            body = exchange_of(event, answer).body
            if len(body) != event.size_bytes or not self._folded.hasher.has(body, event.digest, event.digest_rest):
                self._broken(event, f"{where} does not have the content that the journal describes")

    def _broken(self, event: Visit, what: str) -> None:
        assert event.archive is not None
        self._lose(event.archive, what)

    def _lose(self, where: Pointer, what: str) -> None:
        self._found.damage.records.append(where)
        self._blame(what)

    def _index(self) -> None:
        """Check that the segment's CDXJ index names its records; an index that is behind is completed by the next run.

        A killed run may have written the index without recording that; it then names more records than recorded.
        """
        name, size = index_name(self._name), self._disk.size(self._name)
        if not size:
            return
        covered = self._covered()
        if covered < size:
            self._behind += 1
        if not covered:  # the next run rewrites it in any case
            return
        have = self._disk.read(name, 0, self._disk.size(name))
        count = sum(one.offset < covered for one in self._captures)
        if covered < size:
            count = max(count, have.count(b"\n"))
        want = lines(self._captures[:count], self._name.removeprefix(FOLDER))
        self._found.count("index lines", len(want))
        if covered > size or have != "".join(f"{line}\n" for line in want).encode():
            self._found.blame(
                f"{name} does not list exactly the records in the first {covered} bytes of its segment, the extent in "
                f"{COVERED}; remove both files, and the next run recreates them",
                part=Part.ARCHIVE_INDEX,
            )

    def _covered(self) -> int:
        """Return the number of bytes of the segment that its index covers, as recorded."""
        data = small(self._disk, COVERED, LIST_BYTES)
        try:
            return json_of(data, dict[int, int]).get(self._segment, 0) if data else 0
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            what = f"{COVERED} is damaged: {error}; remove it, and the next run recreates it"
            self._found.blame(what, part=Part.ARCHIVE_INDEX)
            return self._disk.size(self._name)

    def _strangers(self) -> None:
        """Find segments that do not belong to this crawl."""
        ours = {self._archive.name(number) for number in self._archive.segments()}
        for name in self._disk.names(FOLDER):
            if name.endswith(".warc.gz") and name not in ours:
                self._found.blame(f"{name} is not a segment of this crawl; move it away", part=Part.ARCHIVE)
                self._found.damage.strangers.append(name)


class _Ahead:
    """Reads a file from front to back in large pieces, because a small read costs as much as a large one."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._name: str = ""
        self._start, self._data = 0, b""

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end of the file."""
        at = offset - self._start
        if name != self._name or at < 0 or at + size > len(self._data):
            self._data = self._disk.read(name, offset, max(size, _AHEAD_BYTES))
            self._name, self._start, at = name, offset, 0
        return self._data[at : at + size]


class _Window:
    """A part of a file, presented as a file."""

    def __init__(self, ahead: _Ahead, start: int, end: int) -> None:
        self._ahead, self._start, self._end = ahead, start, end

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end."""
        start = self._start + offset
        return self._ahead.read(name, start, max(min(size, self._end - start), 0))

    def size(self, name: str) -> int:
        """Return the size in bytes."""
        return self._end - self._start
