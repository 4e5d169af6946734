"""Modes of copied files: a copy is never more readable than its original."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

ORDINARY: Final = 0o644
"""Mode of a file that evercrawl makes, before the umask."""
PRIVATE: Final = 0o600
_GROUP: Final = stat.S_IRGRP | stat.S_IWGRP
_OTHERS: Final = stat.S_IROTH | stat.S_IWOTH
_RIGHTS: Final = 0o666
_WRITING: Final = stat.S_IWGRP | stat.S_IWOTH


def shut_to_others() -> None:
    """Keep everyone else from writing what this process makes from now on, if its umask lets everyone write.

    A library of ours makes files with whatever rights the umask leaves, and folders are made so too. A umask that lets
    only the group write was chosen by somebody, and stays.
    """
    before = _umask()
    if before is not None and not before & stat.S_IWOTH:
        os.umask(before | _WRITING)


def _umask() -> int | None:
    """Return this process's umask; None if the system does not tell. Setting it to read it would disturb threads."""
    with contextlib.suppress(OSError), Path("/proc/self/status").open("rb") as file:
        for line in file:
            if line.startswith(b"Umask:"):
                return int(line.split()[1], 8)
    return None


def ordinary(name: str) -> int:
    """Return the mode of a new file of any name."""
    del name
    return ORDINARY


def private(name: str) -> int:
    """Return the mode of a file that only its owner reads, whatever its name."""
    del name
    return PRIVATE


def mode_of(directory: Path, path: Path) -> int:
    """Return the mode for a copy of a file in a directory; `PRIVATE` if the file is gone.

    Users who cannot enter the directory, or a folder in it, cannot read the file. A group other than the process's own,
    which a copy would have, gives no right.
    """
    mode = _RIGHTS
    try:
        for each in (path, *(folder for folder in path.parents if folder == directory or directory in folder.parents)):
            about = each.stat()
            mode &= _in_folder(about.st_mode) if stat.S_ISDIR(about.st_mode) else about.st_mode
            if about.st_gid != os.getegid() and not about.st_mode & stat.S_IROTH:
                mode &= ~_GROUP
    except OSError:
        return PRIVATE
    return mode & ORDINARY | PRIVATE


def _in_folder(mode: int) -> int:
    """Return the rights that remain to the files of a folder.

    >>> oct(_in_folder(0o755)), oct(_in_folder(0o750)), oct(_in_folder(0o700))
    ('0o666', '0o660', '0o600')
    """
    left = _RIGHTS
    for right, rights in ((stat.S_IXGRP, _GROUP), (stat.S_IXOTH, _OTHERS)):
        if not mode & right:
            left &= ~rights
    return left


def narrow(path: Path, mode: int) -> None:
    """Remove rights of a file that `mode` does not give; skip a missing file.

    Some file systems, such as those of memory sticks, have no modes: whoever mounts them decides who can read them.
    """
    with contextlib.suppress(OSError):
        there = stat.S_IMODE(path.stat().st_mode)
        if there & _RIGHTS & ~mode:
            path.chmod(there & (mode | ~_RIGHTS))
