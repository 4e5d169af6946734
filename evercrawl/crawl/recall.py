"""What is known of a page when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.crawl.reading import Before
from evercrawl.store.events import Visit

if TYPE_CHECKING:
    from evercrawl.store.partition import Partition


def recall(partition: Partition, slot: int) -> Before:
    """Return what the record of a page and its last event with content say; for a new page, how it was found."""
    state = partition.state
    index = state.record_of(slot)
    if index is None:
        cell = int(state.table.record[slot])
        return Before(depth=cell & 0xFF, hops=cell >> 8 & 0xFF)
    record = state.records.rows[index].item()
    _, _, ticks, _, digest, _, event, _, _, _, visits, changes, _, outcome, depth = record
    read_back = partition.journal.read(event) if event else None
    last = read_back if isinstance(read_back, Visit) else None
    return Before(visits, changes, state.instant(ticks), digest, outcome, event, depth, 0, last)
