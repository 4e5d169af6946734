"""Frames between the coordinator and the processes of partitions: a length, and a message as msgpack."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

import msgspec

MOST_BYTES = 1 << 28
PENDING_BYTES = 1 << 26
"""While more waits to be read at the other end, what will be asked again is not written."""


class Mailed(msgspec.Struct, array_like=True, frozen=True, tag="mail"):
    """A message to another partition, as it was encoded."""

    to: int
    data: bytes


class LeaveAsked(msgspec.Struct, array_like=True, frozen=True, tag="leave?"):
    """A partition asks for leave to request pages; `at` by its own clock."""

    at: float


class LeaveGiven(msgspec.Struct, array_like=True, frozen=True, tag="leave"):
    """It has leave for a while from when it asked."""

    at: float


class PagesAllowed(msgspec.Struct, array_like=True, frozen=True, tag="pages"):
    """How many visits a process may make in all; -1 for any number."""

    visits: int


class CeilingShared(msgspec.Struct, array_like=True, frozen=True, tag="ceiling"):
    """How much of its even part of the crawl's ceilings a process may use."""

    part: float


class StopAsked(msgspec.Struct, array_like=True, frozen=True, tag="stop"):
    """The process is to end in order."""


class PartReport(msgspec.Struct, array_like=True, frozen=True, tag="report"):
    """How a partition is.

    Attributes
    ----------
    known, elsewhere, fetched, queue
        URLs that it knows, and those of them that others own; pages held; own URLs never asked for.
    visits, bytes_in, in_flight, rate_per_s, outcomes, errors
        Of this process, as in `Progress`.
    letters
        Letters that it has written and applied.
    allowed
        How many visits it may make, as far as it has heard.
    at_rest
        Whether nothing is left that was never fetched, and nothing is owed or under way.
    under_way, leases, let, used
        As of `evercrawl.crawl.posting.carrier.PostStanding`.
    message
        A sentence worth showing once.
    ceiling
        The part of the ceilings that it goes by.
    pid
        Of the process.
    kept
        Whether its second copy has all that counts.
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


class PartQuestion(msgspec.Struct, array_like=True, frozen=True, tag="question"):
    """A question to a partition: its number, which one it is, its parameters as msgpack, and how long it may take."""

    id: int
    name: str
    parameters: bytes
    patience_s: float


class PartQuestionDropped(msgspec.Struct, array_like=True, frozen=True, tag="dropped"):
    """Nobody waits for the answer to a question any more."""

    id: int


class PartAnswered(msgspec.Struct, array_like=True, frozen=True, tag="answer"):
    """What a partition answers, as msgpack; or why it cannot."""

    id: int
    data: bytes
    trouble: str = ""


class CopyAsked(msgspec.Struct, array_like=True, frozen=True, tag="copy?"):
    """A question of a partition to the keeper of its second copy on another machine, as it was encoded."""

    number: int
    id: int
    data: bytes


class CopyAnswered(msgspec.Struct, array_like=True, frozen=True, tag="copy"):
    """The keeper's answer to that question; no `data` while it is still working on it."""

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
    """`cluster.json` and `crawl.toml`, by name: to be kept beside the copies."""

    files: dict[str, bytes]


class BirthOlder(msgspec.Struct, array_like=True, frozen=True, tag="older"):
    """The `cluster.json` that was sent is older than the one held, in which `lives` processes had been started."""

    lives: int


class FilesAsked(msgspec.Struct, array_like=True, frozen=True, tag="files?"):
    """A question about the files of a partition that moves, of the machine that it moves to.

    Attributes
    ----------
    id, what
        Of the question; one of the methods of `evercrawl.cluster.transfer.PartFiles`.
    name, at, size
        Of a file, the offset and the number of bytes, as far as the method takes them.
    """

    id: int
    what: str
    name: str = ""
    at: int = 0
    size: int = 0


class FilesTold(msgspec.Struct, array_like=True, frozen=True, tag="files"):
    """The answer, as msgpack; or why there is none."""

    id: int
    data: bytes
    trouble: str = ""


class HaulAsked(msgspec.Struct, array_like=True, frozen=True, tag="haul?"):
    """What a process that moves a partition is to do: one of the orders of `evercrawl.cluster.hauling.haul_main`."""

    id: int
    what: str
    number: int
    words: list[str]


class HaulDone(msgspec.Struct, array_like=True, frozen=True, tag="haul"):
    """That it is done, with a count; or why it cannot be. While one is still working, it says so for id 0."""

    id: int
    count: int = 0
    trouble: str = ""


class CopyWhole(msgspec.Struct, array_like=True, frozen=True, tag="whole"):
    """The second copy of the partition has all that counts; what counts only since then is said after it."""


class Joined(msgspec.Struct, array_like=True, frozen=True, tag="joined"):
    """The first thing that a process says which was begun on another machine.

    Attributes
    ----------
    token
        What the coordinator gave it, so that nobody else can join.
    incarnation
        Which process it is.
    version
        Of evercrawl, there.
    """

    token: str
    incarnation: int
    version: str


class PartEnded(msgspec.Struct, array_like=True, frozen=True, tag="ended"):
    """The process has ended in order (`error` is ""), or why it has not.

    Attributes
    ----------
    error
        Why.
    again, lost
        Whether to begin it anew; whether the partition is not where it is to be.
    """

    error: str = ""
    again: bool = False
    lost: bool = False


Frame: TypeAlias = (
    Mailed
    | LeaveAsked
    | LeaveGiven
    | PagesAllowed
    | CeilingShared
    | StopAsked
    | PartReport
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
    """Return a frame as it is sent.

    >>> len(packed(StopAsked()))
    10
    """
    data = msgspec.msgpack.encode(frame)
    return len(data).to_bytes(4, "little") + data


def crowded(writer: asyncio.StreamWriter) -> bool:
    """Whether nothing large is to be written: the other end is gone, or has much to read already."""
    return writer.is_closing() or writer.transport.get_write_buffer_size() > PENDING_BYTES


async def read_frame(reader: asyncio.StreamReader, most_bytes: int = MOST_BYTES) -> Frame | None:
    """Return the next frame; None where the other end is gone, or says what no process of ours does."""
    try:
        size = int.from_bytes(await reader.readexactly(4), "little")
        if size > most_bytes:
            return None
        frame: Frame = msgspec.msgpack.decode(await reader.readexactly(size), type=Frame)
    except (asyncio.IncompleteReadError, OSError, msgspec.MsgspecError):
        return None
    return frame
