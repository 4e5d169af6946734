"""Copies of the archive to object storage while a crawl runs."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

from evercrawl.errors import EvercrawlError
from evercrawl.store.objects.pushing import push
from evercrawl.store.objects.target import ObjectTarget

EVERY_S: Final = 5.0
"""Interval between two looks for closed archive files."""
LOOK_S: Final = 1.0
END_S: Final = 8.0


class ArchiveCopies:
    """Copies archive files that no longer grow, and all of them once the crawl has ended.

    Parameters
    ----------
    directory, url
        The crawl's directory, and the URL of the copies.
    tell
        Called with a sentence when the storage refuses, and when it accepts files again.
    now
        Returns the time in seconds, from any origin.

    Raises
    ------
    ConfigError
        The URL is not one of object storage, or the required package is missing.
    """

    def __init__(
        self, directory: Path, url: str, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._directory, self._target, self._tell, self._now = directory, ObjectTarget(url), tell, now
        self._next_at, self._trouble = now(), ""

    def turn(self, *, over: bool = False) -> None:
        """Copy what is due; set `over` once the crawl has ended."""
        if not over and self._now() < self._next_at:
            return
        self._next_at = self._now() + EVERY_S
        try:
            push(self._directory, self._target, closed=not over)
        except EvercrawlError as error:
            if not self._trouble:
                self._tell(f"the archive is not copied for now: {error}")
            self._trouble = str(error)
            return
        if self._trouble:
            self._trouble = ""
            self._tell("the archive is copied again")


@contextlib.contextmanager
def copied_beside(directory: Path, url: str, tell: Callable[[str], None]) -> Generator[None]:
    """Copy the archive in a thread during the context, and the rest at its end; do nothing if the URL is "".

    The last copy may take `END_S`; the next run copies what is left.
    """
    if not url:
        yield
        return
    copies, over = ArchiveCopies(directory, url, tell), threading.Event()

    def work() -> None:
        while not over.wait(LOOK_S):
            copies.turn()
        copies.turn(over=True)

    thread = threading.Thread(target=work, name="archive copies", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(END_S)
