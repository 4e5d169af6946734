"""The end of the journal, and the decision whether invalid bytes there are a torn write or damage."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from evercrawl.store.disk.disk import Disk
from evercrawl.store.journal.frame import FOOTER, MAGIC, OVERHEAD, Frame, footer_size
from evercrawl.store.journal.segment import HEADER_BYTES, Segment, frames, read_frame, read_header, segments

_CHUNK_BYTES: Final = 4 << 20


class JournalEnd(NamedTuple):
    """The end of the valid part of the journal.

    Attributes
    ----------
    offset
        Offset after the last valid frame; if the header of a file is invalid, the offset of that file.
    sequence
        Number of events before it.
    start
        Offset of the first byte of the last file.
    torn_bytes
        Number of bytes after it, left by an interrupted write.
    """

    offset: int
    sequence: int
    start: int
    torn_bytes: int


def find_end(disk: Disk, good: int = 0) -> JournalEnd:
    """Return the end of the journal, after reading and checking it from `good` on.

    Parameters
    ----------
    good
        Offset of a frame up to which the journal is known to be valid; if it does not fit, all of it is read.

    Raises
    ------
    StoreError
        There is damage that no interrupted write explains, or the format is newer.
    """
    files = segments(disk)
    if not files:
        return JournalEnd(0, 0, 0, 0)
    first, offset, sequence = _anchor(disk, files, good) or (0, 0, 0)
    for segment in files[first:]:
        offset, sequence = _walk(disk, segment, max(offset, segment.start), sequence)
        while offset < segment.end:
            if _is_torn(disk, segment, offset, last=segment is files[-1]):
                return JournalEnd(offset, sequence, segment.start, segment.end - offset)
            # A reader may have met a write in progress; frames that are valid by now were never damaged.
            came_far, sequence = _walk(disk, segment, offset, sequence)
            if came_far == offset:
                raise segment.damaged(offset, "the bytes there are not those that were written")
            offset = came_far
    return JournalEnd(offset, sequence, files[-1].start, 0)


def _anchor(disk: Disk, files: list[Segment], good: int) -> tuple[int, int, int] | None:
    """Return file number, offset and sequence of `good`; None if no frame ends or begins there."""
    if good == files[-1].end + HEADER_BYTES:  # a new file was about to begin
        good = files[-1].end
    number = max((i for i, segment in enumerate(files) if segment.start <= good), default=0)
    segment = files[number]
    if good > segment.end or good <= segment.start:
        return None
    if good == segment.start + HEADER_BYTES:
        sequence = read_header(disk, segment)
        return None if sequence is None else (number, segment.start, sequence)
    size = footer_size(disk.read(segment.name, max(good - segment.start - FOOTER, 0), FOOTER))
    before = read_frame(disk, segment.start, good - size) if OVERHEAD <= size <= good - segment.start else None
    if before is None or before.offset + before.size != good:
        return None
    return number, good, before.sequence + before.events


def _walk(disk: Disk, segment: Segment, offset: int, sequence: int) -> tuple[int, int]:
    """Return offset and sequence at the end of the valid frames of one file."""
    if offset == segment.start:
        before = read_header(disk, segment)
        if before is None:
            return offset, sequence
        if before != sequence:
            raise segment.damaged(offset, f"it begins with event {before}, but event {sequence} was expected")
        offset += HEADER_BYTES
    for frame in frames(disk, segment.start, offset):
        if frame.sequence != sequence:
            raise segment.damaged(offset, f"it has event {frame.sequence}, but event {sequence} was expected")
        offset, sequence = offset + frame.size, sequence + frame.events
    return offset, sequence


def _is_torn(disk: Disk, segment: Segment, offset: int, last: bool) -> bool:
    """Return whether an interrupted write explains the bytes at `offset`: no later frame had to wait for them."""
    return last and all(frame.batch <= offset for frame in later_frames(disk, segment, offset))


def later_frames(disk: Disk, segment: Segment, offset: int) -> Iterator[Frame]:
    """Yield the valid frames anywhere after `offset` in the file."""
    place = offset + 1 - segment.start
    while len(data := disk.read(segment.name, place, _CHUNK_BYTES)) >= OVERHEAD:
        at = data.find(MAGIC, FOOTER)
        while at >= 0:
            frame = read_frame(disk, segment.start, segment.start + place + at - FOOTER)
            if frame is not None:
                yield frame
            at = data.find(MAGIC, at + (frame.size if frame else 1))
        place += len(data) - OVERHEAD + 1
