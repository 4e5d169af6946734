"""Frames between the coordinator and its processes (of partitions, second copies and moves): a length, a message."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

import msgspec

MOST_BYTES = 1 << 28
PENDING_BYTES = 1 << 26
"""While more than this is unread at the other end, frames that will be repeated anyway are not written."""
JOINED_S = 120.0
"""Maximum time for a started process of second copies or of a move to join."""
ALIVE_S = 2.0
"""Interval at which such a process reports that it is still working."""
SILENT_S = 60.0
"""A process that is silent this long after a question is given up."""


class Mailed(msgspec.Struct, array_like=True, frozen=True, tag="mail"):
    """An encoded message to another partition.

    Attributes
    ----------
    to
        The receiver.
    sender, incarnation
        Number and life of the process that sent it, by the coordinator, whatever the message itself says.
    """

    to: int
    data: bytes
    sender: int = -1
    incarnation: int = 0


class LeaveAsked(msgspec.Struct, array_like=True, frozen=True, tag="leave?"):
    """A partition asks for leave to request pages; `at` is a time of its own clock."""

    at: float


class LeaveGiven(msgspec.Struct, array_like=True, frozen=True, tag="leave"):
    """Grants leave for a while from the time of the request."""

    at: float


class PagesAllowed(msgspec.Struct, array_like=True, frozen=True, tag="pages"):
    """The total number of visits that a process may make; -1 for any number."""

    visits: int


class CeilingShared(msgspec.Struct, array_like=True, frozen=True, tag="ceiling"):
    """The fraction of its even part of the crawl's ceilings that a process may use."""

    part: float


class StopAsked(msgspec.Struct, array_like=True, frozen=True, tag="stop"):
    """Asks a process to end in order."""


class PartReport(msgspec.Struct, array_like=True, frozen=True, tag="report"):
    """The state of a partition.

    Attributes
    ----------
    known, elsewhere, fetched, queue
        Known URLs, those of them that others own, pages held, and own URLs never requested.
    visits, bytes_in, in_flight, rate_per_s, outcomes, errors
        Counts of this process, as in `Progress`.
    letters
        Letters written and applied.
    allowed
        How many visits it may make, as last received.
    at_rest
        Whether no URL is left unfetched, and nothing is owed or under way.
    under_way, leases, let, used
        As in `evercrawl.crawl.posting.carrier.PostStanding`.
    message
        A sentence to be shown once.
    ceiling
        The part of the ceilings that it observes.
    pid
        Process id.
    kept
        Whether its second copy is complete.
    disk_full, memory_short, names_trouble, fresh
        As in `Progress`.
    alert
        Kind of alert of the message; "" for none.
    refused
        Messages from other partitions, and URLs in them, that this process did not apply because they were forged,
        damaged or outdated.
    """

    known: int = 0
    elsewhere: int = 0
    fetched: int = 0
    queue: int = 0
    visits: int = 0
    bytes_in: int = 0
    in_flight: int = 0
    rate_per_s: float = 0.0
    outcomes: dict[str, int] = {}
    errors: dict[str, int] = {}
    letters: int = 0
    allowed: int = 0
    at_rest: bool = False
    message: str = ""
    under_way: int = 0
    leases: int = 0
    let: int = 0
    used: float = 0.0
    ceiling: float = 0.0
    pid: int = 0
    kept: bool = False
    disk_full: bool = False
    memory_short: bool = False
    names_trouble: str = ""
    fresh: float | None = None
    alert: str = ""
    refused: int = 0


class VisitLogged(msgspec.Struct, array_like=True, frozen=True, tag="visit"):
    """A visit for the log of the run: its time, and the fields of its line as msgpack."""

    at: float
    fields: bytes


class PartQuestion(msgspec.Struct, array_like=True, frozen=True, tag="question"):
    """A question to a partition: id, name, parameters as msgpack, and the time that it may take."""

    id: int
    name: str
    parameters: bytes
    patience_s: float


class PartQuestionDropped(msgspec.Struct, array_like=True, frozen=True, tag="dropped"):
    """The answer to a question is no longer waited for."""

    id: int


class PartAnswered(msgspec.Struct, array_like=True, frozen=True, tag="answer"):
    """The answer of a partition, as msgpack; or why there is none."""

    id: int
    data: bytes
    trouble: str = ""


class CopyAsked(msgspec.Struct, array_like=True, frozen=True, tag="copy?"):
    """An encoded question of a partition to the keeper of its second copy on another machine."""

    number: int
    id: int
    data: bytes


class CopyAnswered(msgspec.Struct, array_like=True, frozen=True, tag="copy"):
    """The keeper's answer to that question; without `data` while it is still working."""

    number: int
    id: int
    data: bytes


class CopyCheckAsked(msgspec.Struct, array_like=True, frozen=True, tag="look?"):
    """Asks a keeper whether a partition can be restored from its second copy, which was complete in life `life`."""

    number: int
    id: int
    life: int


class CopyChecked(msgspec.Struct, array_like=True, frozen=True, tag="look"):
    """The answer: why it cannot be restored, "" if it can."""

    number: int
    id: int
    why: str


class BirthKept(msgspec.Struct, array_like=True, frozen=True, tag="birth"):
    """`cluster.json` and `crawl.toml`, by name, to be stored beside the copies."""

    files: dict[str, bytes]


class BirthOlder(msgspec.Struct, array_like=True, frozen=True, tag="older"):
    """The `cluster.json` that was sent is older than the one held, in which `lives` processes had been started."""

    lives: int


class FilesAsked(msgspec.Struct, array_like=True, frozen=True, tag="files?"):
    """A question about the files of a partition that is moved or backed up, from another machine.

    Attributes
    ----------
    id, what
        Id of the question; one of the methods of `evercrawl.cluster.moving.transfer.PartFiles`.
    name, at, size
        Name of a file, offset and number of bytes, if the method takes them.
    blocks
        Numbers of blocks of the last copy of a database that was taken.
    """

    id: int
    what: str
    name: str = ""
    at: int = 0
    size: int = 0
    blocks: list[int] = []


class FilesTold(msgspec.Struct, array_like=True, frozen=True, tag="files"):
    """The answer, as msgpack; or why there is none."""

    id: int
    data: bytes
    trouble: str = ""


class HaulAsked(msgspec.Struct, array_like=True, frozen=True, tag="haul?"):
    """An order to a process that moves a partition; see `evercrawl.cluster.hauling.haul_main`."""

    id: int
    what: str
    number: int
    words: list[str]


class HaulDone(msgspec.Struct, array_like=True, frozen=True, tag="haul"):
    """The result of an order, a count or an error; with id 0, the process is still working."""

    id: int
    count: int = 0
    trouble: str = ""


class CopyWhole(msgspec.Struct, array_like=True, frozen=True, tag="whole"):
    """The second copy of the partition is complete; later reports count only with it."""


class Joined(msgspec.Struct, array_like=True, frozen=True, tag="joined"):
    """The first frame of a process on another machine.

    Attributes
    ----------
    token
        The coordinator's token, without which a process cannot join.
    incarnation
        Number of the process.
    version
        Its version of evercrawl.
    """

    token: str
    incarnation: int
    version: str


class PartEnded(msgspec.Struct, array_like=True, frozen=True, tag="ended"):
    """The process has ended in order (`error` is "") or by an error.

    Attributes
    ----------
    error
        The error.
    again, lost
        Whether the process should be started again; whether the partition is not where it should be.
    code
        Exit code of the error; see `EvercrawlError`.
    """

    error: str = ""
    again: bool = False
    lost: bool = False
    code: int = 3


Frame: TypeAlias = (
    Mailed
    | LeaveAsked
    | LeaveGiven
    | PagesAllowed
    | CeilingShared
    | StopAsked
    | PartReport
    | VisitLogged
    | PartQuestion
    | PartQuestionDropped
    | PartAnswered
    | CopyAsked
    | CopyAnswered
    | CopyWhole
    | CopyCheckAsked
    | CopyChecked
    | FilesAsked
    | FilesTold
    | HaulAsked
    | HaulDone
    | BirthKept
    | BirthOlder
    | Joined
    | PartEnded
)


def packed(frame: Frame) -> bytes:
    """Return an encoded frame.

    >>> len(packed(StopAsked()))
    10
    """
    data = msgspec.msgpack.encode(frame)
    return len(data).to_bytes(4, "little") + data


def crowded(writer: asyncio.StreamWriter) -> bool:
    """Return whether large frames should not be written: the other end is gone, or has a long backlog."""
    return writer.is_closing() or writer.transport.get_write_buffer_size() > PENDING_BYTES


async def read_frame(reader: asyncio.StreamReader, most_bytes: int = MOST_BYTES) -> Frame | None:
    """Return the next frame; None if the other end is gone or sends an invalid frame."""
    try:
        size = int.from_bytes(await reader.readexactly(4), "little")
        if size > most_bytes:
            return None
        frame: Frame = msgspec.msgpack.decode(await reader.readexactly(size), type=Frame)
    except (asyncio.IncompleteReadError, OSError, msgspec.MsgspecError):
        return None
    return frame
