"""What a crawl directory is: the content of `crawl.json`, and whether a directory has a crawl."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES, Hasher
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.small_file import read_small, small
from evercrawl.store.post.ownership import Share
from evercrawl.store.scheme import Scheme

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evercrawl.store.disk.disk import Disk

FORMAT: Final = 2
"""Version of the directory's format; directories of version 1 have no secret, so that their hashes are public."""
SHARED_FORMAT: Final = 3
"""Version of the directory of one of several partitions: older programs, which would ignore the others, refuse it."""
FILE: Final = "crawl.json"
PARTED: Final = "cluster.json"
"""File in the directory of a crawl in several partitions."""
UNFINISHED: Final = "backup.begun"
"""The file in a directory to which a crawl is being copied for the first time."""
COPY: Final = "crawl-copy.json"
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LATEST_S: Final = 1e11
KEY: Final = "crawl.key"
"""A further copy of the secret, because nothing else could restore it if the two other files were lost."""


class SwitchProgress(msgspec.Struct, array_like=True, frozen=True):
    """How far an interrupted switch to another scheme has come.

    Attributes
    ----------
    events, upto
        Number of completed steps, and number of events before the switch.
    sequence
        Number of events at the interruption; if the number differs, the next start begins again.
    """

    events: int
    upto: int
    sequence: int


class Birth(msgspec.Struct):
    """Content of `crawl.json`: version of the format, id and time of creation of the crawl, and what follows.

    Attributes
    ----------
    scheme
        The scheme of importance; during a switch, still the old one.
    begun
        The first scheme, if it was switched since; the fold of the journal begins with it.
    unfinished
        Whether a switch was begun and has not ended, even to the same scheme as `scheme`.
    judged
        How far an interrupted switch has come, if nothing has happened since.
    secret
        The key of hashes of foreign texts, in hexadecimal digits; see `Hasher`. Never shown.
    share
        Which partition of the crawl this is, if there are others.
    """

    format: int
    id: str
    made_at: float
    scheme: Scheme = Scheme()
    begun: Scheme | None = None
    unfinished: bool = False
    judged: SwitchProgress | None = None
    secret: str = ""
    share: Share | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check the secret, the share, the time, and the id, which is part of file names."""
        if self.format <= SHARED_FORMAT and len(bytes.fromhex(self.secret)) != (SECRET_BYTES if self.format > 1 else 0):
            raise ValueError("its secret is invalid")
        if (self.format == SHARED_FORMAT) != isinstance(self.share, Share):
            raise ValueError("it does not say which partition it is")
        if not is_id(self.id) or not abs(self.made_at) < _LATEST_S:
            raise ValueError("its id or the instant at which it was made is none")

    def __repr__(self) -> str:
        """Return format, id and time of creation, without the secret."""
        return f"Birth(format={self.format}, id={self.id!r}, made_at={self.made_at})"

    @property
    def hasher(self) -> Hasher:
        """Return the hasher of the crawl."""
        return Hasher(bytes.fromhex(self.secret))

    @property
    def first(self) -> Scheme:
        """Return the scheme with which the crawl began."""
        return self.begun or self.scheme


def write_birth(disk: Disk, birth: Birth) -> None:
    """Write the file twice: it is small, and the directory cannot be read without it."""
    for name in (FILE, COPY):
        disk.replace(name, [msgspec.json.encode(birth)], private=True)
    if birth.secret:
        disk.replace(KEY, [birth.secret.encode()], private=True)


def is_id(text: str) -> bool:
    """Whether a text can be the id of a crawl: it is in names of files.

    >>> is_id("0a1b2c3d"), is_id("../a")
    (True, False)
    """
    return _ID.fullmatch(text) is not None


def is_crawl(directory: Path) -> bool:
    """Return whether a crawl was ever started in `directory`."""
    return (directory / FILE).is_file() or (directory / COPY).is_file()


def see_finished(unfinished: int, directory: Path) -> None:
    """Check that a directory is not one to which a crawl was copied in part.

    Parameters
    ----------
    unfinished
        The size of its file `UNFINISHED`.
    directory
        For the error.

    Raises
    ------
    StoreError
        It is; it may lack anything, and nothing may be written there but the rest of the copy.
    """
    if unfinished:
        raise StoreError(
            f"{directory} is a backup that was interrupted; finish it with: evercrawl backup {directory}, or, if the "
            f"crawl is gone, remove {UNFINISHED} and see what evercrawl verify --repair can do"
        )


def see_single(directory: Path) -> None:
    """Check that a directory is not that of a crawl in several partitions, each of which has a folder below.

    Raises
    ------
    ConfigError
        It is; nothing may be written beside the partitions.
    """
    if (directory / PARTED).is_file() and not is_crawl(directory):
        raise ConfigError(
            f"the crawl in {directory} has several partitions, each a directory of its own; name one of them, such as "
            f"{directory / 'part-0'}, or ask for all on the command line: evercrawl status --dir {directory}"
        )


def crawl_id(directory: Path) -> str:
    """Return the id of the crawl in `directory`; "" if it cannot be read.

    Every crawl has its own id, including one that replaced a removed crawl.
    """
    return _id_in(lambda name: read_small(directory / name))


def birth_id(disk: Disk) -> str:
    """Return the id of the crawl on a disk; "" if it cannot be read."""
    return _id_in(lambda name: small(disk, name))


def _id_in(read: Callable[[str], bytes]) -> str:
    for name in (FILE, COPY):
        with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, StoreError):
            return json_of(read(name), Birth).id
    return ""
