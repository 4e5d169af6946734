"""The folder `damaged` of a crawl directory, which keeps everything that a repair removes, under its old name."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.store.disk.modes import PRIVATE
from evercrawl.store.disk.plain import place_of
from evercrawl.store.disk.trouble import in_words

if TYPE_CHECKING:
    from evercrawl.store.archive.archive import Archive
    from evercrawl.store.archive.pointer import ArchiveEnd
    from evercrawl.store.disk.disk import Disk

FOLDER: Final = "damaged"
_PIECE: Final = 4 << 20


def move_away(directory: Path, name: str) -> None:
    """Move a file to the folder, with the auxiliary files of SQLite; a missing file was moved before."""
    for each in (name, f"{name}-wal", f"{name}-shm"):
        path = place_of(directory, each)
        with contextlib.suppress(FileNotFoundError):
            path.replace(_place(directory, path.name))


def keep_bytes(directory: Path, name: str, start: int, end: int) -> None:
    """Copy bytes [start, end) of a file to the folder, unless that is done; the name says which bytes they are."""
    source = place_of(directory, name)
    if not source.is_file():
        return
    target = directory / FOLDER / f"{start:012x}-{source.name}"
    with source.open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    if not data or (target.is_file() and target.read_bytes() == data):
        return
    try:
        write_synced(_place(directory, target.name), data)
    except OSError as error:
        raise in_words(error, "write", target, len(data)) from error


def keep_archive_end(disk: Disk, archive: Archive, end: ArchiveEnd) -> None:
    """Copy the end of the archive to the folder, by segment; each copy is a WARC file, as records are not cut."""
    for segment in archive.segments():
        name, start = archive.name(segment), end.size_bytes if segment == end.segment else 0
        size = disk.size(name)
        if segment >= end.segment and size > start:
            pieces = (disk.read(name, at, min(_PIECE, size - at)) for at in range(start, size, _PIECE))
            disk.replace(f"{FOLDER}/{start:012x}-{name.rpartition('/')[2]}", pieces, private=True)


def patch(directory: Path, name: str, offset: int, data: bytes, *, sync: bool = True) -> None:
    """Overwrite a file with `data` at `offset`; if `sync` is set, return once that is on the disk.

    If the file is missing, only its owner can read the new one, as its original could be such.
    """
    path = place_of(directory, name)
    try:
        path.parent.mkdir(exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            done = 0
            while done < len(data):
                done += os.pwrite(fd, memoryview(data)[done:], offset + done)
            if sync:
                os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise in_words(error, "write", path, len(data)) from error


def write_synced(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, atomically and durably."""
    draft = path.with_name(f"{path.name}.tmp")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _place(directory: Path, name: str) -> Path:
    """Return an unused path in the folder."""
    folder = directory / FOLDER
    folder.mkdir(exist_ok=True)
    place, number = folder / name, 1
    while place.exists():
        place, number = folder / f"{name}.{number}", number + 1
    return place
