"""Repair of a damaged journal: from a backup, or by cutting it after the last valid event."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.errors import StoreError
from evercrawl.store.archive.archive import FOLDER as ARCHIVE
from evercrawl.store.archive.cdxj import SEGMENT_SUFFIX
from evercrawl.store.journal.segment import HEADER_BYTES, Segment, header, read_frame, read_header, segment_name
from evercrawl.store.repair.kept import keep_bytes, move_away, patch

_BATCH_BYTES: Final = 64 << 20

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evercrawl.store.disk.disk import Disk


class SoundJournal(NamedTuple):
    """The valid part of a journal, from its first event on.

    Attributes
    ----------
    start, offset
        Offset of the file with the first invalid byte; offset of that byte in the journal.
    events
        Number of events before it.
    rest_bytes
        Number of bytes from there on, in all files.
    """

    start: int
    offset: int
    events: int
    rest_bytes: int


def sound_journal(disk: Disk) -> SoundJournal:
    """Return the valid part of the journal."""
    start = offset = events = 0
    starts = file_starts(disk)
    while start in starts:
        offset, events = _walked(disk, start, events)
        if offset == start or offset < start + disk.size(segment_name(start)):
            break
        if offset not in starts:
            break
        start = offset
    rest = sum(max(at + disk.size(segment_name(at)) - max(at, offset), 0) for at in starts)
    return SoundJournal(start, offset, events, rest)


def is_missing(disk: Disk, events: int) -> bool:
    """Return whether there must have been a journal: it has no event, and the archive more than one batch of records.

    A crawl that is killed before its first commit leaves a batch of records that no event names.
    """
    sizes = [size for name in disk.names(ARCHIVE) if name.endswith(SEGMENT_SUFFIX) and (size := disk.size(name))]
    return not events and (len(sizes) > 1 or sum(sizes) > _BATCH_BYTES)


def file_starts(disk: Disk) -> list[int]:
    """Return the offsets of the journal's files, from their names."""
    found = list[int]()
    for name in disk.names("journal-"):
        digits = name.removeprefix("journal-").removesuffix(".log")
        if len(digits) == 16 and not digits.strip("0123456789abcdef") and name == segment_name(int(digits, 16)):
            found.append(int(digits, 16))
    return sorted(found)


def restore(directory: Path, disk: Disk, backup: Disk) -> int:
    """Restore invalid bytes from a backup; return the number of bytes, 0 if the histories differ."""
    patches = list(_patches(disk, backup))
    for name, at, data in patches:
        keep_bytes(directory, name, at, at + len(data))
        patch(directory, name, at, data)
    return sum(len(data) for _, _, data in patches)


def _patches(disk: Disk, backup: Disk) -> Iterator[tuple[str, int, bytes]]:
    """Yield file, offset and bytes that the backup has and the journal lacks."""
    events = 0
    for start in sorted({*file_starts(disk), *file_starts(backup)}):
        name, at = segment_name(start), start + HEADER_BYTES
        ours, theirs = disk.size(name), backup.size(name)
        if _events_before(disk, start) != events:
            if _events_before(backup, start) != events:
                return
            yield name, 0, header(events)
        while at < start + max(ours, theirs):
            own, other = read_frame(disk, start, at), read_frame(backup, start, at)
            frame = own or other
            if frame is None or frame.sequence != events or (own and other and own != other):
                return
            if own is None:
                yield name, at - start, backup.read(name, at - start, frame.size)
            at, events = at + frame.size, events + frame.events


def cut(directory: Path, disk: Disk, sound: SoundJournal) -> None:
    """Cut off everything after the last valid event; a copy is kept."""
    for start in sorted(file_starts(disk), reverse=True):
        if start > sound.start or (start == sound.start and sound.offset == start):
            move_away(directory, segment_name(start))
    name, at = segment_name(sound.start), sound.offset - sound.start
    if at and disk.size(name) > at:
        keep_bytes(directory, name, at, disk.size(name))
        disk.truncate(name, at)
        disk.sync(name)


def _walked(disk: Disk, start: int, events: int) -> tuple[int, int]:
    """Return the end of the valid frames of a file, and the number of events before it."""
    offset = start
    if _events_before(disk, start) != events:
        return offset, events
    offset += HEADER_BYTES
    while (frame := read_frame(disk, start, offset)) is not None and frame.sequence == events:
        offset, events = offset + frame.size, events + frame.events
    return offset, events


def _events_before(disk: Disk, start: int) -> int | None:
    """Return the number of events before a file, from its header; None if that is invalid."""
    try:
        return read_header(disk, Segment(start, start + disk.size(segment_name(start))))
    except StoreError:
        return None
