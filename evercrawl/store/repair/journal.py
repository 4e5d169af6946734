"""A damaged journal: where it is damaged, and its bytes put back from a backup, or cut off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evercrawl.errors import StoreError
from evercrawl.store.journal.segment import HEADER_BYTES, Segment, header, read_frame, read_header, segment_name
from evercrawl.store.repair.kept import keep_bytes, move_away, patch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evercrawl.store.disk.disk import Disk


class SoundJournal(NamedTuple):
    """How far a journal is sound from its first event on.

    Attributes
    ----------
    start, offset
        Of the file, and in the journal: where the first byte stands that is not sound.
    events
        Events before it.
    rest_bytes
        Bytes from there on, in all files.
    """

    start: int
    offset: int
    events: int
    rest_bytes: int


def sound_journal(disk: Disk) -> SoundJournal:
    """Return how far the journal is sound."""
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


def file_starts(disk: Disk) -> list[int]:
    """Return the offsets that the files of the journal begin with, by their names."""
    found = list[int]()
    for name in disk.names("journal-"):
        digits = name.removeprefix("journal-").removesuffix(".log")
        if len(digits) == 16 and not digits.strip("0123456789abcdef") and name == segment_name(int(digits, 16)):
            found.append(int(digits, 16))
    return sorted(found)


def restore(directory: Path, disk: Disk, backup: Disk) -> int:
    """Put back what is not sound and a backup has; return how many bytes. It is none where their histories differ."""
    patches = list(_patches(disk, backup))
    for name, at, data in patches:
        keep_bytes(directory, name, at, at + len(data))
        patch(directory, name, at, data)
    return sum(len(data) for _, _, data in patches)


def _patches(disk: Disk, backup: Disk) -> Iterator[tuple[str, int, bytes]]:
    """Yield file, place and bytes of what the backup has and the journal has not."""
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
    """Cut off what follows the last sound event; it is kept."""
    for start in sorted(file_starts(disk), reverse=True):
        if start > sound.start or (start == sound.start and sound.offset == start):
            move_away(directory, segment_name(start))
    name, at = segment_name(sound.start), sound.offset - sound.start
    if at and disk.size(name) > at:
        keep_bytes(directory, name, at, disk.size(name))
        disk.truncate(name, at)
        disk.sync(name)


def _walked(disk: Disk, start: int, events: int) -> tuple[int, int]:
    """Return where the sound frames of a file end, and how many events come before that."""
    offset = start
    if _events_before(disk, start) != events:
        return offset, events
    offset += HEADER_BYTES
    while (frame := read_frame(disk, start, offset)) is not None and frame.sequence == events:
        offset, events = offset + frame.size, events + frame.events
    return offset, events


def _events_before(disk: Disk, start: int) -> int | None:
    """Return how many events come before a file, as its header says; None where that is not sound."""
    try:
        return read_header(disk, Segment(start, start + disk.size(segment_name(start))))
    except StoreError:
        return None
