"""Questions to a running crawl in several partitions, over a Unix socket of whoever runs it: on other machines too."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from evercrawl import __version__
from evercrawl.ask.remote import message, reachable, received
from evercrawl.errors import StoreError
from evercrawl.store.live_line import peer_uid, welcome

T = TypeVar("T")

PARTS_SOCKET: Final = "partitions.sock"
ALL: Final = -1
"""Asked for how all partitions are, which whoever runs them knows."""
VERB: Final = "verb"
"""Asked to run a verb of the command line, whose words are the parameters."""
PATIENCE_S: Final = 600.0
STATES_S: Final = 5.0


class PartState(msgspec.Struct, frozen=True):
    """How a partition of a running crawl is.

    Attributes
    ----------
    number, where
        Which one; the machine that its process is on, as far as is known.
    up, lives, waits
        Whether a process of it is connected; how many this run began; why none can be begun.
    known, elsewhere, fetched, unread
        URLs that it owns, URLs of others that it knows, pages held, own URLs that were never fetched.
    visits, bytes_in, in_flight, rate_per_s
        Of this run; `bytes_in` of its last process.
    letters, under_way
        Letters that it wrote and applied; those that are not acknowledged.
    leases, let
        Addresses that it may request, and that it lets.
    at_rest
        Whether nothing is left to fetch, and nothing is owed.
    """

    number: int
    where: str = ""
    up: bool = False
    lives: int = 0
    waits: str = ""
    known: int = 0
    elsewhere: int = 0
    fetched: int = 0
    unread: int = 0
    visits: int = 0
    bytes_in: int = 0
    in_flight: int = 0
    rate_per_s: float = 0.0
    letters: int = 0
    under_way: int = 0
    leases: int = 0
    let: int = 0
    at_rest: bool = False


class PartsAsked(msgspec.Struct, frozen=True):
    """What is asked: by which version, of which partition (or `ALL`), what, with its parameters as msgpack."""

    version: str
    number: int
    name: str
    parameters: bytes = b""


class PartsAnswer(msgspec.Struct, frozen=True):
    """The answer as msgpack, or why there is none."""

    data: bytes
    trouble: str = ""


class VerbAnswer(msgspec.Struct, frozen=True):
    """What a verb printed, and its exit code; its output may be a page as it came."""

    code: int
    out: bytes
    err: str


def part_states(directory: Path) -> list[PartState] | None:
    """Return how the partitions of the crawl are that runs in a directory; None where none runs."""
    try:
        return _asked(directory, PartsAsked(__version__, ALL, "states"), list[PartState], STATES_S)
    except StoreError:
        return None


def ask_part(directory: Path, number: int, kind: type[T], name: str, parameters: Any) -> T:
    """Return the answer of one partition of a running crawl, wherever it is, as a `kind`.

    Parameters
    ----------
    directory
        Of the crawl.
    number, name, parameters
        Which partition, and what it is asked; see `evercrawl.cluster.answering`.

    Raises
    ------
    StoreError
        It does not answer; the message says why.
    """
    return _asked(
        directory, PartsAsked(__version__, number, name, msgspec.msgpack.encode(parameters)), kind, PATIENCE_S
    )


def _asked(directory: Path, asked: PartsAsked, kind: type[T], patience_s: float) -> T:
    try:
        with reachable(directory, PARTS_SOCKET) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(patience_s)
            line.connect(path)
            if not welcome(peer_uid(line)):
                raise StoreError("the process that runs the crawl is of another user")
            line.sendall(message(asked))
            answer = msgspec.msgpack.decode(received(line), type=PartsAnswer)
            if answer.trouble:
                raise StoreError(answer.trouble)
            return msgspec.msgpack.decode(answer.data, type=kind)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise StoreError("it is on another machine, and the crawl does not run: start it, or ask there") from error
    except (OSError, EOFError, msgspec.MsgspecError) as error:
        raise StoreError(
            f"the process that runs the crawl does not answer ({error or type(error).__name__})"
        ) from error
