"""Read-only access to a crawl directory, which does not disturb a running crawl."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias, cast

import numpy as np

from evercrawl.clock import SystemClock
from evercrawl.errors import ConfigError, StoreError
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.store.birth import is_crawl, see_single
from evercrawl.store.disk.lock import holder
from evercrawl.store.journal.events import Drawn, Event, Visit
from evercrawl.store.journal.segment import segments
from evercrawl.store.journal.tail import find_end
from evercrawl.store.partition import Partition

Tell: TypeAlias = Callable[[str, int, int], None]

"""Called now and then with what is being read, how much was, and of how much."""

_VISIT, _DRAWN = Visit.__struct_config__.tag, Drawn.__struct_config__.tag
EVERY: Final = 4096
"""Events between two words on how far it is."""


def see_crawl(directory: Path) -> None:
    """See that a directory has a crawl, of one partition.

    Raises
    ------
    ConfigError
        There is no crawl, or it has several partitions.
    """
    if not directory.exists():
        raise ConfigError(f"there is no folder {directory}; name the directory of a crawl with --dir")
    see_single(directory)
    if not is_crawl(directory) and next(directory.glob("journal-*"), None) is None:  # whatever else it contains
        where = "this folder, nor in one below it" if directory == Path() else directory
        raise ConfigError(
            f"there is no crawl in {where}; name the directory of a crawl with --dir, or start one: evercrawl crawl URL"
        )


def opened(directory: Path) -> Partition:
    """Return the crawl in `directory` at this instant, read-only.

    The crawl may rotate its snapshots at that moment, so apparent damage is checked a second time.

    Raises
    ------
    ConfigError
        There is no crawl, or it has several partitions.
    StoreError
        It is damaged.
    """
    see_crawl(directory)
    try:
        partition = _opened(directory)
    except StoreError:
        if holder(directory) is None:
            raise
        return _opened(directory)
    if partition.repairs and holder(directory) is not None:
        partition.close()
        return _opened(directory)
    return partition


def events(
    partition: Partition, upto: int, start: int = 0, tell: Tell | None = None
) -> Iterator[tuple[int, int, Event]]:
    """Yield pointer, number and event of the first `upto` events, in order, ignoring those a running crawl adds.

    With `start`, the offset of a frame, begin there. `tell` is called now and then with the number reached.

    Raises
    ------
    StoreError
        The journal is damaged before that.
    """
    reached = 0
    for pointer, number, event in sound(partition, upto, start):
        if tell is not None and number % EVERY == 0:
            tell("events", number, upto)
        yield pointer, number, event
        reached = number + 1
    if reached < upto and not (start and not reached):
        find_end(partition.disk)  # which reports the place of the damage
        raise StoreError(
            f"the journal can be read up to event {reached} of {upto} only; restore it from a copy of the directory"
        )


def sound(partition: Partition, upto: int, start: int = 0) -> Iterator[tuple[int, int, Event]]:
    """Yield the same as `events`, up to where the journal is damaged."""
    for pointer, number, event in partition.journal.replay(start):
        if number >= upto:
            return
        yield pointer, number, partition.skipped.reduced(event, number)


def recent(partition: Partition, size_bytes: int) -> Iterator[Event]:
    """Yield the events of about the last `size_bytes` of the journal, in order; all if it is shorter.

    Frame boundaries are known only from files and from the records' pointers to events, so reading begins at one of
    these.
    """
    for _, _, event in partition.journal.replay(_recently(partition, size_bytes)):
        yield event


def undecided(partition: Partition, size_bytes: int) -> list[int]:
    """Return the slots drawn by events of `recent` and not visited since, in order."""
    drawn = dict[int, None]()
    for glance in partition.journal.glances(_recently(partition, size_bytes)):
        if glance.kind == _VISIT:
            drawn.pop(cast("int", glance.first), None)
        elif glance.kind == _DRAWN:
            drawn[cast("int", glance.first)] = None
    return list(drawn)


def _recently(partition: Partition, size_bytes: int) -> int:
    """Return the offset of a frame about that many bytes before the end of the journal."""
    records, wanted = partition.state.records, max(partition.journal.position - size_bytes, 0)
    offsets = records.rows["event"][: records.count] >> np.uint64(8)
    later = offsets[offsets >= wanted] if wanted else offsets[:0]
    begun = max((part.start for part in segments(partition.disk) if part.start <= wanted), default=0)
    return int(later.min()) if len(later) else begun


def visits(partition: Partition, slot: int) -> Iterator[Visit]:
    """Yield the visits to one page, the newest first.

    The journal is read file by file, the newest first, until the caller stops: records point to the last content, so
    this is for everything else (the target of a redirect, why a page was refused).
    """
    upto = None
    for segment in reversed(segments(partition.disk)):
        mine: list[Visit] = []
        for pointer, _, event in partition.journal.replay(segment.start):
            if upto is not None and pointer >> 8 >= upto:
                break
            if isinstance(event, Visit) and event.slot == slot:
                mine.append(event)
        yield from reversed(mine)
        upto = segment.start


def _opened(directory: Path) -> Partition:
    return Partition(
        directory, os.urandom, now=SystemClock().now(), writable=False, site=found_site,
        site_rules=site_rules(), forgiving=True,
    )  # fmt: skip
