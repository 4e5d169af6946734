"""Unix sockets in a crawl directory, whose path may be longer than a socket's name can be."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def reachable(directory: Path, name: str) -> Generator[str]:
    """Yield a path of a socket that is short enough whatever the directory; valid within the context.

    Raises
    ------
    OSError
        The directory does not exist.
    """
    fd = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{name}"
    finally:
        os.close(fd)


def removed(directory: Path, name: str) -> None:
    """Remove a process's socket from a directory."""
    with contextlib.suppress(OSError), reachable(directory, name) as path:
        Path(path).unlink()


def bound(directory: Path, name: str) -> socket.socket | None:
    """Return a socket in a directory for its owner alone; None if another process already listens there.

    Raises
    ------
    OSError
        The socket cannot be created.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        with reachable(directory, name) as path:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
                other.connect(path)
                listening.close()
                return None
            Path(path).unlink(missing_ok=True)  # left by a killed process
            before = os.umask(0o177)
            try:
                listening.bind(path)
            finally:
                os.umask(before)
    except OSError:
        listening.close()
        raise
    return listening
