"""Copies of the archive's segments and indexes to object storage; files are copied again only if they changed.

`derived/pushed.json` records, by target, the size and modification time of each copied file. A segment in which
something was forgotten has changed, so its copy is replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import LIST_BYTES, read_small
from evercrawl.store.archive.archive import FOLDER
from evercrawl.store.archive.cdxj import SEGMENT_SUFFIX, index_name
from evercrawl.store.disk.whole import atomic_file
from evercrawl.store.objects.target import ObjectTarget

LEDGER: Final = "derived/pushed.json"
Watch: TypeAlias = Callable[[int, int], None]
_Noted: TypeAlias = dict[str, dict[str, tuple[int, int]]]
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class PushReport:
    """The result of copying the archive.

    Attributes
    ----------
    url
        URL of the target.
    files, copied_files
        Number of files in the archive, and of those that had to be copied.
    copied_bytes
        Total size of the copied files.
    """

    url: str
    files: int
    copied_files: int
    copied_bytes: int


def push(directory: Path, target: ObjectTarget, *, closed: bool = False, watch: Watch | None = None) -> PushReport:
    """Update the copy of a crawl's archive; the crawl may be running.

    Parameters
    ----------
    directory
        The crawl's directory.
    target
        Where to copy; objects are named like the files in the folder `archive`.
    closed
        Whether to skip the segment that is being written, so that only files that no longer grow are copied.
    watch
        Called with bytes done and bytes in total.

    Raises
    ------
    StoreError
        A file cannot be read, or the storage refused one. Completed copies are recorded, so that the next call
        continues.
    """
    noted = _noted(directory)
    known = noted.setdefault(target.url, {})
    paths = _files(directory, closed=closed)
    wanted = [path for path in paths if known.get(path.name) != _state(path)]
    total, done = sum(path.stat().st_size for path in wanted), 0
    for path in wanted:
        known[path.name] = _put(path, target)
        _note(directory, noted)
        done += known[path.name][0]
        if watch is not None:
            watch(done, max(total, done))
    return PushReport(target.url, len(paths), len(wanted), done)


def pushed_to(directory: Path) -> list[str]:
    """Return the URLs to which the archive, or a part of it, was copied."""
    return sorted(_noted(directory))


def _put(path: Path, target: ObjectTarget) -> tuple[int, int]:
    """Copy a file, again if it changed meanwhile; return its size and modification time."""
    before, tries = _state(path), 1
    target.put(path, path.name)
    while (after := _state(path)) != before and tries < _TRIES:
        before, tries = after, tries + 1
        target.put(path, path.name)
    return before  # if it keeps changing, the next call copies it again


def _files(directory: Path, *, closed: bool) -> list[Path]:
    folder = directory / FOLDER
    segments = sorted(folder.glob(f"*{SEGMENT_SUFFIX}"))
    if closed:
        segments = segments[:-1]
    indexes = [folder / index_name(path.name) for path in segments]
    return [path for path in (*segments, *indexes) if path.exists()]


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise StoreError(f"{path} vanished while it was copied: {error.strerror}; run the command again") from error
    return found.st_size, found.st_mtime_ns


def _noted(directory: Path) -> _Noted:
    try:
        return json_of(read_small(directory / LEDGER, LIST_BYTES), _Noted)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}  # then everything is copied again


def _note(directory: Path, noted: _Noted) -> None:
    path = directory / LEDGER
    path.parent.mkdir(exist_ok=True)
    with atomic_file(path) as made:
        made.write_bytes(msgspec.json.encode(noted))
