"""Copies of the archive that are kept in object storage while a crawl runs."""

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
"""Between two looks for archive files that were closed."""
LOOK_S: Final = 1.0
END_S: Final = 8.0


class ArchiveCopies:
    """Copies the files of the archive that will not grow any more, and all of them once the crawl has ended.

    Parameters
    ----------
    directory, url
        Of the crawl, and where copies go.
    tell
        Told in a sentence when the storage refuses, and when it takes files again.
    now
        The time in seconds, from any beginning.

    Raises
    ------
    ConfigError
        The URL names no object storage, or the package for it is missing.
    """

    def __init__(
        self, directory: Path, url: str, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._directory, self._target, self._tell, self._now = directory, ObjectTarget(url), tell, now
        self._next_at, self._trouble = now(), ""

    def turn(self, *, over: bool = False) -> None:
        """Copy what is due; `over` once the crawl has ended."""
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
    """Copy the archive from a thread meanwhile, and the rest of it at the end; nowhere if the URL is "".

    The last copy may take `END_S`; what is left then is copied by the next run.
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
