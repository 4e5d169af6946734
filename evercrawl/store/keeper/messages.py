"""What a partition says to the keeper of its second copy, and what that answers."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class CopyOwner(msgspec.Struct, array_like=True, frozen=True):
    """Whose copy it is, and who writes it.

    Attributes
    ----------
    cluster, number
        Id of the crawl, and which partition.
    line
        The life in which the partition was last restored from a copy, 0 if never. A directory with a lower line has
        another history.
    incarnation
        Which life of the partition writes.
    """

    cluster: str
    number: int
    line: int
    incarnation: int


class KeeperAsk(msgspec.Struct, array_like=True, frozen=True, tag="ask"):
    """A life of a partition begins to write, or has lost count; what is held is to be said."""

    owner: CopyOwner


class HeldFile(msgspec.Struct, array_like=True, frozen=True):
    """A file that grows as it is held: its size, and checksums of its pieces of `PIECE_BYTES`, u64 each."""

    size: int
    sums: bytes


class KeeperHolds(msgspec.Struct, array_like=True, frozen=True, tag="holds"):
    """What is held.

    Attributes
    ----------
    session
        From now on each step names it; those of earlier ones are refused.
    files
        Files of the journal, by name.
    others
        Checksums of the other files, by name.
    birth
        Id of the history that it is a copy of, as its crawl.json says; "" where that cannot be read.
    sound
        Whether its journal has no damage that an interrupted write does not explain.
    whole
        Whether it has everything that counts, so that a partition may be opened from it.
    growing
        The files beside the journal that grow, by name; they are not among the others.
    """

    session: int
    files: dict[str, HeldFile]
    others: dict[str, int]
    birth: str
    sound: bool
    whole: bool
    growing: dict[str, HeldFile] = {}


class FileWrite(msgspec.Struct, array_like=True, frozen=True):
    """Bytes of a file from `at` on, behind which nothing follows; all of a small file where `at` is -1."""

    name: str
    at: int
    data: bytes


class KeeperStep(msgspec.Struct, array_like=True, frozen=True, tag="step"):
    """What is to be written and synced next.

    Attributes
    ----------
    owner, session, number
        Who says so, in which session, and which step of it, from 1.
    writes, gone
        Bytes to be written; files to be removed.
    whole
        Whether, with this, everything is held that counts.
    distrusted
        Whether what is held is to be opened by nobody from now on, until a step says again that it is whole.
    """

    owner: CopyOwner
    session: int
    number: int
    writes: list[FileWrite]
    gone: list[str] = []
    whole: bool = False
    distrusted: bool = False


class KeeperDone(msgspec.Struct, array_like=True, frozen=True, tag="done"):
    """All steps of a session up to a number are on the keeper's disk."""

    session: int
    upto: int


class KeeperRefusal(msgspec.Struct, array_like=True, frozen=True, tag="refused"):
    """Nothing was written.

    Attributes
    ----------
    why
        In words.
    over
        Whether that cannot change: another life has taken the place of the one that asks.
    elsewhere
        Whether a person has to move the directory of the one that asks, or the copy.
    """

    why: str
    over: bool = False
    elsewhere: bool = False


KeeperQuestion: TypeAlias = KeeperAsk | KeeperStep
KeeperAnswer: TypeAlias = KeeperHolds | KeeperDone | KeeperRefusal
