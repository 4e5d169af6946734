"""A process that answers questions about a running crawl. A question starts it; without questions it ends.

The process follows the journal as a server does (`evercrawl.serve.answering`), so the loop of the crawl never waits
for a question. A small crawl gets no such process: the verb that asks opens the directory itself, which takes no
longer than asking.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

LEAST_KNOWN: Final = 50_000
"""The number of known URLs from which opening a crawl takes a noticeable time."""
_AGAIN_S: Final = 60.0  # the wait before a process that ended is started again
_END_S: Final = 3.0


class AnsweringProcess:
    """Starts the process that answers questions, and ends it with the crawl.

    Parameters
    ----------
    directory
        The crawl directory.
    known
        Returns how many URLs the crawl knows.
    limit_bytes, used
        The memory limit of this process (0: none), and a function that returns its present use. The other process
        needs about as much.
    """

    def __init__(self, directory: Path, known: Callable[[], int], limit_bytes: int, used: Callable[[], int]) -> None:
        self._directory, self._known = directory, known
        self._limit_bytes, self._used = limit_bytes, used
        self._child: subprocess.Popen[bytes] | None = None
        self._next_at = 0.0

    def begin(self) -> bool:
        """Start the process if the crawl is large and memory suffices; return whether it runs."""
        if self._child is not None and self._child.poll() is None:
            return True
        self.close()
        fits = not self._limit_bytes or 2 * self._used() < self._limit_bytes
        if self._known() < LEAST_KNOWN or not fits or time.monotonic() < self._next_at:
            return False
        self._next_at = time.monotonic() + _AGAIN_S
        self._child = subprocess.Popen(
            [sys.executable, "-m", "evercrawl.serve.answering", str(self._directory)], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        return True

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is None:
            return
        assert child.stdin is not None
        with contextlib.suppress(OSError):
            child.stdin.close()
        try:
            child.wait(_END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
