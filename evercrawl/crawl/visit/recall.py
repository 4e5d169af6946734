"""What is known of a page when it is requested."""

from evercrawl.model.stored.reading import Before
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import FINDABLE, MEMBER, VALIDATED, Record
from evercrawl.store.table.table import NO_RECORD, ROOT


def recall(partition: Partition, slot: int) -> Before:
    """Return the data of a page's record and of its last event with links; for a new page, how it was found."""
    state = partition.state
    cell = state.table.record.item(slot)
    index = cell if not cell & NO_RECORD else state.lost.get(slot)
    if index is None:
        return Before(depth=cell & 0xFF, hops=cell >> 8 & 0xFF, member=bool(cell & ROOT))
    record = state.records.read(index)
    read_back = partition.journal.read(record.event) if record.event else None
    held = read_back if isinstance(read_back, Visit) else None
    member = record.flags & MEMBER != 0
    if cell & NO_RECORD:  # its content was lost with a damaged disk
        return Before(
            depth=cell & 0xFF, hops=cell >> 8 & 0xFF, event=record.event, held=held,
            history=record.importance, mark=record.mark, member=member,
        )  # fmt: skip
    return Before(
        visits=record.visits, changes=record.changes, visited_at=state.instant(record.visited),
        digest=record.digest, digest_rest=_rest(record, held), outcome=record.outcome, depth=record.depth,
        last=held if record.digest else None, event=record.event, held=held,
        history=record.importance, mark=record.mark, member=member,
        shape=record.rate_shape, scale_s=record.rate_scale_s, changed_at=state.instant(record.changed),
        seen_at=state.instant(record.seen),
        simhash=record.simhash, words=record.words, size_bytes=record.size_bytes, misses=record.misses,
        validated=record.flags & VALIDATED != 0, findable=record.flags & FINDABLE != 0,
    )  # fmt: skip


def _rest(record: Record, held: Visit | None) -> int:
    """Return the second word of the digest of the stored content, which only the journal has."""
    return held.digest_rest if held is not None and held.digest == record.digest else 0
