"""Building of runs from the journal's events, some hundred thousand visits at a time."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl.model.stored.derived.kinds import NONE, ChangeKind, PageStates, brings_version, carried, judged
from evercrawl.model.stored.derived.run import VERSION, MemoryRun, RunHeader
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.model.stored.derived.visit_columns import VisitColumns, minutes
from evercrawl.store.disk.disk import Disk
from evercrawl.store.journal.events import Event
from evercrawl.store.journal.segment import segment_name, segments
from evercrawl.store.state import HELD
from evercrawl.types import NO_SLOT, Flags, Outcome

RUN_VISITS: Final = 1 << 18
RUN_LINKS: Final = 1 << 22
"""A run that has so many visits or links is closed: it takes some 150 MB while it is made."""
CHECK_BYTES: Final = 32


def built(
    events: Iterable[tuple[int, int, Event]], before: Runs, crawl: str, start: tuple[int, int], end: int, disk: Disk
) -> Iterator[MemoryRun]:
    """Yield runs of events, each to be added to `before` by the caller before it asks for the next.

    Parameters
    ----------
    events
        Pointer, number and event, from `start` on.
    start
        Offset in the journal, and number of the first event.
    end
        Offset of the journal after the last event.
    """
    gathered, (position, first), frame, number = VisitColumns(), start, 0, start[1] - 1
    for pointer, number, event in events:
        if pointer >> 8 != frame and (gathered.visits >= RUN_VISITS or gathered.links >= RUN_LINKS):
            header = _header(disk, crawl, (first, number), (position, pointer >> 8), frame, before.visits)
            yield _run(gathered, header, before)
            gathered, position, first = VisitColumns(), pointer >> 8, number
        frame = pointer >> 8
        gathered.add(pointer, number, event)
    if number >= first:
        yield _run(gathered, _header(disk, crawl, (first, number + 1), (position, end), frame, before.visits), before)


def frame_check(disk: Disk, offset: int) -> bytes:
    """Return the first bytes of the frame at an offset of the journal, including its checksum."""
    start = max((part.start for part in segments(disk) if part.start <= offset), default=0)
    return disk.read(segment_name(start), offset - start, CHECK_BYTES)


def _header(
    disk: Disk, crawl: str, events: tuple[int, int], span: tuple[int, int], frame: int, first_visit: int
) -> RunHeader:
    return RunHeader(VERSION, crawl, *events, *span, frame, frame_check(disk, frame), first_visit, 0)


def _run(gathered: VisitColumns, header: RunHeader, before: Runs) -> MemoryRun:
    columns, links = gathered.columns(), gathered.link_columns()
    again = columns.pop("again") != 0
    slots, outcome, flags = columns["slot"], columns["outcome"], columns["flags"]
    order = np.argsort(slots, kind="stable")
    by_page = slots[order]
    starts = np.flatnonzero(np.diff(by_page, prepend=NO_SLOT)) if len(slots) else np.zeros(0, np.int64)
    known = carried(
        order, starts, outcome, flags, header.first_visit, _earlier(before, by_page[starts], again[order[starts]])
    )
    other = _other(columns, known.version, header.first_visit, before)
    found = judged(outcome, flags, known, other)
    failed = (outcome == Outcome.ERROR) | (outcome == Outcome.REFUSED)
    columns |= {"state": found.state, "before": found.before, "kind": found.kind}
    columns |= {"page_slot": by_page, "page_row": order.astype(np.uint32)}
    columns |= {"link_target": links.target, "link_row": links.row}
    columns |= _news(columns, known)
    columns |= minutes(columns["at"], found.kind == ChangeKind.CHANGED, failed, columns["wire"])
    return MemoryRun(msgspec.structs.replace(header, visits=len(slots)), columns)


def _earlier(before: Runs, slots: NDArray[np.uint32], again: Flags) -> PageStates:
    """Return the former state of pages; pages without a visit are not looked up."""
    found = PageStates(np.zeros(len(slots), np.uint8), np.full(len(slots), NONE, np.uint32))
    looked_up = before.states(slots[again])
    found.outcome[again], found.version[again] = looked_up
    return found


def _other(columns: dict[str, NDArray[Any]], version: NDArray[np.uint32], first: int, before: Runs) -> Flags:
    """Return which visits brought other words or another title than the version before; other bytes if wordless."""
    other = np.zeros(len(version), np.bool_)
    wanted = np.flatnonzero((version != NONE) & brings_version(columns["outcome"], columns["flags"]))
    here = version[wanted] >= first
    old = dict[str, NDArray[Any]]()
    for name in ("digest", "words", "title"):
        old[name] = np.empty(len(wanted), columns[name].dtype)
        old[name][here] = columns[name][version[wanted[here]] - np.uint32(first)]
        old[name][~here] = before.take(name, version[wanted[~here]].astype(np.int64))
    words = columns["words"][wanted]
    said = (words != old["words"]) | (words == 0) | (columns["title"][wanted] != old["title"])
    other[wanted] = (columns["digest"][wanted] != old["digest"]) & said
    return other


def _news(columns: dict[str, NDArray[Any]], known: PageStates) -> dict[str, NDArray[Any]]:
    """Return the URLs found by a page that had been read before, or by a list."""
    rows = columns["news_row"]
    listed = columns["news_source"] == NO_SLOT
    read = np.zeros(len(rows), np.bool_)
    read[~listed] = np.isin(known.outcome[rows[~listed]], np.array(HELD, np.uint8))
    return {name: columns[name][listed | read] for name in columns if name.startswith("news_")}
