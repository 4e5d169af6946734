"""The lock of a crawl directory, for one writer; it ends with its process.

The process locks a file, which says who it is, and the directory itself, because people remove files called "lock".
Some network file systems cannot lock directories; there, the file is the only lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final
from weakref import WeakSet

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.store.disk.modes import shut_to_others
from evercrawl.store.disk.moved import see_unmoved
from evercrawl.store.disk.owner import see_owned
from evercrawl.store.disk.plain import see_plain, see_utf8
from evercrawl.store.disk.trouble import in_words

FILE: Final = "lock"
PURPOSE: Final = "evercrawl crawl"
_PATIENCE_S: Final = 0.25  # `holder` takes the lock for microseconds; a writer that collides with it retries
_LOOKING: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # do not block on a pipe
_held: WeakSet[Lock] = WeakSet()


class _Holder(msgspec.Struct):
    """The content of the lock file: the process that has, or last had, the lock."""

    pid: int
    host: str
    since: float
    purpose: str
    socket: str = ""

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since, UTC)
        return f"process {self.pid} on {self.host} ({self.purpose}, since {since:%Y-%m-%d %H:%M:%S} UTC)"


class Lock:
    """The exclusive right to write to a directory.

    It belongs to the process and is released when that ends, however it ends; the remaining file does not block
    others.

    Parameters
    ----------
    fd
        The lock file.
    folder_fd
        The directory; -1 if its file system cannot lock it.
    """

    def __init__(self, fd: int, folder_fd: int = -1) -> None:
        self._fd, self._folder_fd = fd, folder_fd
        _held.add(self)

    @classmethod
    def take(cls, directory: Path, purpose: str, now: float) -> Lock:
        """Take the lock, or raise within half a second.

        Parameters
        ----------
        purpose
            A word or two about the purpose, shown to other processes.
        now
            Seconds since the epoch.

        Raises
        ------
        StoreError
            Another process has it, or the directory cannot be written to, or contains links to other places; or this
            is root, and the crawl is another user's.
        ConfigError
            The partition in the directory was moved to another one.
        """
        shut_to_others()
        see_plain(directory)
        see_unmoved(directory)
        see_owned(directory)
        path = directory / FILE
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise in_words(error, "write", path) from error
        free = _try_lock(fd, fcntl.LOCK_EX, _PATIENCE_S)
        folder_fd = _locked_folder(directory, fcntl.LOCK_EX, _PATIENCE_S) if free else None
        if folder_fd is None:
            other = _told(fd) or f"another process{', whose lock file was removed' if free else ''}"
            os.close(fd)
            raise StoreError(f"{directory} is in use by {other}; stop it first, or use another --dir")
        with contextlib.suppress(OSError):  # a full disk must not prevent opening a crawl
            _tell(fd, _Holder(os.getpid(), os.uname().nodename, now, purpose))
        return cls(fd, folder_fd)

    def tell(self, socket: str) -> None:
        """Record in the lock file where the holder listens."""
        found = _told(self._fd)
        if found is not None:
            with contextlib.suppress(OSError):
                _tell(self._fd, msgspec.structs.replace(found, socket=socket))

    def release(self) -> None:
        """Release the lock; repeated calls do nothing."""
        for fd in (self._folder_fd, self._fd):
            if fd >= 0:
                os.close(fd)
        self._fd = self._folder_fd = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def lock_for_crawl(directory: Path) -> Lock:
    """Create the directory if needed, and take its lock for a crawl.

    Raises
    ------
    ConfigError
        It does not exist, and its name is not UTF-8.
    StoreError
        It cannot be created, or another process has the lock.
    """
    if not directory.is_dir():
        see_utf8(directory)
    shut_to_others()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise in_words(error, "make", directory) from error
    return Lock.take(directory, PURPOSE, time.time())


def holder(directory: Path) -> dict[str, Any] | None:
    """Return pid, host, since (s since the epoch), purpose and socket of the lock's holder; None if there is none.

    The dict is empty if the holder had no disk space to describe itself, or its lock file was removed.
    """
    try:
        fd = os.open(directory / FILE, _LOOKING)
    except OSError:
        return {} if _is_folder_locked(directory) else None
    try:
        if _try_lock(fd, fcntl.LOCK_SH, 0.0):
            return {} if _is_folder_locked(directory) else None
        told = _told(fd)
        return msgspec.structs.asdict(told) if told else {}
    finally:
        os.close(fd)


def last_begun(directory: Path) -> float | None:
    """Return when the lock was last taken, in seconds since the epoch; None if unknown."""
    try:
        fd = os.open(directory / FILE, _LOOKING)
    except OSError:
        return None
    try:
        told = _told(fd)
        return told.since if told else None
    finally:
        os.close(fd)


def _locked_folder(directory: Path, kind: int, patience_s: float) -> int | None:
    """Return a descriptor that locks the directory itself, -1 if that is impossible; None if another process has it."""
    try:
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        locked = _try_lock(fd, kind, patience_s)
    except OSError:  # this file system locks no directories
        os.close(fd)
        return -1
    if locked:
        return fd
    os.close(fd)
    return None


def _is_folder_locked(directory: Path) -> bool:
    fd = _locked_folder(directory, fcntl.LOCK_SH, 0.0)
    if fd is not None and fd >= 0:
        os.close(fd)
    return fd is None


def _try_lock(fd: int, kind: int, patience_s: float) -> bool:
    until = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.01)
        else:
            return True


def _tell(fd: int, who: _Holder) -> None:
    """Write in place and truncate afterwards, so that on a full disk the file's block is reused."""
    data = msgspec.json.encode(who) + b"\n"
    os.pwrite(fd, data, 0)
    os.ftruncate(fd, len(data))


def _told(fd: int) -> _Holder | None:
    try:
        return json_of(os.pread(fd, 4096, 0), _Holder)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _let_go() -> None:
    """Release all locks in a forked child, which would otherwise keep them after the parent has ended."""
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_let_go)
