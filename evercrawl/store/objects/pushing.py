"""The archive's segments and their indexes copied to object storage, each again only when it changed.

What was copied is noted in `derived/pushed.json`, by target: of each file its size and when it was last written. A
segment in which something was forgotten is another file since, and replaces its copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
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
    """What a copy of the archive came to.

    Attributes
    ----------
    url
        Where it went.
    files, copied_files
        Files of the archive, and how many of them had to be copied.
    copied_bytes
        Bytes of those.
    """

    url: str
    files: int
    copied_files: int
    copied_bytes: int


def push(directory: Path, target: ObjectTarget, *, closed: bool = False, watch: Watch | None = None) -> PushReport:
    """Bring the copy of a crawl's archive up to date; the crawl may be running.

    Parameters
    ----------
    directory
        Of the crawl.
    target
        Where objects get the names that the files have in the folder `archive`.
    closed
        Leave out the segment that is being written: only what will not grow any more is copied.
    watch
        Told bytes done and bytes in all.

    Raises
    ------
    StoreError
        A file cannot be read, or the storage refused one. What was copied by then is noted, so that the next call
        goes on there.
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
    """Return the URLs that the archive, or a part of it, was copied to."""
    return sorted(_noted(directory))


def _put(path: Path, target: ObjectTarget) -> tuple[int, int]:
    """Copy a file, again where it changed meanwhile, and return what is noted of it."""
    before, tries = _state(path), 1
    target.put(path, path.name)
    while (after := _state(path)) != before and tries < _TRIES:
        before, tries = after, tries + 1
        target.put(path, path.name)
    return before  # a file that goes on changing is copied again at the next call


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
        raise StoreError(f"{path} went away while it was copied: {error.strerror}; run the command again") from error
    return found.st_size, found.st_mtime_ns


def _noted(directory: Path) -> _Noted:
    try:
        return json_of((directory / LEDGER).read_bytes(), _Noted)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}  # all of it is copied again


def _note(directory: Path, noted: _Noted) -> None:
    path = directory / LEDGER
    path.parent.mkdir(exist_ok=True)
    with atomic_file(path) as made:
        made.write_bytes(msgspec.json.encode(noted))
