"""A Unix socket in a crawl directory, whose path may be longer than a socket's name."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def reachable(directory: Path, name: str) -> Generator[str]:
    """Give a path of a socket that is short enough for any directory, for as long as the context lasts.

    Raises
    ------
    OSError
        There is no directory.
    """
    fd = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{name}"
    finally:
        os.close(fd)


def removed(directory: Path, name: str) -> None:
    """Remove the socket that a process had in a directory."""
    with contextlib.suppress(OSError), reachable(directory, name) as path:
        Path(path).unlink()


def bound(directory: Path, name: str) -> socket.socket | None:
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
