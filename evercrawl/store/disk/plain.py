"""Check of the entries of a crawl directory: only files, folders, and trusted sockets; no links to other places.

A directory may be foreign. Through a symbolic link named `lock` or `journal-...`, a run would overwrite a file of its
user, and at a pipe it would block forever. A plan to forget also contains file names.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Final

from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.owner import run_as, trusted, user_name
from evercrawl.store.disk.trouble import in_words

if TYPE_CHECKING:
    from pathlib import Path

_NAME: Final = re.compile(r"[^./\0][^/\0]*(/[^./\0][^/\0]*)?")
_DEEP: Final = 4
"""Depth of folders that are checked; evercrawl makes no folders in its folders."""


def see_utf8(directory: Path) -> None:
    """Check that the name of a directory to be made is UTF-8, which the search index and JSON require.

    Raises
    ------
    ConfigError
        It is not.
    """
    try:
        str(directory).encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"the name {os.fsencode(directory)!r} is not UTF-8; name another directory") from error


def place_of(directory: Path, name: str) -> Path:
    """Return the path of a file of a crawl directory, named by a file name, or by a folder and a file name.

    Raises
    ------
    StoreError
        The name has another form, so that it may lead out of the directory.

    Examples
    --------
    >>> from pathlib import Path
    >>> str(place_of(Path("crawl"), "archive/x.warc.gz"))
    'crawl/archive/x.warc.gz'
    >>> place_of(Path("crawl"), "../x")
    Traceback (most recent call last):
    evercrawl.errors.StoreError: crawl names a file '../x' and no crawl has such; put it back from a copy
    """
    if not _NAME.fullmatch(name):
        raise StoreError(f"{directory} names a file {name[:200]!r} and no crawl has such; put it back from a copy")
    return directory / name


def see_plain(directory: Path) -> None:
    """Check that nothing in a crawl directory leads elsewhere; a missing directory is valid.

    Raises
    ------
    StoreError
        There is a symbolic link, a pipe, a device or another user's socket, except, for root, one of the crawl's
        owner; or a folder cannot be read.
    """
    try:
        _see(os.fspath(directory), _DEEP, directory)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise in_words(error, "read", directory) from error


def read_piece(path: Path, offset: int, size: int) -> bytes:
    """Return up to `size` bytes of a file from an offset on; nothing if it is missing or a link."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return os.pread(fd, size, offset)
    finally:
        os.close(fd)


def _see(folder: str, deep: int, crawl: Path) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                continue
            if entry.is_dir(follow_symlinks=False):
                if deep:
                    _see(entry.path, deep - 1, crawl)
                continue
            what = _strange(entry, crawl)
            if what:
                raise StoreError(
                    f"{entry.path} is {what}, which a crawl directory must not contain: it could make evercrawl "
                    "write elsewhere or wait for ever; move it away, and put a file or folder in its place"
                )


def _strange(entry: os.DirEntry[str], crawl: Path) -> str:
    """Return a description of an entry that is not allowed; "" if it is allowed or has just vanished.

    Raises
    ------
    StoreError
        It is a socket of another user, who may be running the crawl.
    """
    try:
        about = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return ""
    if stat.S_ISLNK(about.st_mode):
        return "a symbolic link"
    if stat.S_ISSOCK(about.st_mode):
        if trusted(about.st_uid, crawl):
            return ""
        raise StoreError(
            f"{entry.path} is a socket of {user_name(about.st_uid)}, and you are {user_name(os.geteuid())}: if "
            f"{user_name(about.st_uid)} runs the crawl, run this {run_as(about.st_uid)}; otherwise remove the socket"
        )
    if stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode):
        return ""
    return "a pipe" if stat.S_ISFIFO(about.st_mode) else "a device"
