"""What is known of a page when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.crawl.reading import Before
from evercrawl.store.events import Visit
from evercrawl.store.records import FINDABLE, MEMBER, VALIDATED
from evercrawl.store.table import NO_RECORD, ROOT

if TYPE_CHECKING:
    from evercrawl.store.partition import Partition


def recall(partition: Partition, slot: int) -> Before:
    """Return what the record of a page and its last event with links say; for a new page, how it was found."""
    state = partition.state
    cell = state.table.record.item(slot)
    index = cell if not cell & NO_RECORD else state.lost.get(slot)
    if index is None:
        return Before(depth=cell & 0xFF, hops=cell >> 8 & 0xFF, member=bool(cell & ROOT))
    record = state.records.read(index)
    _, _, ticks, size, digest, simhash, event, history, mark, shape, scale_s, _, changed, _, seen, words, visits = (
        record[:17]
    )
    changes, _, outcome, depth, misses, flags = record[17:23]
    read_back = partition.journal.read(event) if event else None
    held = read_back if isinstance(read_back, Visit) else None
    member = flags & MEMBER != 0
    if cell & NO_RECORD:  # its content was lost with a damaged disk
        return Before(
            depth=cell & 0xFF, hops=cell >> 8 & 0xFF, history=history, mark=mark, member=member, event=event, held=held
        )
    return Before(
        visits, changes, state.instant(ticks), digest, outcome, depth, 0, held if digest else None,
        event=event, held=held, history=history, mark=mark, member=member,
        shape=shape, scale_s=scale_s, changed_at=state.instant(changed), seen_at=state.instant(seen),
        simhash=simhash, words=words, misses=misses, validated=flags & VALIDATED != 0, size_bytes=size,
        findable=flags & FINDABLE != 0,
    )  # fmt: skip
