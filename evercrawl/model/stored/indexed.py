"""The expected contents of the search index, from the records: its pages, and their archived content."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.stored.answers import answer_of, exchange_of
from evercrawl.model.stored.contents import Body, Content, contents, spans
from evercrawl.search.anchors import Anchors
from evercrawl.search.index import Index, IndexedPage
from evercrawl.store.journal.events import NOINDEX, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import FINDABLE
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Slots

_AGENT: Final = "evercrawl"  # robots directives are already in the event's flags


class IndexEntry(NamedTuple):
    """A page in indexable form, and the words of its links: slot of the target, words."""

    page: IndexedPage
    anchors: list[tuple[int, str]]


class Difference(NamedTuple):
    """Slots missing or outdated in the index; and slots that should not be in it."""

    missing: Slots
    extra: Slots


def expected(state: State) -> tuple[Slots, NDArray[np.uint64]]:
    """Return the slots of the pages that belong in the index, ascending, and the digests of their content."""
    rows: Any = state.records.rows[: state.records.count]
    found = np.flatnonzero(rows["flags"] & FINDABLE)
    slots = rows["slot"][found]
    order = np.argsort(slots, kind="stable")
    return slots[order], rows["digest"][found[order]]


def difference(state: State, index: Index) -> Difference:
    """Compare the index with the records."""
    slots, digests = expected(state)
    pages, contents = index.held()
    order = np.argsort(pages, kind="stable")
    pages, contents = pages[order], contents[order]
    if not len(pages):
        return Difference(slots, pages)
    at = np.minimum(np.searchsorted(pages, slots), len(pages) - 1)
    same = (pages[at] == slots) & (contents[at] == digests)
    missing, twice = slots[~same], pages[1:][pages[1:] == pages[:-1]]
    if len(twice):
        missing = np.union1d(missing, twice[np.isin(twice, slots)])
    return Difference(missing, pages[~np.isin(pages, slots)])


def entry_of(partition: Partition, slot: int, anchors: Anchors) -> IndexEntry | None:
    """Return a page's index entry from the archive; None if it has no searchable content.

    Raises
    ------
    StoreError
        The archive or the journal is damaged.
    """
    state = partition.state
    number = state.record_of(slot)
    row = state.records.rows[number] if number is not None else None
    if row is None or not row["flags"] & FINDABLE:
        return None
    event = partition.journal.read(int(row["event"])) if row["event"] else None
    if not isinstance(event, Visit) or event.archive is None:
        return unread(state, slot)
    url = state.urls.get(slot)
    content = content_of(partition, event, url)
    page = page_of(state, slot, url, int(row["digest"]), content, hidden=bool(event.flags & NOINDEX))
    slots = state.table.find(state.hasher.keys(content.targets)) if content.targets else np.zeros(0, np.uint32)
    slots[state.forgotten.mask(slots)] = NO_SLOT
    return IndexEntry(page, anchors.new(spans(content), slots, content.text))


def unread(state: State, slot: int) -> IndexEntry:
    """Return a placeholder for a page whose content is not available: indexed, but never found."""
    number = state.record_of(slot)
    digest = int(state.records.rows["digest"][number]) if number is not None else 0
    return IndexEntry(page_of(state, slot, "", digest, Content(), hidden=True), [])


def page_of(state: State, slot: int, url: str, digest: int, content: Content, *, hidden: bool) -> IndexedPage:
    """Return a page in indexable form; a `hidden` one has no words, and is never found."""
    record = state.record_of(slot)
    host = int(state.records.rows["host"][record]) if record is not None else int(state.known.row(slot)["host"])
    site, name = state.sites[int(state.site_of[host])], state.hosts[host]
    if hidden or not (content.text or content.title):
        return IndexedPage(slot, digest, "", site, name, "", "", "")
    return IndexedPage(slot, digest, url, site, name, content.title, content.indexed or content.text, content.language)


def content_of(partition: Partition, event: Visit, url: str) -> Content:
    """Return a page's content, parsed again from the archive, with its text.

    Raises
    ------
    StoreError
        The archive is damaged.
    """
    held = exchange_of(event, answer_of(partition, event))
    body = Body(
        url, held.headers, held.http_version, held.body, False, len(held.body), len(held.body), False, 0, 0, _AGENT,
        True, partition.hasher.secret,
    )  # fmt: skip
    return contents(body)


def slots_of_targets(content: Content, slots: Slots) -> Slots:
    """Return the slots of `content.targets` alone; a visit's may end with that of a canonical URL."""
    assert len(slots) >= len(content.targets), "each target has a slot"
    return slots[: len(content.targets)] if content.targets else _NONE


_NONE: Final = np.full(0, NO_SLOT, np.uint32)
