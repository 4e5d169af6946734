"""Queries to a running partitioned crawl over its coordinator's Unix socket, also for partitions on other machines."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from evercrawl import __version__
from evercrawl.ask.remote import message, received
from evercrawl.errors import StoreError
from evercrawl.store.disk.listening import reachable
from evercrawl.store.disk.lock import holder
from evercrawl.store.disk.owner import trusted
from evercrawl.store.live_line import peer_uid

T = TypeVar("T")

PARTS_SOCKET: Final = "partitions.sock"
ALL: Final = -1
"""Number that asks for the states of all partitions, which the coordinator itself knows."""
VERB: Final = "verb"
"""Name of the query that runs a verb of the command line; its parameters are a `VerbAsked`."""
FILES: Final = "files"
"""Name of the query after which the same connection takes questions about a partition's files."""
ASKED_BYTES: Final = (16 << 20) + (1 << 16)
"""Maximum size of a query, such as one with URLs to add."""
PATIENCE_S: Final = 600.0
"""Time limit of a verb; queries have shorter ones."""
STATES_S: Final = 5.0
TOLD_S: Final = 2.0  # longer than the coordinator waits, so that its reply names the partitions that did not answer
ENDED_S: Final = 600.0
"""Silence after which the process of a partition is ended and replaced."""


class PartState(msgspec.Struct, frozen=True):
    """The state of a partition of a running crawl.

    Attributes
    ----------
    number, where
        Number of the partition; the machine of its process, as far as is known.
    up, lives, waits
        Whether its process is connected; number of processes that this run started; why none can be started.
    known, elsewhere, fetched, unread
        URLs that it owns, known URLs of other partitions, pages held, own URLs never fetched.
    visits, bytes_in, in_flight, rate_per_s
        Figures of this run; `bytes_in` is that of its last process.
    letters, under_way
        Letters written and applied; letters not acknowledged yet.
    leases, let
        Addresses that it may request; addresses that it leases out.
    at_rest
        Whether nothing is left to fetch, and nothing is owed to other partitions.
    pid
        Process id on its machine; 0 if unknown.
    silent_s, opening
        How long its process has been silent; 0 while that is not unusual. Whether it is silent because it is still
        opening its directory.
    refused
        Messages from other partitions, and URLs in them, that its last process did not apply because they were forged,
        damaged or outdated.
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
    refused: int = 0


class PartsAsked(msgspec.Struct, frozen=True):
    """A query to a partition.

    Attributes
    ----------
    version, number, name, parameters
        Version of evercrawl; number of the partition, or `ALL`; name of the query; its parameters as msgpack.
    patience_s
        How long the client waits.
    """

    version: str
    number: int
    name: str
    parameters: bytes = b""
    patience_s: float = PATIENCE_S


class PartsAnswer(msgspec.Struct, frozen=True):
    """The answer as msgpack, or the reason why there is none."""

    data: bytes
    trouble: str = ""


class VerbAsked(msgspec.Struct, frozen=True):
    """The arguments of a verb, and its standard input."""

    words: list[str]
    given: bytes = b""


class VerbAnswer(msgspec.Struct, frozen=True):
    """The output of a verb, which may be a page's raw bytes, and its exit code."""

    code: int
    out: bytes
    err: str


def hung(state: PartState) -> str:
    """Return a sentence that says that the process of a partition hangs, and what to do; "" if it does not.

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
    """Return the states of the partitions of the crawl that runs in a directory; None if none runs.

    Raises
    ------
    StoreError
        The process that runs the crawl does not answer; the message says what to do.
    """
    try:
        return _asked(directory, PartsAsked(__version__, ALL, "states", b"", STATES_S), list[PartState])
    except StoppedError:
        return None


def ask_part(
    directory: Path, number: int, kind: type[T], name: str, parameters: Any, patience_s: float = PATIENCE_S
) -> T:
    """Return the answer of one partition of a running crawl, on whatever machine, as a `kind`.

    Parameters
    ----------
    directory
        The crawl directory.
    number, name, parameters
        Number of the partition; name and parameters of the query, see `evercrawl.cluster.answering`.
    patience_s
        Time limit, which the partition observes too.

    Raises
    ------
    StoreError
        The partition does not answer; the message says why.
    """
    asked = PartsAsked(__version__, number, name, msgspec.msgpack.encode(parameters), patience_s)
    try:
        return _asked(directory, asked, kind)
    except StoppedError as error:
        raise StoreError("it is on another machine, and the crawl does not run: start it, or ask there") from error


class StoppedError(Exception):
    """Nothing runs the crawl."""


class PartsDialogue:
    """A connection to the process that runs a crawl, for one query after the other.

    Parameters
    ----------
    directory
        The crawl directory.
    patience_s
        How long that process waits for an answer at most.

    Raises
    ------
    StoppedError
        Nothing runs the crawl.
    StoreError
        The process does not answer; the message says what to do.
    """

    def __init__(self, directory: Path, patience_s: float) -> None:
        self._directory, self._waits_s = directory, patience_s + TOLD_S
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._line.settimeout(self._waits_s)
            with self._plain(), reachable(directory, PARTS_SOCKET) as path:
                self._line.connect(path)
                if not trusted(peer_uid(self._line), directory):
                    raise StoreError("the process that runs the crawl belongs to another user")
        except BaseException:
            self._line.close()
            raise

    def ask(self, query: msgspec.Struct, kind: type[T]) -> T:
        """Return the answer as a `kind`.

        Raises
        ------
        StoreError
            There is none; the message says why.
        """
        with self._plain():
            with contextlib.suppress(BrokenPipeError):  # a refused client gets the reason before it has sent its query
                self._line.sendall(message(query))
            answer = msgspec.msgpack.decode(received(self._line), type=PartsAnswer)
            if answer.trouble:
                raise StoreError(answer.trouble)
            return msgspec.msgpack.decode(answer.data, type=kind)

    def close(self) -> None:
        """Close the connection."""
        self._line.close()

    @contextlib.contextmanager
    def _plain(self) -> Generator[None]:
        """Raise errors of the connection as what they mean."""
        try:
            yield
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise StoppedError from error
        except (TimeoutError, BlockingIOError) as error:  # the latter if many clients wait already
            raise StoreError(_silent(self._directory, self._waits_s)) from error
        except (OSError, EOFError, msgspec.MsgspecError) as error:
            raise StoreError(
                f"the process that runs the crawl does not answer ({str(error) or type(error).__name__}); ask again"
            ) from error


def _asked(directory: Path, asked: PartsAsked, kind: type[T]) -> T:
    with contextlib.closing(PartsDialogue(directory, asked.patience_s)) as line:
        return line.ask(asked, kind)


def _silent(directory: Path, waited_s: float) -> str:
    """Return a sentence that says that the coordinator hangs, and what to do."""
    pid = (holder(directory) or {}).get("pid")
    named = f" ({pid})" if pid else ""
    then = f"; kill -CONT {pid} continues a stopped one, and kill -9 {pid} loses nothing" if pid else ""
    return (
        f"the process that runs the crawl{named} has not answered for {waited_s:.0f} s: it is stopped, blocked or gets "
        f"no processor time, or its machine does{then}: then start the crawl again"
    )
