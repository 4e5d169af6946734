"""The journal: everything that ever happened to a crawl, appended in order, never changed.

A pointer is the offset of a frame, counted over all files, times 256, plus the event's place in the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

import msgspec

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import Disk
from evercrawl.store.journal.events import Event
from evercrawl.store.journal.frame import EVENTS, parse
from evercrawl.store.journal.reader import Reader
from evercrawl.store.journal.segment import HEADER_BYTES, header, segment_name
from evercrawl.store.journal.tail import JournalEnd, find_end

SEGMENT_BYTES: Final = 255 << 20  # a file that has reached this gets no further frame, so it stays below 256 MiB
_T = TypeVar("_T")
_FRAME_BYTES: Final = 64 << 10  # of encoded events; a frame that has reached this is closed, be it not full


class Glance(msgspec.Struct, array_like=True, frozen=True):
    """How an event begins.

    Attributes
    ----------
    kind
        Its tag.
    first
        Its first field: the slot of a visit, and of what else is of one page.
    """

    kind: str
    first: object = None


class Batch(NamedTuple):
    """What `Journal.seal` took and `Journal.write` brings to the disk.

    Attributes
    ----------
    start, end
        Offsets in the journal.
    sequence
        Events in the journal, this batch included: they are all acknowledged once it is written.
    parts
        For each file its first byte's offset and the bytes to append.
    """

    start: int
    end: int
    sequence: int
    parts: tuple[tuple[int, bytes], ...]

    def __bool__(self) -> bool:
        """Whether there is something to write."""
        return self.end > self.start


class Journal:
    """Events, appended in order and read back by pointer or from an offset on; made by `open`.

    One thread appends, seals and reads; `write` may run in another, one batch after the other.

    Attributes
    ----------
    sequence
        Events ever appended; the next one's number.
    written
        Events that are on the disk for good.
    repaired
        What opening had to cut off or look past, as a sentence; "" where nothing was wrong.
    """

    def __init__(self, disk: Disk, end: JournalEnd, *, writable: bool, segment_bytes: int) -> None:
        self.sequence = self.written = end.sequence
        self.repaired = ""
        self._disk, self._writable, self._segment_bytes = disk, writable, segment_bytes
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode: Callable[[bytes], Event] = msgspec.msgpack.Decoder(Event).decode
        self._glance: Callable[[bytes], Glance] = msgspec.msgpack.Decoder(Glance).decode
        self._reader = Reader(disk)
        self._press = self._reader.press
        self._file = end.start  # offset where the file of the open frame begins
        self._offset = self._sealed = self._durable = end.offset  # of the open frame; taken, and written, up to there
        self._events: list[bytes] = []  # of the open frame
        self._events_bytes = 0
        self._closed: list[tuple[int, bytes]] = []  # file and bytes, to be sealed
        self._unwritten: dict[int, bytes] = {}  # offset -> frame
        self._repair(end)
        if end.offset == end.start or end.offset - end.start >= segment_bytes:
            self._begin_file()

    @classmethod
    def open(cls, disk: Disk, writable: bool = True, good: int = 0, *, segment_bytes: int = SEGMENT_BYTES) -> Journal:
        """Open the journal on `disk`, or begin one.

        Parameters
        ----------
        writable
            Cut off what an interrupted write left behind; otherwise only look past it.
        good
            A `position` up to which the journal is known to be sound, so that only the rest is read. A journal that
            does not reach it is opened all the same: compare `sequence`.
        segment_bytes
            Size at which a file is full.

        Raises
        ------
        StoreError
            It is damaged where no interrupted write explains it, or was made by a newer version.
        """
        return cls(disk, find_end(disk, good), writable=writable, segment_bytes=segment_bytes)

    @property
    def durable(self) -> int:
        """Offset up to which the journal is on the disk for good."""
        return self._durable

    @property
    def position(self) -> int:
        """Offset where the frame of the next event starts: `replay(position)` yields what is appended from now on.

        Asking for it closes the open frame.
        """
        self._close_frame()
        return self._offset

    def append(self, event: Event) -> int:
        """Add an event, in memory as yet, and return its pointer."""
        assert self._writable, "this journal was opened for reading"
        data = self._encode(event)
        pointer = self._offset << 8 | len(self._events)
        self._events.append(data)
        self._events_bytes += len(data)
        self.sequence += 1
        if len(self._events) == EVENTS or self._events_bytes >= _FRAME_BYTES:
            self._close_frame()
        return pointer

    def seal(self) -> Batch:
        """Close the open frame and take what is to be written; it can still be read."""
        self._close_frame()
        parts: dict[int, list[bytes]] = {}
        for start, data in self._closed:
            parts.setdefault(start, []).append(data)
        joined = tuple((start, b"".join(data)) for start, data in parts.items())
        batch = Batch(self._sealed, self._sealed + sum(len(data) for _, data in joined), self.sequence, joined)
        self._sealed = batch.end
        self._closed.clear()
        return batch

    def write(self, batch: Batch) -> None:
        """Append the batch to its files and sync them; then its events are acknowledged.

        Raises
        ------
        NoRoomError
            The disk is full. Nothing is lost: write the same batch again when there is room.
        StoreError
            The disk did not take it, or another process changed the journal.
        """
        assert batch.start <= self._durable <= batch.end, "batches are written in the order in which they were sealed"
        offset = batch.start
        for start, data in batch.parts:
            if offset >= self._durable:  # else an earlier try brought this file so far
                self._write_part(segment_name(start), offset - start, data)
                self._durable = offset + len(data)
            offset += len(data)
        for frame in [frame for frame in list(self._unwritten) if frame < batch.end]:
            del self._unwritten[frame]
        self.written = batch.sequence

    def read(self, pointer: int) -> Event:
        """Return the event that `append` returned `pointer` for, written or not.

        Raises
        ------
        StoreError
            There is none.
        """
        offset, index = pointer >> 8, pointer & 0xFF
        is_open = self._events and offset == self._offset
        events = self._events if is_open else self._reader.events(offset, self._unwritten.get(offset, b""))
        if index >= len(events):
            raise StoreError(
                f"the journal's frame at offset {offset} has {len(events)} events, none has number {index}"
            )
        return self._event(events[index], offset)

    def replay(self, start: int = 0, *, follow: bool = False) -> Iterator[tuple[int, int, Event]]:
        """Yield pointer, number and event of all events from offset `start` on, those not yet written among them.

        A journal opened for reading yields what another process has written until now. With `follow` it moves
        `position` and `sequence` there: for who takes in all of it, and nobody else.

        Raises
        ------
        StoreError
            No frame starts at `start`, or one is damaged.
        """
        for offset, sequence, events in self._frames(start, follow=follow):
            yield from self._numbered(offset, sequence, events)

    def glances(self, start: int = 0) -> Iterator[Glance]:
        """Yield of all events that `replay` does what they are and whose: a fourth of the time.

        Raises
        ------
        StoreError
            As of `replay`.
        """
        for offset, _, events in self._frames(start):
            for data in events:
                yield self._decoded(self._glance, data, offset)

    def _frames(self, start: int, *, follow: bool = False) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield offset, first number and encoded events of all frames; `start` and `follow` as of `replay`."""
        waiting, events, open_at, sequence = dict(self._unwritten), list(self._events), self._offset, self.sequence
        for frame in self._reader.walk(start, min(waiting, default=open_at) if self._writable else None):
            yield frame.offset, frame.sequence, self._press.unpack(frame)
            if follow and not self._writable:
                self._offset, self.sequence = frame.offset + frame.size, frame.sequence + frame.events
        for offset, data in waiting.items():
            packed = parse(data, 0, offset)
            if packed and offset >= start:
                yield offset, packed.sequence, self._press.unpack(packed)
        if open_at >= start:
            yield open_at, sequence - len(events), events

    def news(self) -> Iterator[list[tuple[int, int, Event]]]:
        """Yield what another process has written since `position`, frame by frame: pointer, number and event of each.

        It is for a journal opened for reading; `position` and `sequence` are behind a frame before that is yielded, so
        that who stops goes on there.

        Raises
        ------
        StoreError
            A frame is damaged.
        """
        assert not self._writable, "who writes a journal knows what is new"
        for frame in self._reader.walk(self._offset, None):
            self._offset, self.sequence = frame.offset + frame.size, frame.sequence + frame.events
            yield list(self._numbered(frame.offset, frame.sequence, self._press.unpack(frame)))

    def _repair(self, end: JournalEnd) -> None:
        name, at = segment_name(end.start), end.offset - end.start
        if self._writable and end.torn_bytes:
            self._disk.truncate(name, at)
        if self._writable and (at or end.torn_bytes):
            self._disk.sync(name)  # a killed process may not have: what is taken for true from now on has to last
        if not end.torn_bytes:
            return
        verb = "cut off" if self._writable else "looked past"
        self.repaired = f"{name}: from byte {at} on, {end.torn_bytes} bytes of a write that never ended were {verb}"

    def _begin_file(self) -> None:
        self._file = self._offset
        self._offset += HEADER_BYTES
        if self._writable:
            self._closed.append((self._file, header(self.sequence)))

    def _close_frame(self) -> None:
        if not self._events:
            return
        first, back = self.sequence - len(self._events), self._offset - self._sealed
        data = self._press.pack(self._events, offset=self._offset, back=back, sequence=first)
        self._closed.append((self._file, data))
        self._unwritten[self._offset] = data
        self._reader.remember(self._offset, self._events)
        self._events, self._events_bytes = [], 0
        self._offset += len(data)
        if self._offset - self._file >= self._segment_bytes:
            self._begin_file()

    def _write_part(self, name: str, at: int, data: bytes) -> None:
        size = self._disk.size(name)
        if size < at:
            raise StoreError(f"{name} holds {size} bytes and {at} were written; another process cut it: stop that one")
        if size > at:  # an earlier try to write this batch: appended, and then not synced
            self._disk.truncate(name, at)
        self._disk.append(name, data)
        self._disk.sync(name)

    def _numbered(self, offset: int, sequence: int, events: list[bytes]) -> Iterator[tuple[int, int, Event]]:
        for index, data in enumerate(events):
            yield offset << 8 | index, sequence + index, self._event(data, offset)

    def _event(self, data: bytes, offset: int) -> Event:
        return self._decoded(self._decode, data, offset)

    @staticmethod
    def _decoded(decode: Callable[[bytes], _T], data: bytes, offset: int) -> _T:
        try:
            return decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            message = f"the journal's frame at offset {offset} holds an event that this version does not know: {error}"
            raise StoreError(f"{message}; open the crawl with the evercrawl that made it") from error
