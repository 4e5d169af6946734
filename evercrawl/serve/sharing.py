"""A readers-writer lock."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

YIELDS_S: Final = 0.1
"""For so long a writer lets readers go before it who come after it; then they wait for it."""


class SharedLock:
    """Readers do not wait for each other; a writer waits for all readers.

    Reading is reentrant; a writing thread may neither read nor write again.

    Examples
    --------
    >>> lock = SharedLock()
    >>> with lock.reading(), lock.reading():
    ...     lock.readers
    1
    >>> with lock.writing():
    ...     lock.readers
    0
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._mine = threading.local()
        self._urgent = self._writing = False
        self.readers = 0

    @contextmanager
    def reading(self) -> Generator[None]:
        """Keep writers out while the context lasts."""
        depth: int = getattr(self._mine, "depth", 0)
        if not depth:
            with self._changed:
                self._changed.wait_for(lambda: not self._writing and not self._urgent)
                self.readers += 1
        self._mine.depth = depth + 1
        try:
            yield
        finally:
            self._mine.depth = depth
            if not depth:
                with self._changed:
                    self.readers -= 1
                    self._changed.notify_all()

    @contextmanager
    def writing(self) -> Generator[None]:
        """Keep everyone else out while the context lasts; only one thread at a time may call this."""
        with self._changed:
            if not self._changed.wait_for(self._idle, YIELDS_S):
                self._urgent = True
                self._changed.wait_for(self._idle)
            self._urgent, self._writing = False, True
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def _idle(self) -> bool:
        return not self.readers and not self._writing
