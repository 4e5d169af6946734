"""Journals that tests write and read back: events of three kinds, each different from all others."""

import functools
import random
from collections.abc import Iterable
from typing import Any

from evercrawl.store.journal.events import HAS_LINKS, Discovery, Event, Found, Lost, Visit
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.segment import segment_name
from evercrawl.types import NO_SLOT, Outcome

FIRST = segment_name(0)


@functools.cache
def event(number: int) -> Event:
    """Return one of three kinds of event, each different from all others."""
    chance = random.Random(number)
    urls = [f"http://site{number % 7}.example/page/{number}/{i}" for i in range(number % 4)]
    found = Discovery(3 * number, urls, [number % 7] * len(urls), 9, [], source=number, depth=2)
    if number % 10 == 3:
        return Found(1.7e9 + number, found)
    if number % 10 == 7:
        return Lost(number, 1, 1.7e9 + number, (0, 77 * number, 1000), "the segment ends before it")
    return Visit(
        number, number % 7, 1.7e9 + number / 8, Outcome.OK, 200, flags=HAS_LINKS, visits=1, size_bytes=number * 100,
        digest=chance.getrandbits(64), simhash=chance.getrandbits(64), alias=NO_SLOT, archive=(0, number * 1000, 999),
        changed_at=chance.random(), targets=chance.randbytes(chance.randrange(60)), title=f"Page {number}",
        found=found if urls else None,
    )  # fmt: skip


def events(count: int, first: int = 0) -> list[Event]:
    """Return so many events, from this one on."""
    return [event(number) for number in range(first, first + count)]


def append(journal: Journal, new: Iterable[Event], batch: int | None = None) -> list[int]:
    """Append events and write them, `batch` at a time (all at once without it); return the pointers."""
    pointers = []
    for number, one in enumerate(new, 1):
        pointers.append(journal.append(one))
        if batch and number % batch == 0:
            journal.write(journal.seal())
    journal.write(journal.seal())
    return pointers


def replayed(journal: Journal, start: int = 0) -> list[Any]:
    """Return the events from a position on."""
    return [one for _, _, one in journal.replay(start)]
