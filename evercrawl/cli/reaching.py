"""The end of a crawl that has never reached a page, with a report of what it tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.cli.show.advice import advice

if TYPE_CHECKING:
    from evercrawl.progress import Progress

_SHOWN: Final = 5
_FAILURES: Final = frozenset({"error", "refused"})
_AGAIN: Final = 3
"""Number of consecutive reports without any page, half a second apart: a response may just be arriving."""


class Reaching:
    """A watch that passes on progress, and ends a crawl without pages once all its URLs have failed.

    A crawl that holds pages waits instead: its network, or the sites, may come back.

    Parameters
    ----------
    tell
        Receives each progress.
    give_up
        Called once to end the run.
    """

    def __init__(self, tell: Callable[[Progress], None], give_up: Callable[[], None]) -> None:
        self._tell, self._give_up = tell, give_up
        self._last: Progress | None = None
        self._in_vain = 0

    def __call__(self, progress: Progress) -> None:
        """Pass it on, and judge."""
        self._tell(progress)
        if progress.message and not progress.elapsed_s:
            return  # a sentence, not a state
        self._last = progress
        tried = progress.visits >= progress.known or not progress.outcomes
        busy = progress.fetched or progress.in_flight or progress.rendering
        in_vain = tried and not busy and bool(advice(progress))
        self._in_vain = self._in_vain + 1 if in_vain else 0
        if self._in_vain == _AGAIN:
            self._give_up()

    @property
    def failed(self) -> bool:
        """Return whether the run made requests, and the crawl never held a page."""
        last = self._last
        if last is None or last.fetched or last.disk_full:
            return False
        return set(last.outcomes) <= _FAILURES and bool(last.errors)


def tried(directory: Path, urls: Sequence[str]) -> list[str]:
    """Return a sentence about the result of each of the first few seeds; none if the crawl cannot be read.

    Raises
    ------
    StoreError
        The crawl is damaged.
    """
    from evercrawl.ask.why.why import why
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings

    crawl = opened(directory)
    try:
        view = View(crawl, settings(directory)[0], time.time())
        found = [why(view, url) for url in urls[:_SHOWN]]
    finally:
        crawl.close()
    lines = [
        f"tried {each.url}: " + ((each.history.error if each.history else "") or "; ".join(each.reasons) or each.state)
        for each in found
    ]
    more = len(urls) - _SHOWN
    return [*lines, f"and {more:,} more"] if more > 0 else lines
