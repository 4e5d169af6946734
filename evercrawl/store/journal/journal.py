"""The journal: the append-only log of everything that has happened to a crawl.

A pointer is the offset of a frame in all files together, times 256, plus the event's index in the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Final, NamedTuple, TypeVar

import msgspec

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import Disk
from evercrawl.store.journal.events import Event
from evercrawl.store.journal.frame import EVENTS, parse
from evercrawl.store.journal.reader import Reader
from evercrawl.store.journal.segment import HEADER_BYTES, header, segment_name
from evercrawl.store.journal.tail import JournalEnd, find_end

SEGMENT_BYTES: Final = 255 << 20  # a file of this size gets no further frame, so it stays below 256 MiB
_T = TypeVar("_T")
_FRAME_BYTES: Final = 64 << 10  # of encoded events; a frame of this size is closed even if it is not full


class Glance(msgspec.Struct, array_like=True, frozen=True):
    """The beginning of an event.

    Attributes
    ----------
    kind
        Its tag.
    first
        Its first field: the slot, for visits and all other events about one page.
    """

    kind: str
    first: object = None


class Batch(NamedTuple):
    """Sealed events, returned by `Journal.seal` for `Journal.write`.

    Attributes
    ----------
    start, end
        Offsets in the journal.
    sequence
        Number of events in the journal, including this batch; all are acknowledged once it is written.
    parts
        For each file, the offset of its first byte, and the bytes to append.
    """

    start: int
    end: int
    sequence: int
    parts: tuple[tuple[int, bytes], ...]

    def __bool__(self) -> bool:
        """Return whether there is something to write."""
        return self.end > self.start


class Journal:
    """A log of events that are appended in order and read by pointer or offset; created by `open`.

    One thread appends, seals and reads; `write` may run in another, one batch at a time.

    Attributes
    ----------
    sequence
        Number of events ever appended, which is the number of the next one.
    written
        Number of events that are durable.
    repaired
        A sentence about data that opening cut off or skipped; "" if there was none.
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
        self._file = end.start  # offset of the first byte of the open frame's file
        self._offset = self._sealed = self._durable = end.offset  # of the open frame; of sealed and durable bytes
        self._events: list[bytes] = []  # of the open frame
        self._events_bytes = 0
        self._closed: list[tuple[int, bytes]] = []  # files and bytes, to be sealed
        self._unwritten: dict[int, bytes] = {}  # offset -> frame
        self._repair(end)
        if end.offset == end.start or end.offset - end.start >= segment_bytes:
            self._begin_file()

    @classmethod
    def open(cls, disk: Disk, writable: bool = True, good: int = 0, *, segment_bytes: int = SEGMENT_BYTES) -> Journal:
        """Open the journal on `disk`, or create it.

        Parameters
        ----------
        writable
            If True, cut off the remains of an interrupted write; otherwise only skip them.
        good
            A `position` up to which the journal is known to be valid, so that only the rest is read. A shorter
            journal is opened too: compare `sequence`.
        segment_bytes
            Size at which a file is full.

        Raises
        ------
        StoreError
            It has damage that no interrupted write explains, or was written by a newer version.
        """
        return cls(disk, find_end(disk, good), writable=writable, segment_bytes=segment_bytes)

    @property
    def durable(self) -> int:
        """Return the offset up to which the journal is durable."""
        return self._durable

    @property
    def position(self) -> int:
        """Return the offset of the next event's frame: `replay(position)` yields what is appended from now on.

        Reading this property closes the open frame.
        """
        self._close_frame()
        return self._offset

    def append(self, event: Event) -> int:
        """Add an event in memory, and return its pointer."""
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
        """Close the open frame and return what must be written; the events can still be read."""
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
        """Append the batch to its files and sync them; afterwards its events are acknowledged.

        Raises
        ------
        NoRoomError
            The disk is full. Nothing is lost: write the same batch again when there is space.
        StoreError
            The disk rejected it, or another process changed the journal.
        """
        assert batch.start <= self._durable <= batch.end, "batches are written in the order in which they were sealed"
        offset = batch.start
        for start, data in batch.parts:
            if offset >= self._durable:  # else an earlier attempt has written this part
                self._write_part(segment_name(start), offset - start, data)
                self._durable = offset + len(data)
            offset += len(data)
        for frame in [frame for frame in list(self._unwritten) if frame < batch.end]:
            del self._unwritten[frame]
        self.written = batch.sequence

    def read(self, pointer: int) -> Event:
        """Return the event at a pointer from `append`, written or not.

        Raises
        ------
        StoreError
            There is no such event.
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
        """Yield pointer, number and event of all events from offset `start` on, including unwritten ones.

        A journal opened for reading yields what another process has written so far. With `follow`, it moves
        `position` and `sequence` accordingly; callers that set it must consume all events.

        Raises
        ------
        StoreError
            No frame starts at `start`, or one is damaged.
        """
        for offset, sequence, events in self._frames(start, follow=follow):
            yield from self._numbered(offset, sequence, events)

    def glances(self, start: int = 0) -> Iterator[Glance]:
        """Yield kind and page of all events that `replay` yields, in a fourth of the time.

        Raises
        ------
        StoreError
            As in `replay`.
        """
        for offset, _, events in self._frames(start):
            for data in events:
                yield self._decoded(self._glance, data, offset)

    def of_kinds(self, kinds: Container[str]) -> Iterator[tuple[int, int, Event]]:
        """Yield what `replay` yields of the events with these tags; the others are not decoded.

        Raises
        ------
        StoreError
            As in `replay`.
        """
        for offset, sequence, events in self._frames(0):
            for index, data in enumerate(events):
                if self._decoded(self._glance, data, offset).kind in kinds:
                    yield offset << 8 | index, sequence + index, self._event(data, offset)

    def _frames(self, start: int, *, follow: bool = False) -> Iterator[tuple[int, int, list[bytes]]]:
        """Yield offset, first number and encoded events of all frames; `start` and `follow` as in `replay`."""
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

        Only for a journal opened for reading. `position` and `sequence` move past a frame before it is yielded, so
        that an interrupted caller can continue.

        Raises
        ------
        StoreError
            A frame is damaged.
        """
        assert not self._writable, "only for a journal opened for reading"
        for frame in self._reader.walk(self._offset, None):
            self._offset, self.sequence = frame.offset + frame.size, frame.sequence + frame.events
            yield list(self._numbered(frame.offset, frame.sequence, self._press.unpack(frame)))

    def _repair(self, end: JournalEnd) -> None:
        name, at = segment_name(end.start), end.offset - end.start
        if self._writable and end.torn_bytes:
            self._disk.truncate(name, at)
        if self._writable and (at or end.torn_bytes):
            self._disk.sync(name)  # a killed process may not have synced what is considered acknowledged from now on
        if not end.torn_bytes:
            return
        verb = "cut off" if self._writable else "skipped"
        self.repaired = f"{name}: from byte {at} on, {end.torn_bytes} bytes of an interrupted write were {verb}"

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
        if size > at:  # an earlier attempt appended this batch, and failed to sync it
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
