"""Protection of lines that people append to a partition while it is moved: they would stay behind, and be lost.

The process that moves it takes the lock of the old directory, then closes the files to which people append. Whoever
appends holds the lock of that file, and looks first whether the directory is being left. So each line was written
before the files are copied for the last time, or is refused. The new directory takes nothing before the first leave of
its process, because until then its partition may go back.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING, Final

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import holder
from evercrawl.store.disk.moved import LEAVING, see_unmoved
from evercrawl.store.disk.trouble import in_words

if TYPE_CHECKING:
    from pathlib import Path

MOVE: Final = "evercrawl move"
"""The purpose for which a process that moves a partition has the lock of its directory."""
PATIENCE_S: Final = 10.0
LOOK_S: Final = 0.01


class LeavingError(StoreError):
    """A partition is being moved, and takes nothing before it is in its new place."""


def see_staying(directory: Path) -> None:
    """Check that the partition in a directory is not being moved; call it with the lock of the file to append to.

    Raises
    ------
    LeavingError
        It is being moved.
    ConfigError
        It was moved.
    """
    see_unmoved(directory)
    if (holder(directory) or {}).get("purpose") == MOVE or (directory / LEAVING).exists():
        raise LeavingError(
            f"the partition in {directory} is being moved to another place; give this again once it is there, which "
            "takes seconds. If nothing is moving it, the move was broken off: start the crawl first"
        )


def mark_leaving(directory: Path) -> None:
    """Mark a directory whose partition is being moved from there or to there.

    Raises
    ------
    OSError, StoreError
        The mark cannot be written.
    """
    with contextlib.closing(RealDisk(directory)) as disk:
        if not disk.size(LEAVING):
            disk.replace(LEAVING, [b"{}"])


def mark_staying(directory: Path) -> None:
    """Remove the mark that a partition is leaving, because it crawls in this directory."""
    with contextlib.suppress(OSError):
        (directory / LEAVING).unlink(missing_ok=True)


def close_to_people(directory: Path, files: tuple[str, ...]) -> None:
    """Return once everything that people began to append to `files` is there; the caller has the directory's lock.

    Raises
    ------
    StoreError
        A file cannot be opened, or a process does not stop writing to it.
    """
    for path in (directory / name for name in files):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue  # whoever makes it from now on finds the directory's lock
        except OSError as error:
            raise in_words(error, "read", path) from error
        try:
            _wait(fd, path)
        finally:
            os.close(fd)


def _wait(fd: int, path: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise StoreError(f"a process has been writing to {path} for {PATIENCE_S:.0f} s; end it") from None
            time.sleep(LOOK_S)
        else:
            return
