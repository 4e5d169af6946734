"""The user to whom a crawl directory belongs: root can write everywhere, and must not lock that user out."""

from __future__ import annotations

import contextlib
import os
import pwd
import tempfile
from pathlib import Path
from typing import Final

from evercrawl.errors import StoreError

ROOT: Final = 0
_MADE_FIRST: Final = ("crawl.json", "cluster.json", "crawl-copy.json")


def owner_of(directory: Path) -> int | None:
    """Return the id of the user who made the crawl in a directory; None if there is no crawl."""
    about = _birth(directory)
    return about.st_uid if about is not None else None


def user_name(uid: int) -> str:
    """Return the name of a user, or "user 1234" if it has none here.

    >>> user_name(0)
    'root'
    """
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def trusted(uid: int, directory: Path) -> bool:
    """Return whether a file or process of a user is trusted: this user's, root's, and for root the crawl owner's."""
    me = os.geteuid()
    return uid in (me, ROOT) or (me == ROOT and uid == owner_of(directory))


def of_another(directory: Path) -> str:
    """Return, for root, a sentence why it must not write to another user's crawl; "" if it may.

    File systems that give every file to one user, as those of some containers, are no obstacle.
    """
    owner = owner_of(directory) if os.geteuid() == ROOT else None
    if owner in (None, ROOT):
        return ""
    try:
        with tempfile.TemporaryFile(dir=directory) as probe:
            if os.fstat(probe.fileno()).st_uid == owner:
                return ""
    except OSError:
        return ""  # nothing can be written there anyway, and the attempt will say why
    return (
        f"the crawl in {directory} belongs to {user_name(owner)}, who could not use files that root writes there; "
        f"run this {run_as(owner)}; if the crawl is to be root's from now on: chown -R root {directory}"
    )


def run_as(uid: int) -> str:
    """Return how to run a verb as another user.

    >>> run_as(2**31 - 2)
    'as user 2147483646'
    """
    name = user_name(uid)
    return f"as {name}" if name.startswith("user ") else f"as {name}: runuser -u {name} -- evercrawl ..."


def see_owned(directory: Path) -> None:
    """Check that this user may write to the crawl in a directory.

    Raises
    ------
    StoreError
        This is root, and the crawl is another user's.
    """
    if why := of_another(directory):
        raise StoreError(why)


def hand_over(fd: int, directory: Path) -> None:
    """Give a file that root has just created to the crawl's owner; for other users this does nothing."""
    about = _birth(directory) if os.geteuid() == ROOT else None
    if about is not None and about.st_uid != ROOT:
        with contextlib.suppress(OSError):  # of a file system without owners
            os.fchown(fd, about.st_uid, about.st_gid)


def _birth(directory: Path) -> os.stat_result | None:
    for name in _MADE_FIRST:
        with contextlib.suppress(OSError):
            return os.lstat(directory / name)
    return None
