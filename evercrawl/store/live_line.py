"""The connection to a running crawl: a Unix socket in its directory for lines of JSON."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import Any, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.store.disk.listening import reachable
from evercrawl.store.disk.lock import holder
from evercrawl.store.disk.owner import ROOT, trusted

NAME: Final = "live.sock"
LINE_BYTES: Final = 1 << 16
_CREDENTIALS: Final = struct.Struct("3i")


def peer_uid(connected: socket.socket) -> int:
    """Return the user id of the other end."""
    data = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(data)[1])


def welcome(uid: int) -> bool:
    """Return whether a user may ask: the owner of the crawl, and root."""
    return uid in (os.geteuid(), ROOT)


def ask(directory: Path, question: dict[str, Any], timeout_s: float) -> dict[str, Any] | None:
    """Ask the crawl that runs in a directory; return its answer, None if none arrives in time.

    Parameters
    ----------
    question
        {"ask": "ping"} makes it read orders now; {"ask": "order", "id": ID, "wait_s": S} waits for the result of one;
        {"ask": "progress"} returns its state; {"ask": "questions"} starts a process that answers questions about it.
    """
    found = holder(directory)
    if not (found and found.get("socket")):
        return None
    try:
        with reachable(directory, NAME) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(timeout_s)
            line.connect(path)
            if not trusted(peer_uid(line), directory):
                return None
            line.sendall(msgspec.json.encode(question) + b"\n")
            data = b""
            while not data.endswith(b"\n") and len(data) < LINE_BYTES:
                part = line.recv(LINE_BYTES)
                if not part:
                    break
                data += part
        return json_of(data, dict[str, Any])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
