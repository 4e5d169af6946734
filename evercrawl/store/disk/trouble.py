"""Errors of the operating system about files, as sentences with advice."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

from evercrawl.errors import NoRoomError, StoreError

_REMEDY = {
    errno.EACCES: "give this user access to it, or use another --dir",
    errno.EPERM: "give this user access to it, or use another --dir",
    errno.EROFS: "the file system is mounted for reading only; mount it writable, or use another --dir",
    errno.EIO: "the disk reports a fault; look at the system log, and run `evercrawl verify` before going on",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n) and start again",
    errno.ENFILE: "too many files are open on this machine; close some and start again",
    errno.ENOENT: "the crawl directory is gone; see that its disk is mounted",
    errno.EEXIST: "a file stands where a folder belongs; move it away",
    errno.ENOTDIR: "a file stands where a folder belongs; move it away",
    errno.EISDIR: "a folder stands where a file belongs; move it away",
}
_NO_ROOM = {
    errno.ENOSPC: "make room on the disk; nothing acknowledged is lost, and the crawl can go on",
    errno.EDQUOT: "this user's disk quota is used up; raise it or make room, and the crawl can go on",
    errno.EFBIG: "the file size limit is reached (ulimit -f); raise it and start again",
}


def in_words(
    error: OSError, action: str, path: Path, wanted: int = 0, room: Callable[[], int] | None = None
) -> StoreError:
    """Return the error to raise: `NoRoomError` for a full disk, quota or size limit, else `StoreError`.

    Parameters
    ----------
    action
        The action that failed, as a verb: "write", "read".
    wanted
        Number of bytes that were to be written; 0 if unknown.
    room
        Returns the number of free bytes; by default of the file system of `path`.
    """
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in _NO_ROOM:
        size = f"{wanted} bytes" if wanted else "more"
        free = room() if room is not None else free_bytes(path)
        message = f"no room to {action} {size} to {path}, {free} bytes are free: {reason}"
        return NoRoomError(f"{message}; {_NO_ROOM[error.errno]}")
    remedy = _REMEDY.get(error.errno or 0, "see what is wrong with the disk, then start again")
    return StoreError(f"cannot {action} {path}: {reason}; {remedy}")


def free_bytes(path: Path) -> int:
    """Return the bytes that this user may still write to the file system of `path`; 0 if that is unknown."""
    for place in (path, *path.parents):
        try:
            room = os.statvfs(place)
        except OSError:
            continue
        return room.f_bavail * room.f_frsize
    return 0
