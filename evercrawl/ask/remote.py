"""Queries to a process that already has the crawl open, over a Unix socket in its directory."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from evercrawl import __version__
from evercrawl.store import live_line
from evercrawl.store.disk.listening import reachable
from evercrawl.store.disk.owner import trusted
from evercrawl.store.live_line import peer_uid

T = TypeVar("T")

NAME: Final = "questions.sock"
LENGTH: Final = struct.Struct("<I")
"""Length prefix of each message, which is MessagePack."""
QUESTION_BYTES: Final = 1 << 16
PATIENCE_S: Final = 30.0
_BEGINS_S: Final = 0.5  # for the crawl to confirm that it has started a process


class RemoteQuestion(msgspec.Struct):
    """A query to the process.

    Attributes
    ----------
    version
        Version of evercrawl; a process of another version does not answer.
    name, parameters
        Name and parameters of the query.
    """

    version: str
    name: str
    parameters: dict[str, Any]


def remote(directory: Path, kind: type[T], name: str, **parameters: Any) -> T | None:
    """Return the answer of the server that runs in a directory, or of a large crawl's query process, as a `kind`.

    It is None if none runs or none answers: the caller then opens the directory, which reports any error. A crawl that
    runs there is asked to start a query process for later queries.

    Parameters
    ----------
    directory
        The crawl directory.
    kind
        Type of the answer.
    name, parameters
        Name and parameters of the query, as in `evercrawl.serve.questions`.
    """
    asked = RemoteQuestion(__version__, name, parameters)
    try:
        with reachable(directory, NAME) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(PATIENCE_S)
            try:
                line.connect(path)
            except OSError:
                live_line.ask(directory, {"ask": "questions"}, _BEGINS_S)  # for later queries
                return None
            if not trusted(peer_uid(line), directory):
                return None
            line.sendall(message(asked))
            data = received(line)
        return msgspec.msgpack.decode(data, type=kind)
    except (OSError, EOFError, msgspec.MsgspecError):
        return None


def message(of: object) -> bytes:
    """Return an object as a message with its length prefix."""
    data = msgspec.msgpack.encode(of, enc_hook=plainly)
    return LENGTH.pack(len(data)) + data


def received(line: socket.socket) -> bytes:
    """Return the next message from a socket.

    Raises
    ------
    EOFError, OSError
        The connection ended or failed.
    """
    return _exactly(line, LENGTH.unpack(_exactly(line, LENGTH.size))[0])


def _exactly(line: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = line.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def plainly(value: Any) -> Any:
    """Return a numpy value as a plain Python value."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"no message of {type(value)}")
