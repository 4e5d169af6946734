"""Refreshing of a page before it is shown, by the crawl's own loop and under its politeness rules."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.cli import running, warm
from evercrawl.cli.show.plain import fit
from evercrawl.config import FILE_NAME, load
from evercrawl.errors import ConfigError, EvercrawlError, StoreError

if TYPE_CHECKING:
    from evercrawl.ask.content import StoredPage
    from evercrawl.errors import NotHeldError

STALE: Final = 5
"""Exit code if a fresher copy was requested but could not be fetched; the stored one is printed."""
WAIT_S: Final = 60.0
"""Maximum wait for a page that is fetched again, including its host's delay and robots.txt."""
_TICK_S: Final = 0.1  # times of visits are stored in sixteenths of a second


def probability(text: str) -> float:
    """Return the value of --fresh.

    Raises
    ------
    ConfigError
        It is not a probability.

    Examples
    --------
    >>> probability("0.9"), probability("95%"), probability("1")
    (0.9, 0.95, 1.0)
    """
    number = text.strip().removesuffix("%")
    try:
        value = float(number) / (100.0 if "%" in text else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ConfigError(f"--fresh must be a probability from 0 to 1, such as 0.9, or 90%, not {text!r}")
    return value


def renewed(
    directory: Path, look: Callable[[], StoredPage | NotHeldError], least: float
) -> tuple[StoredPage | NotHeldError, bool]:
    """Fetch a page again, and the target of its redirect, until the copy is fresh enough.

    Parameters
    ----------
    directory
        The crawl directory.
    look
        Returns the stored content of the page, or the reason why there is none.
    least
        Sufficient probability of being fresh.

    Returns
    -------
    tuple
        The stored content, and whether it is older than requested, which is reported on standard error.

    Raises
    ------
    StoreError
        A visit is needed, but another process uses the crawl.
    """
    found, began_at, tried = look(), time.time(), set[str]()
    while _is_stale(found, least) and found.page and found.page not in tried:
        tried.add(found.page)
        _refetch(directory, found.page)
        found = look()
    if not tried or isinstance(found, EvercrawlError):
        return found, False
    renewed = found.outcome.label in ("ok", "duplicate", "truncated") and found.visited_at >= began_at - _TICK_S
    if not renewed:
        note = f"evercrawl: {found.page} could not be fetched again; this is the stored copy"
        print(fit(note, sys.stderr), file=sys.stderr)
    return found, not renewed


def _is_stale(found: StoredPage | NotHeldError, least: float) -> bool:
    """Return whether the page must be requested; certainty (1) requires a response, however new the copy is."""
    return isinstance(found, EvercrawlError) or least >= 1.0 or (found.fresh or 0.0) < least


def _refetch(directory: Path, page: str) -> None:
    """Let the running crawl visit one page under its politeness rules, or start a crawl for this page.

    Raises
    ------
    StoreError
        Another process uses the crawl, but does not crawl.
    """
    from evercrawl.ask.orders.give import awaited, give, listens
    from evercrawl.cli.show.lines import Lines
    from evercrawl.progress import Limits
    from evercrawl.store.disk.lock import holder, lock_for_crawl
    from evercrawl.store.orders import CrawlOrder

    if listens(directory):
        given = give(directory, CrawlOrder("check", urls=(page,)))
        answer = awaited(directory, given, WAIT_S, _note)
        if answer.state != "done":
            _note(answer.result or f"{page} was not requested within {WAIT_S:.0f} s")
        return
    who = holder(directory)
    if who is not None:
        process = f"process {who['pid']} on {who['host']}" if who else "another process"
        raise StoreError(
            f"{page} cannot be fetched again while {process} crawls in {directory}: stop that crawl, or leave out "
            "--fresh to read the stored copy"
        )
    file = directory / FILE_NAME
    config = load(*([file] if file.is_file() else []), environ=os.environ)
    with lock_for_crawl(directory) as lock:
        from evercrawl.crawl import session as engine

        warm.up(Lines(sys.stderr))
        limits = Limits(pages=1, seconds=WAIT_S, until_idle=True)
        running.until_stopped(
            lambda stop: engine.crawl(directory, config, [], limits, stop=stop, lock=lock, only=[page])
        )


def _note(sentence: str) -> None:
    print(fit(f"evercrawl: {sentence}", sys.stderr), file=sys.stderr)
