"""The machine from which a partition moves or is backed up: it serves the partition's files, and locks them."""

from __future__ import annotations

import os
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.cluster.birth import part_directory
from evercrawl.cluster.hauling.remote_files import AT_ONCE
from evercrawl.cluster.moving.transfer import FilesHere
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.backups.backup import OF_PEOPLE
from evercrawl.store.disk.database_image import DatabaseImage, see_room
from evercrawl.store.disk.leaving import MOVE, close_to_people, mark_leaving, mark_staying
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.taken import taken_bytes
from evercrawl.store.keeper.restoring import is_gone

if TYPE_CHECKING:
    from evercrawl.cluster.wire import FilesAsked

LOCKED_S: Final = 20.0
"""Maximum time for which the partition's ended process may still hold its directory."""
MOST_BYTES: Final = 8 << 20
LOOK_S: Final = 0.05


class Lending:
    """The files of one partition, for another machine.

    Parameters
    ----------
    root, number
        Folder of this machine's partitions, and number of the partition.

    Raises
    ------
    ConfigError
        The partition is not there.
    """

    def __init__(self, root: Path, number: int) -> None:
        self._directory = part_directory(root, number)
        if is_gone(self._directory):
            raise ConfigError(
                f"{self._directory} is not there; is its disk mounted? A partition has files once it was crawled"
            )
        self._files = FilesHere(self._directory)
        self._lock: Lock | None = None
        self._image: DatabaseImage | None = None

    def size(self) -> int:
        """Return how many bytes of its disk the partition takes."""
        return taken(self._directory)

    def lock(self) -> None:
        """Lock the directory, once its own process has ended, for the life of this process; it takes no more orders.

        Raises
        ------
        StoreError
            Another process holds the directory, and does not end.
        """
        until = time.monotonic() + LOCKED_S
        while self._lock is None:
            try:
                self._lock = Lock.take(self._directory, MOVE, time.time())
            except StoreError:
                if time.monotonic() >= until:
                    raise
                time.sleep(LOOK_S)
        mark_leaving(self._directory)  # until the old directory is set aside
        close_to_people(self._directory, OF_PEOPLE)

    def unlock(self) -> None:
        """Let the partition's own process use the directory again; it takes orders again."""
        if self._lock is not None:
            mark_staying(self._directory)
            self._lock.release()
            self._lock = None

    def told(self, asked: FilesAsked) -> bytes:
        """Return the answer to a question, as msgpack.

        Raises
        ------
        StoreError
            The file cannot be read.
        """
        files, name = self._files, asked.name
        found: object
        if asked.what == "read":
            found = files.read(name, asked.at, min(asked.size, MOST_BYTES))
        elif asked.what == "digest":
            found = files.digest(name, asked.at, min(asked.size, MOST_BYTES))
        elif asked.what == "size":
            found = files.size(name)
        elif asked.what == "names":
            found = files.names(name)
        elif asked.what == "written_ns":
            found = files.written_ns(name)
        elif asked.what == "mode":
            found = files.mode(name)
        elif asked.what == "given_since":
            found = files.given_since()
        elif asked.what == "tree":
            found = files.tree()
        elif asked.what == "piece":
            found = files.piece(name, asked.at, min(asked.size, MOST_BYTES))
        elif asked.what == "image":
            found = self._taken(name)
        elif asked.what == "blocks" and self._image is not None:
            found = self._image.blocks(asked.blocks[:AT_ONCE])
        else:
            raise StoreError(f"another machine asks for {asked.what!r}; install the same evercrawl on all machines")
        return msgspec.msgpack.encode(found)

    def _taken(self, name: str) -> tuple[int, bytes]:
        """Take a copy of a database; return its size and the digests of its blocks, none if it cannot be read.

        Raises
        ------
        NoRoomError
            This machine has no room for the copy.
        """
        self._drop()
        folder = self._directory.parent
        try:
            self._image = DatabaseImage(partial(self._files.copy_into, name), folder)
            return self._image.size, self._image.digests()
        except (sqlite3.Error, OSError) as error:
            see_room(error, folder)
            return 0, b""

    def _drop(self) -> None:
        if self._image is not None:
            self._image.close()
            self._image = None

    def close(self) -> None:
        """Close the open files, and unlock the directory."""
        self._drop()
        self._files.close()
        if self._lock is not None:
            self._lock.release()


def taken(directory: Path) -> int:
    """Return how many bytes of its disk a directory takes; files may appear and vanish meanwhile."""
    return taken_bytes(Path(above) / name for above, _, names in os.walk(directory) for name in names)
