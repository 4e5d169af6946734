"""Archiving of answers: each as a whole record, or as a revisit record if its content equals an earlier one."""

from collections.abc import Sequence

from evercrawl.model.stored.reading import Reading
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import ArchiveEntry, EntryKind, Original, payload_digest
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition


def archive(partition: Partition, readings: Sequence[Reading]) -> list[Pointer | None]:
    """Archive the answers of a batch, and return their positions; None for a visit without an answer.

    Raises
    ------
    NoRoomError
        The archive has no room; nothing of the batch was archived.
    """
    groups = [_group(partition, reading) if reading.exchange.status else [] for reading in readings]
    pointers = iter(partition.archive.append([entry for group in groups for entry in group]))
    places = [[next(pointers) for _ in group] for group in groups]
    for reading, found in zip(readings, places, strict=True):
        if (rendered := reading.exchange.rendered) is not None:
            rendered.places = tuple(found[:-1])
    return [found[-1] if found else None for found in places]


def _group(partition: Partition, reading: Reading) -> list[ArchiveEntry]:
    """Return the entries to archive for an answer; the visit names the last of them."""
    exchange, rendered = reading.exchange, reading.exchange.rendered
    if rendered is None:
        return [_entry(partition, reading)]
    url = exchange.request.url
    parts = [ArchiveEntry(each, rendered_for=url) for each in (exchange, *rendered.requisites) if each.head]
    return [*parts, ArchiveEntry(exchange, EntryKind.DOM)]


def _entry(partition: Partition, reading: Reading) -> ArchiveEntry:
    exchange, last = reading.exchange, reading.before.last
    payload = reading.content.payload if reading.content is not None else ""  # "" if not computed yet
    new = ArchiveEntry(exchange, digest=payload)
    if last is None or not reading.unchanged:
        return new
    event = partition.journal.read(last.content) if last.content else last
    if not isinstance(event, Visit) or event.archive is None:
        return new
    url = exchange.request.url
    if exchange.status == 304:
        return ArchiveEntry(exchange, EntryKind.NOT_MODIFIED, Original(url, event.at))
    original = partition.archive.read(event.archive)
    payload = payload or payload_digest(exchange.wire)
    if original.digest == payload and _coding(original.headers) == _coding(exchange.headers):
        return ArchiveEntry(exchange, EntryKind.SAME_CONTENT, Original(url, event.at, original.digest))
    return new


def _coding(headers: dict[str, str]) -> str:
    return headers.get("content-encoding", "")
