"""The archive: requests and answers, byte for byte, in WARC segments."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import LIST_BYTES, small
from evercrawl.store.archive.answer import Stored, is_answer, stored
from evercrawl.store.archive.cdxj import REVISIT, SEGMENT_SUFFIX, Capture, index_name, index_segment, lines, media_type
from evercrawl.store.archive.member import unpack
from evercrawl.store.archive.pointer import ArchiveEnd, Pointer
from evercrawl.store.archive.warc import ID_BYTES, ArchiveEntry, EntryKind, payload_digest, visit_records, warcinfo
from evercrawl.store.archive.warc_read import WarcRecord, parse
from evercrawl.store.disk.disk import Disk

FOLDER: Final = "archive/"
COVERED: Final = FOLDER + "indexed.json"
SEGMENT_BYTES: Final = 1 << 30
REMOVED: Final = "the archive no longer has this version, because of keep_days, keep_bytes or keep_versions"
_LOOKED: Final = 32
_HEAD: Final = 5  # of a stored block of deflate


class Archive:
    """The WARC segments of one crawl, named `archive/evercrawl-<crawl id>-00000.warc.gz` and so on.

    Parameters
    ----------
    disk
        Disk with the segments. Nothing is written before the first `append`.
    crawl_id
        Part of the file names: letters, digits and hyphens.
    random
        Returns the given number of random bytes, for the names of records.
    software, agent
        Name of the writing software, and the crawl's user agent, for the first record of each segment.
    segment_bytes
        Size limit: a segment is closed before it would exceed this; only a single batch may be larger.
    """

    def __init__(
        self,
        disk: Disk,
        crawl_id: str,
        random: Callable[[int], bytes],
        *,
        software: str,
        agent: str,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        self._disk, self._random = disk, random
        self._software, self._agent, self._segment_bytes = software, agent, segment_bytes
        self._prefix = f"{FOLDER}evercrawl-{crawl_id}-"
        self._segment = max(self.segments(), default=0)
        self._size = disk.size(self.name(self._segment))
        self._captures: dict[int, list[Capture]] = {}
        self._first_size = {number: disk.size(self.name(number)) for number in self.segments()}

    @property
    def end(self) -> ArchiveEnd:
        """Return the last segment's number and its size in bytes."""
        return ArchiveEnd(self._segment, self._size)

    def name(self, segment: int) -> str:
        """Return the file name of a segment."""
        return f"{self._prefix}{segment:05d}{SEGMENT_SUFFIX}"

    def segments(self) -> list[int]:
        """Return the numbers of the segments on the disk, in order."""
        return [
            int(number)
            for name in self._disk.names(self._prefix)
            if name.endswith(SEGMENT_SUFFIX) and (number := name[len(self._prefix) : -len(SEGMENT_SUFFIX)]).isdigit()
        ]

    def append(self, batch: Sequence[ArchiveEntry]) -> list[Pointer]:
        """Write the records of a batch; return the position of the response or revisit record of each entry.

        The batch is written to one segment in one piece. It survives a power cut only after `sync`.

        Raises
        ------
        NoRoomError
            The disk is full; nothing of the batch was written, and the call can be repeated.
        """
        if not batch:
            return []
        noise = self._random(2 * ID_BYTES * len(batch))
        parts: list[bytes] = []
        spans: list[tuple[int, int]] = []
        digests: list[str] = []
        size = 0
        for number, entry in enumerate(batch):
            digest = (entry.digest or payload_digest(entry.exchange.wire)) if entry.kind is EntryKind.RESPONSE else ""
            request, answer = visit_records(entry, noise[2 * ID_BYTES * number : 2 * ID_BYTES * (number + 1)], digest)
            spans.append((size + len(request), len(answer)))
            digests.append(digest)
            parts += (request, answer)
            size += len(request) + len(answer)
        segment = self._room(size)
        begun = segment == self._segment and self._size > 0
        opening = b"" if begun else self._opening(segment, batch[0].exchange.at)
        start = self._disk.append(self.name(segment), b"".join((opening, *parts))) + len(opening)
        self._segment, self._size = segment, start + size
        pointers = [Pointer(segment, start + offset, length) for offset, length in spans]
        self._note(batch, pointers, digests)
        return pointers

    def index(self, *, current: bool = True, read_bytes: int | None = None) -> None:
        """Write the CDXJ index of every segment that has grown since its index was written.

        A segment whose index was complete when this object was created is not read again, because later records are
        remembered; other segments, as after a crash, are read.

        Parameters
        ----------
        current
            Whether to index the segment that is being written; if False, another thread may append meanwhile.
        read_bytes
            Segments larger than this that must be read are skipped; None reads any.
        """
        covered, being_written = self._covered(), self._segment
        for segment in self.segments():
            name, size = self.name(segment), self._disk.size(self.name(segment))
            if covered.get(segment) == size or (segment >= being_written and not current):
                continue
            if covered.get(segment, 0) == self._first_size.get(segment):
                self._merge_index(segment, known=segment in covered)
            elif read_bytes is None or size <= read_bytes:
                index_segment(self._disk, name)
            else:
                continue
            covered[segment] = size
            self._first_size[segment] = size
            self._captures.pop(segment, None)
        self._disk.replace(COVERED, [msgspec.json.encode(covered)])

    def forget_index(self, segment: int) -> None:
        """Mark the index of a segment as missing, so that it is rebuilt from the segment."""
        covered = self._covered()
        if covered.pop(segment, None) is not None or not covered:
            self._disk.replace(COVERED, [msgspec.json.encode(covered)])
        self._captures.pop(segment, None)

    def _uncover(self, first: int) -> None:
        """Mark the indexes of the segments from `first` on as missing, before they are removed."""
        covered = self._covered()
        kept = {segment: size for segment, size in covered.items() if segment < first}
        if kept != covered:
            self._disk.replace(COVERED, [msgspec.json.encode(kept)])

    def _covered(self) -> dict[int, int]:
        """Return how many bytes of each segment its index covers."""
        data = small(self._disk, COVERED, LIST_BYTES)
        try:
            return json_of(data, dict[int, int]) if data else {}
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return {}

    def _merge_index(self, segment: int, *, known: bool) -> None:
        """Add the records appended since; an index that is not `known` is replaced, as it may list cut records."""
        name, index = self.name(segment), index_name(self.name(segment))
        rows = self._disk.read(index, 0, self._disk.size(index)).decode().splitlines() if known else []
        rows += lines(self._captures.get(segment, ()), name.removeprefix(FOLDER))
        self._disk.replace(index, ["".join(f"{row}\n" for row in sorted(rows)).encode()])

    def _note(self, batch: Sequence[ArchiveEntry], pointers: list[Pointer], digests: list[str]) -> None:
        captures = self._captures.setdefault(pointers[0].segment, [])
        self._first_size.setdefault(pointers[0].segment, 0)
        for entry, pointer, digest in zip(batch, pointers, digests, strict=True):
            exchange = entry.exchange
            if entry.kind is EntryKind.RESPONSE:
                mime = media_type(exchange.headers.get("content-type", ""))
            elif entry.kind is EntryKind.SAME_CONTENT and entry.refers_to is not None:
                mime, digest = REVISIT, entry.refers_to.digest or payload_digest(exchange.wire)
            else:
                continue  # replay tools would show the 304 itself, which is empty
            captures.append(
                Capture(
                    exchange.request.url, exchange.at, mime, exchange.status, digest, pointer.offset, pointer.length
                )
            )

    def sync(self) -> None:
        """Return once everything appended will survive a power cut."""
        if self._size:
            self._disk.sync(self.name(self._segment))

    def cut(self, segment: int, size: int) -> int:
        """Drop everything after `size` bytes of `segment`; return the number of dropped bytes.

        A restarted crawl uses this to remove records that its journal does not have.

        Raises
        ------
        StoreError
            The archive is shorter than that: records that the journal has are missing.
        """
        kept = self.name(segment)
        have = self._disk.size(kept)
        if have < size:
            raise StoreError(
                f"{kept} should have {size} bytes and has {have}: records are missing; "
                "restore the file from a copy, or start a new crawl in another directory"
            )
        dropped = have - size
        self._uncover(segment if have > size else segment + 1)
        for later in [number for number in self.segments() if number > segment]:
            dropped += self._disk.size(self.name(later))
            self._disk.remove(index_name(self.name(later)))
            self._disk.remove(self.name(later))
        if have > size:
            self._disk.remove(index_name(kept))
            self._disk.truncate(kept, size)
        self._segment, self._size = segment, size
        self._first_size = {number: self._disk.size(self.name(number)) for number in self.segments()}
        return dropped

    def whole(self, pointer: Pointer) -> bool:
        """Return whether the record is complete: one gzip member with a matching checksum and a WARC record in it."""
        try:
            return not self._record(pointer).damaged
        except StoreError:
            return False

    def read(self, pointer: Pointer) -> Stored:
        """Return the answer at a pointer.

        Raises
        ------
        StoreError
            The record is missing or damaged, or is not an answer.
        """
        found = self._record(pointer)
        if not is_answer(found) or found.damaged:
            what = found.problems[0] if found.damaged else f"it is a {found.kind} record"
            raise StoreError(f"{self.name(pointer.segment)}, byte {pointer.offset}: not an archived answer: {what}")
        return stored(found)

    def _room(self, size: int) -> int:
        """Return the segment that can take `size` more bytes."""
        if self._size == 0 or self._size + size <= self._segment_bytes:
            return self._segment
        self.sync()
        return self._segment + 1

    def _record(self, pointer: Pointer) -> WarcRecord:
        name = self.name(pointer.segment)
        data = self._disk.read(name, pointer.offset, pointer.length)
        if _is_removed(data):
            raise StoreError(f"{name}, byte {pointer.offset}: {REMOVED}")
        try:
            return parse(unpack(data))
        except StoreError as error:
            raise StoreError(f"{name}, byte {pointer.offset}: {error}") from error

    def holds(self, pointer: Pointer) -> bool:
        """Return whether a record still exists, judged by its first bytes: it may have been removed on purpose."""
        looked = min(pointer.length, _LOOKED)
        data = self._disk.read(self.name(pointer.segment), pointer.offset, looked)
        return len(data) == looked and not _is_removed(data)

    def _opening(self, segment: int, at: float) -> bytes:
        filename = self.name(segment).removeprefix(FOLDER)
        return warcinfo(filename, self._software, self._agent, at, self._random(ID_BYTES))


def _is_removed(data: bytes) -> bool:
    return bool(data) and data.count(0, 0, _LOOKED) >= min(len(data), _LOOKED) - _HEAD
