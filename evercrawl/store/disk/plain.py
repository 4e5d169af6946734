"""What may lie in a crawl directory: files, folders, and sockets of this user; nothing that leads elsewhere.

A directory may come from a stranger. Through a symbolic link that is called `lock` or `journal-...` a run would write
over a file of whoever looks at it, and at a pipe it would wait for ever. A plan to forget names files, too.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Final

from evercrawl.errors import StoreError
from evercrawl.store.disk.trouble import in_words

if TYPE_CHECKING:
    from pathlib import Path

_NAME: Final = re.compile(r"[^./\0][^/\0]*(/[^./\0][^/\0]*)?")
_DEEP: Final = 4
"""Folders that are looked into; evercrawl makes none in those of its folders."""


def place_of(directory: Path, name: str) -> Path:
    """Return where a file of a crawl directory is: a file name, or one folder and a file name.

    Raises
    ------
    StoreError
        The name is none of these, so that it may lead out of the directory.

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
    """See that nothing in a crawl directory leads elsewhere; one that does not exist yet is in order.

    Raises
    ------
    StoreError
        There is a symbolic link, a pipe or a device, or somebody else's socket; or a folder cannot be looked into.
    """
    try:
        _see(os.fspath(directory), _DEEP)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise in_words(error, "read", directory) from error


def read_piece(path: Path, offset: int, size: int) -> bytes:
    """Return up to `size` bytes of a file from an offset on; nothing where it is missing, or a link."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return os.pread(fd, size, offset)
    finally:
        os.close(fd)


def _see(folder: str, deep: int) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                continue
            if entry.is_dir(follow_symlinks=False):
                if deep:
                    _see(entry.path, deep - 1)
                continue
            what = _strange(entry)
            if what:
                raise StoreError(
                    f"{entry.path} is {what}, and no crawl directory has any: whoever made it could have evercrawl "
                    "write elsewhere or wait for ever; move it away, and put a file or folder there if it is yours"
                )


def _strange(entry: os.DirEntry[str]) -> str:
    """Return what an entry is that is neither file nor folder; "" for what may be there, or has just gone."""
    try:
        about = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return ""
    if stat.S_ISLNK(about.st_mode):
        return "a symbolic link"
    if stat.S_ISSOCK(about.st_mode):
        return "" if about.st_uid == os.geteuid() else "a socket of another user"
    if stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode):
        return ""
    return "a pipe" if stat.S_ISFIFO(about.st_mode) else "a device"
