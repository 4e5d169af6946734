"""Reading of journal frames from the disk: one by its offset, or many in order."""

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from evercrawl.errors import StoreError
from evercrawl.store import forgotten
from evercrawl.store.disk.disk import Disk
from evercrawl.store.journal.frame import Frame, Press, parse
from evercrawl.store.journal.segment import HEADER_BYTES, frames, read_frame, segment_name, segments

CACHED_FRAMES: Final = 512  # some 3 MB; pages are refreshed nearly in the order of their visits


class Reader:
    """Reads frames from the disk, in any thread; the last few stay decompressed in memory."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._starts: list[int] = []
        self._cache: OrderedDict[int, list[bytes]] = OrderedDict()
        self._caching = threading.Lock()
        self._moved: dict[int, bytes] = {}
        self.press = Press(self._moved_body)

    def events(self, offset: int, data: bytes = b"") -> list[bytes]:
        """Return the encoded events of the frame at `offset`; `data` is the frame if it is not on the disk yet.

        Raises
        ------
        StoreError
            There is no valid frame.
        """
        with self._caching:
            cached = self._cache.get(offset)
            if cached is not None:
                self._cache.move_to_end(offset)
                return cached
        frame = parse(data, 0, offset) or self._frame(offset)
        return self.remember(offset, self.press.unpack(frame))

    def remember(self, offset: int, events: list[bytes]) -> list[bytes]:
        """Cache the events of a frame, and return them."""
        with self._caching:
            self._cache[offset] = events
            if len(self._cache) > CACHED_FRAMES:
                self._cache.popitem(last=False)
        return events

    def walk(self, start: int, limit: int | None) -> Iterator[Frame]:
        """Yield the frames from offset `start` to `limit`; without a limit, up to the first incomplete one.

        Raises
        ------
        StoreError
            No frame starts at `start`, or one before `limit` is invalid.
        """
        files = segments(self._disk)
        for segment in files:
            offset, end = max(start, segment.start), segment.end if limit is None else min(segment.end, limit)
            if offset >= end:
                continue
            if offset == segment.start:
                offset += HEADER_BYTES
            for frame in frames(self._disk, segment.start, offset):
                if limit is not None and frame.offset >= limit:
                    break
                yield frame
                offset += frame.size
            if offset < end and not (limit is None and segment is files[-1]):
                raise segment.damaged(offset, "no valid frame is there")

    def _moved_body(self, offset: int) -> bytes | None:
        """Return the body of a frame from the file of forgotten pages."""
        if offset not in self._moved:
            self._moved = forgotten.load(self._disk).frames
        return self._moved.get(offset)

    def _frame(self, offset: int) -> Frame:
        number = bisect_right(self._starts, offset) - 1
        frame = read_frame(self._disk, self._starts[number], offset) if number >= 0 else None
        if frame is None:  # it may be in a file that is newer than the list
            self._starts = [segment.start for segment in segments(self._disk)]
            start = self._starts[bisect_right(self._starts, offset) - 1] if self._starts else 0
            frame = read_frame(self._disk, start, offset)
            if frame is None:
                place = f"{segment_name(start)}, byte {offset - start} (journal offset {offset})"
                message = f"the journal has no valid frame at {place}"
                raise StoreError(f"{message}; run `evercrawl verify` to see what else is wrong")
        return frame
