"""One crawl directory, one writer: a lock that dies with its process."""

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
from evercrawl.store.disk.moved import see_unmoved
from evercrawl.store.disk.plain import see_plain
from evercrawl.store.disk.trouble import in_words

FILE: Final = "lock"
PURPOSE: Final = "evercrawl crawl"
_PATIENCE_S: Final = 0.25  # `holder` takes the lock for some microseconds; a writer that meets it tries again
_LOOKING: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # at a pipe nobody waits
_held: WeakSet[Lock] = WeakSet()


class _Holder(msgspec.Struct):
    """What the lock file says of the process that has the lock, or last had it."""

    pid: int
    host: str
    since: float
    purpose: str
    socket: str = ""

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since, UTC)
        return f"process {self.pid} on {self.host} ({self.purpose}, since {since:%Y-%m-%d %H:%M:%S} UTC)"


class Lock:
    """The right to write in a directory.

    It belongs to the process: when that ends, in whatever way, the lock is free, and the file left behind blocks none.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        _held.add(self)

    @classmethod
    def take(cls, directory: Path, purpose: str, now: float) -> Lock:
        """Take the lock, or say within half a second who has it.

        Parameters
        ----------
        purpose
            What for, in a word or two: others are told.
        now
            Seconds since the epoch.

        Raises
        ------
        StoreError
            Another process has it, or the directory cannot be written to, or holds what leads elsewhere.
        ConfigError
            The directory is that of a partition that was moved to another one.
        """
        see_plain(directory)
        see_unmoved(directory)
        path = directory / FILE
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as error:
            raise in_words(error, "write", path) from error
        if not _try_lock(fd, fcntl.LOCK_EX, _PATIENCE_S):
            other = _told(fd) or "another process"
            os.close(fd)
            raise StoreError(f"{directory} is in use by {other}; stop it first, or use another --dir")
        with contextlib.suppress(OSError):  # a full disk must not keep a crawl from being opened
            _tell(fd, _Holder(os.getpid(), os.uname().nodename, now, purpose))
        return cls(fd)

    def tell(self, socket: str) -> None:
        """Say where the holder listens, in the file that says who it is."""
        found = _told(self._fd)
        if found is not None:
            with contextlib.suppress(OSError):
                _tell(self._fd, msgspec.structs.replace(found, socket=socket))

    def release(self) -> None:
        """Let the directory go; a second time does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def lock_for_crawl(directory: Path) -> Lock:
    """Make the directory where it does not exist, and take its lock for a crawl.

    Raises
    ------
    StoreError
        It cannot be made, or another process has it.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise in_words(error, "make", directory) from error
    return Lock.take(directory, PURPOSE, time.time())


def holder(directory: Path) -> dict[str, Any] | None:
    """Return pid, host, since (s since the epoch), purpose and socket of who has the lock; None if nobody has it.

    Of a holder that found no room to say who it is, the dict is empty.
    """
    try:
        fd = os.open(directory / FILE, _LOOKING)
    except OSError:
        return None
    try:
        if _try_lock(fd, fcntl.LOCK_SH, 0.0):
            return None
        told = _told(fd)
        return msgspec.structs.asdict(told) if told else {}
    finally:
        os.close(fd)


def last_begun(directory: Path) -> float | None:
    """Return when the lock was taken last, in seconds since the epoch; None where that is not known."""
    try:
        fd = os.open(directory / FILE, _LOOKING)
    except OSError:
        return None
    try:
        told = _told(fd)
        return told.since if told else None
    finally:
        os.close(fd)


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
    """Write in place and cut afterwards: on a full disk the block that the file has serves again."""
    data = msgspec.json.encode(who) + b"\n"
    os.pwrite(fd, data, 0)
    os.ftruncate(fd, len(data))


def _told(fd: int) -> _Holder | None:
    try:
        return json_of(os.pread(fd, 4096, 0), _Holder)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _let_go() -> None:
    """Release all locks in a forked child: it shares them, and would keep them when the process that took them ends."""
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_let_go)
