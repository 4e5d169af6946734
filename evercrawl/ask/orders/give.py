"""Orders to a crawl, running or not, and their results."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.birth import UNFINISHED, is_crawl, see_finished
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import PURPOSE, holder
from evercrawl.store.journal.events import Obeyed
from evercrawl.store.journal.journal import Journal
from evercrawl.store.live_line import ask
from evercrawl.store.orders import CrawlOrder, append, named
from evercrawl.store.steering import BEGUN

PING_S: Final = 2.0
POLL_S: Final = 0.1
GAP_S: Final = 3.0
"""Maximum time for which a crawl does not answer while it reopens its directory, for instance to forget something."""


@dataclass(frozen=True, slots=True)
class Given:
    """An order on the disk: its id, and the process that executes it (None: the next start executes it).

    `position` is the position in the journal after which its result is found.
    """

    id: str
    pid: int | None
    position: int


@dataclass(frozen=True, slots=True)
class OrderAnswer:
    """The result of an order: "done", "refused" or "waits", and a sentence."""

    id: str
    state: str
    result: str


def give(directory: Path, order: CrawlOrder, *, by: str = "") -> Given:
    """Write an order to the crawl in a directory; a running crawl reads it at once.

    Raises
    ------
    ConfigError
        There is no crawl, or its file of orders cannot be trusted.
    StoreError
        The order cannot be written, or the directory is a backup that was interrupted.
    """
    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; name a crawl's folder with --dir")
    see_finished((directory / UNFINISHED).is_file(), directory)
    one = named(order, time.time(), by or _who())
    who = holder(directory)
    position = _position(directory) if who is None or not who.get("socket") else 0  # else the crawl reports it
    append(directory, [one])
    pid = runs(directory)
    if pid is not None:
        ask(directory, {"ask": "ping"}, PING_S)
    return Given(one.id, pid, position)


def runs(directory: Path) -> int | None:
    """Return the id of the process that crawls in a directory; None if no crawl runs, 0 if the id is unknown."""
    found = holder(directory)
    if found is None or found.get("purpose", PURPOSE) != PURPOSE:
        return None
    return int(found.get("pid", 0))


def listens(directory: Path) -> bool:
    """Return whether a crawl runs that takes orders; one for a single page, or one that is starting, does not."""
    found = holder(directory)
    return bool(found and found.get("socket"))


def awaited(directory: Path, given: Given, wait_s: float, tell: Callable[[str], None] = lambda _: None) -> OrderAnswer:
    """Return the result of an order, waiting up to `wait_s` seconds; `tell` is called with what it waits for."""
    until, position, told = time.monotonic() + wait_s, given.position, ""
    seen_at = time.monotonic()
    while True:
        left = until - time.monotonic()
        answer = ask(directory, {"ask": "order", "id": given.id, "wait_s": min(max(left, 0.0), 1.0)}, PING_S)
        if answer is not None and "state" in answer:
            found = OrderAnswer(given.id, str(answer["state"]), str(answer["result"]))
        else:
            try:
                found, position = _in_journal(directory, given.id, position)
            except StoreError:  # the journal is being rewritten, because something is forgotten
                found = OrderAnswer(given.id, "waits", "")
        if found.state not in ("waits", BEGUN):
            return found
        if found.result and found.result != told:
            told = found.result
            tell(told)
        seen_at = time.monotonic() if holder(directory) is not None else seen_at
        if left <= 0.0 or time.monotonic() - seen_at > GAP_S:
            return OrderAnswer(given.id, "waits", told)
        time.sleep(POLL_S if answer is None else 0.0)


def _in_journal(directory: Path, name: str, position: int) -> tuple[OrderAnswer, int]:
    """Return the result of an order in the journal after a position, and the position of the journal's end."""
    disk, found = RealDisk(directory, read_only=True), OrderAnswer(name, "waits", "")
    try:
        journal = Journal.open(disk, writable=False, good=position)
        for _, _, event in journal.replay(position, follow=True):
            if isinstance(event, Obeyed) and event.id == name:
                found = OrderAnswer(name, event.state, event.result)
        return found, position if found.state == BEGUN else journal.position
    finally:
        disk.close()


def _position(directory: Path) -> int:
    disk = RealDisk(directory, read_only=True)
    try:
        return Journal.open(disk, writable=False).position
    finally:
        disk.close()


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
