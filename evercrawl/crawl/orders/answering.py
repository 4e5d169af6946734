"""A process beside a crawl that answers questions about it: a question begins it, and it ends when none comes.

It follows the journal as a server does (`evercrawl.serve.answering`), so that the loop of the crawl never waits for a
question. What is small is opened by the questions themselves, as that takes no longer than to ask.
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
"""URLs from which on opening a crawl takes a noticeable time."""
_AGAIN_S: Final = 60.0  # until a process that ended is begun once more
_END_S: Final = 3.0


class AnsweringProcess:
    """Begins the process that answers, and ends it with the crawl.

    Parameters
    ----------
    directory
        Of the crawl.
    known
        Returns how many URLs the crawl knows.
    limit_bytes, used
        What this process may take of memory, 0 for no bound, and what it takes: the other needs about as much.
    """

    def __init__(self, directory: Path, known: Callable[[], int], limit_bytes: int, used: Callable[[], int]) -> None:
        self._directory, self._known = directory, known
        self._limit_bytes, self._used = limit_bytes, used
        self._child: subprocess.Popen[bytes] | None = None
        self._next_at = 0.0

    def begin(self) -> bool:
        """See to it that the process runs, where that is of use and there is memory for it; return whether it does."""
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
