"""Messages between a partition and the keeper of its second copy."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class CopyOwner(msgspec.Struct, array_like=True, frozen=True):
    """The owner of a copy, and the life that writes it.

    Attributes
    ----------
    cluster, number
        Id of the crawl, and number of the partition.
    line
        The life in which the partition was last restored from a copy, 0 if never. A directory with a lower line has
        another history.
    incarnation
        The life that writes.
    """

    cluster: str
    number: int
    line: int
    incarnation: int


class KeeperAsk(msgspec.Struct, array_like=True, frozen=True, tag="ask"):
    """Question about the content, from a life that begins to write or has lost count."""

    owner: CopyOwner


class HeldFile(msgspec.Struct, array_like=True, frozen=True):
    """A growing file as held: its size, and checksums of its pieces of `PIECE_BYTES`, u64 each."""

    size: int
    sums: bytes


class KeeperHolds(msgspec.Struct, array_like=True, frozen=True, tag="holds"):
    """The content of a copy.

    Attributes
    ----------
    session
        Number that each step must name from now on; steps of earlier sessions are refused.
    files
        Files of the journal, by name.
    others
        Checksums of the other files, by name.
    birth
        Id of the crawl in the copy's crawl.json; "" if that cannot be read.
    sound
        Whether its journal has no damage beyond what an interrupted write explains.
    whole
        Whether it is complete, so that a partition may be restored from it.
    growing
        Growing files beside the journal, by name; they are not among `others`.
    """

    session: int
    files: dict[str, HeldFile]
    others: dict[str, int]
    birth: str
    sound: bool
    whole: bool
    growing: dict[str, HeldFile] = {}


class FileWrite(msgspec.Struct, array_like=True, frozen=True):
    """Bytes of a file from `at` on, which then end the file; if `at` is -1, all of a small file."""

    name: str
    at: int
    data: bytes


class KeeperStep(msgspec.Struct, array_like=True, frozen=True, tag="step"):
    """Bytes to be written and synced next.

    Attributes
    ----------
    owner, session, number
        The owner, the session, and the number of the step in it, from 1.
    writes, gone
        Bytes to be written; files to be removed.
    whole
        Whether this step completes the copy.
    distrusted
        Whether the copy must not be opened from now on, until a step completes it again.
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
        The reason, in words.
    over
        Whether the refusal is final, because another life has taken the place of the asking one.
    elsewhere
        Whether a person must move the directory of the asking life, or the copy.
    """

    why: str
    over: bool = False
    elsewhere: bool = False


KeeperQuestion: TypeAlias = KeeperAsk | KeeperStep
KeeperAnswer: TypeAlias = KeeperHolds | KeeperDone | KeeperRefusal
