"""A Unix socket in a crawl directory, whose path may be longer than a socket's name."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from evercrawl.ask.remote import NAME, reachable


def removed(directory: Path, name: str = NAME) -> None:
    """Remove the socket that a process had in a directory."""
    with contextlib.suppress(OSError), reachable(directory, name) as path:
        Path(path).unlink()


def bound(directory: Path, name: str = NAME) -> socket.socket | None:
    """Return a socket in a directory that its owner alone may use; None where another process listens there already.

    Raises
    ------
    OSError
        There can be none.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        with reachable(directory, name) as path:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
                other.connect(path)
                listening.close()
                return None
            Path(path).unlink(missing_ok=True)  # of a process that was killed
            before = os.umask(0o177)
            try:
                listening.bind(path)
            finally:
                os.umask(before)
    except OSError:
        listening.close()
        raise
    return listening
