"""Questions to a running crawl in several partitions, over a Unix socket of whoever runs it: on other machines too."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from evercrawl import __version__
from evercrawl.ask.remote import message, received
from evercrawl.errors import StoreError
from evercrawl.store.disk.listening import reachable
from evercrawl.store.disk.lock import holder
from evercrawl.store.live_line import peer_uid, welcome

T = TypeVar("T")

PARTS_SOCKET: Final = "partitions.sock"
ALL: Final = -1
"""Asked for how all partitions are, which whoever runs them knows."""
VERB: Final = "verb"
"""Asked to run a verb of the command line: the parameters are a `VerbAsked`."""
ASKED_BYTES: Final = (16 << 20) + (1 << 16)
"""Of a question: URLs to add, say."""
PATIENCE_S: Final = 600.0
"""That an asker has with a verb; with questions it has less."""
STATES_S: Final = 5.0
TOLD_S: Final = 2.0  # more than it has itself, so that it is told who did not answer
ENDED_S: Final = 600.0
"""A process of a partition that has said nothing for so long is ended, and another one is begun."""


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
    pid
        Of its process, on its machine; 0 where that has not said it.
    silent_s, opening
        For how long its process has said nothing; 0 as long as that is nothing unusual. Whether it has yet to say
        anything, because it opens its directory.
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
    pid: int = 0
    silent_s: float = 0.0
    opening: bool = False


class PartsAsked(msgspec.Struct, frozen=True):
    """What is asked: by which version, of which partition (or `ALL`), what, with its parameters as msgpack.

    Attributes
    ----------
    version, number, name, parameters
        As above.
    patience_s
        For how long the asker waits.
    """

    version: str
    number: int
    name: str
    parameters: bytes = b""
    patience_s: float = PATIENCE_S


class PartsAnswer(msgspec.Struct, frozen=True):
    """The answer as msgpack, or why there is none."""

    data: bytes
    trouble: str = ""


class VerbAsked(msgspec.Struct, frozen=True):
    """The words of a verb, and what it reads from standard input."""

    words: list[str]
    given: bytes = b""


class VerbAnswer(msgspec.Struct, frozen=True):
    """What a verb printed, and its exit code; its output may be a page as it came."""

    code: int
    out: bytes
    err: str


def hung(state: PartState) -> str:
    """Return that the process of a partition hangs, in a sentence that says what to do; "" where it does not.

    Examples
    --------
    >>> hung(PartState(2, "box", up=True)), hung(PartState(2, "box", up=True, silent_s=300.0, opening=True))
    ('', '')
    >>> print(hung(PartState(2, "box", up=True, pid=71, silent_s=35.2)))  # doctest: +NORMALIZE_WHITESPACE
    its process (71 on box) has said nothing for 35 s: it is stopped, blocked or gets no processor time. It fetches
    nothing until it continues, and is begun again 600 s after its last word; to have that now: kill -9 71
    """
    if not state.up or not state.silent_s or state.opening:
        return ""
    machine = f" on {state.where}" if state.where else ""
    return (
        f"its process ({state.pid or 'of unknown number'}{machine}) has said nothing for {state.silent_s:.0f} s: it is "
        "stopped, blocked or gets no processor time. It fetches nothing until it continues, and is begun again "
        f"{ENDED_S:.0f} s after its last word" + (f"; to have that now: kill -9 {state.pid}" if state.pid else "")
    )


def part_states(directory: Path) -> list[PartState] | None:
    """Return how the partitions of the crawl are that runs in a directory; None where none runs.

    Raises
    ------
    StoreError
        Something runs it, and does not answer; the message says what to do.
    """
    try:
        return _asked(directory, PartsAsked(__version__, ALL, "states", b"", STATES_S), list[PartState])
    except _StoppedError:
        return None


def ask_part(
    directory: Path, number: int, kind: type[T], name: str, parameters: Any, patience_s: float = PATIENCE_S
) -> T:
    """Return the answer of one partition of a running crawl, wherever it is, as a `kind`.

    Parameters
    ----------
    directory
        Of the crawl.
    number, name, parameters
        Which partition, and what it is asked; see `evercrawl.cluster.answering`.
    patience_s
        After so long it is given up, there too.

    Raises
    ------
    StoreError
        It does not answer; the message says why.
    """
    asked = PartsAsked(__version__, number, name, msgspec.msgpack.encode(parameters), patience_s)
    try:
        return _asked(directory, asked, kind)
    except _StoppedError as error:
        raise StoreError("it is on another machine, and the crawl does not run: start it, or ask there") from error


class _StoppedError(Exception):
    """Nothing runs the crawl."""


def _asked(directory: Path, asked: PartsAsked, kind: type[T]) -> T:
    try:
        with reachable(directory, PARTS_SOCKET) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(asked.patience_s + TOLD_S)
            line.connect(path)
            if not welcome(peer_uid(line)):
                raise StoreError("the process that runs the crawl is of another user")
            with contextlib.suppress(BrokenPipeError):  # who is refused is told why before he has asked
                line.sendall(message(asked))
            answer = msgspec.msgpack.decode(received(line), type=PartsAnswer)
            if answer.trouble:
                raise StoreError(answer.trouble)
            return msgspec.msgpack.decode(answer.data, type=kind)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise _StoppedError from error
    except (TimeoutError, BlockingIOError) as error:  # the latter where many others wait already
        raise StoreError(_silent(directory, asked.patience_s + TOLD_S)) from error
    except (OSError, EOFError, msgspec.MsgspecError) as error:
        raise StoreError(
            f"the process that runs the crawl does not answer ({str(error) or type(error).__name__}); ask again"
        ) from error


def _silent(directory: Path, waited_s: float) -> str:
    """Return that what runs the crawl hangs, and what to do."""
    pid = (holder(directory) or {}).get("pid")
    named = f" ({pid})" if pid else ""
    then = f"; kill -CONT {pid} continues a stopped one, and kill -9 {pid} loses nothing" if pid else ""
    return (
        f"the process that runs the crawl{named} has not answered for {waited_s:.0f} s: it is stopped, blocked or gets "
        f"no processor time, or its machine does{then}: then start the crawl again"
    )
