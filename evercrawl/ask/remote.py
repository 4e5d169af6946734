"""Questions to a process that has the crawl open already, over a Unix socket in its directory."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from evercrawl import __version__
from evercrawl.store import live_line
from evercrawl.store.disk.listening import reachable
from evercrawl.store.live_line import peer_uid, welcome

T = TypeVar("T")

NAME: Final = "questions.sock"
LENGTH: Final = struct.Struct("<I")
"""Comes before each message, which is MessagePack."""
QUESTION_BYTES: Final = 1 << 16
PATIENCE_S: Final = 30.0
_BEGINS_S: Final = 0.5  # that the crawl may take to say that it has begun a process


class RemoteQuestion(msgspec.Struct):
    """What is asked.

    Attributes
    ----------
    version
        Of evercrawl; another one answers nothing.
    name, parameters
        Which question.
    """

    version: str
    name: str
    parameters: dict[str, Any]


def remote(directory: Path, kind: type[T], name: str, **parameters: Any) -> T | None:
    """Return the answer of the server that runs in a directory, or of the process beside a large crawl, as a `kind`.

    None where none runs, or it does not answer: then the directory is to be opened, which tells what is wrong. A crawl
    that runs there is asked to begin one, for the questions to come.

    Parameters
    ----------
    directory
        Of the crawl.
    kind
        Of the answer.
    name, parameters
        As of `evercrawl.serve.questions`.
    """
    asked = RemoteQuestion(__version__, name, parameters)
    try:
        with reachable(directory, NAME) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(PATIENCE_S)
            try:
                line.connect(path)
            except OSError:
                live_line.ask(directory, {"ask": "questions"}, _BEGINS_S)  # so that those to come are answered
                return None
            if not welcome(peer_uid(line)):
                return None
            line.sendall(message(asked))
            data = received(line)
        return msgspec.msgpack.decode(data, type=kind)
    except (OSError, EOFError, msgspec.MsgspecError):
        return None


def message(of: object) -> bytes:
    """Return a message as it is sent."""
    data = msgspec.msgpack.encode(of, enc_hook=plainly)
    return LENGTH.pack(len(data)) + data


def received(line: socket.socket) -> bytes:
    """Return the next message that comes over a line.

    Raises
    ------
    EOFError, OSError
        None comes.
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
    """Return what numpy made as Python's own."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"no message of {type(value)}")
