"""How far changes were delivered to each target, in a small file that survives `kill -9` and power cuts."""

import fcntl
import os
from pathlib import Path
from typing import Final

import msgspec
import xxhash

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.small_file import read_small
from evercrawl.store.disk.owner import see_owned
from evercrawl.store.disk.trouble import in_words

FILE: Final = "webhooks.json"
LOCK: Final = "webhooks.lock"


class Cursors:
    """The last sequence delivered to each target; exclusive to one process at a time.

    Parameters
    ----------
    directory
        The crawl's directory.

    Raises
    ------
    StoreError
        Another process has the file, it is damaged, or the directory cannot be written to; or this is root, and the
        crawl is another user's.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        see_owned(directory)
        try:
            self._fd = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise in_words(error, "write", directory / LOCK) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._known = self._read()
        except BlockingIOError as error:
            self.close()
            raise StoreError(
                f"another process delivers the changes of {directory}; stop that one, or leave out --webhook"
            ) from error
        except BaseException:
            self.close()
            raise

    def get(self, target: str) -> int | None:
        """Return the sequence of the last event delivered to a target; None if there was none."""
        return self._known.get(_key(target))

    def put(self, target: str, sequence: int) -> None:
        """Record that all events up to a sequence were delivered to a target; durable on return.

        Raises
        ------
        StoreError
            The file cannot be written; `NoRoomError` if the disk is full.
        """
        self._known[_key(target)] = sequence
        temporary = self._path.with_name(f"{FILE}.part")
        try:
            with temporary.open("wb") as file:
                file.write(msgspec.json.encode(self._known))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise in_words(error, "write", self._path) from error

    def close(self) -> None:
        """Release the file to other processes."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _read(self) -> dict[str, int]:
        try:
            return json_of(read_small(self._path), dict[str, int])
        except FileNotFoundError:
            return {}
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StoreError(
                f"{self._path} is damaged: {error}; delete it, and say with --since which changes are to be delivered"
            ) from error


def _key(target: str) -> str:
    """Return a key for a target; its URL may contain a secret."""
    return xxhash.xxh3_64_hexdigest(target.encode())
