"""What the search index should hold, by what is remembered: which pages, and of each what its archived content says."""

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

_AGENT: Final = "evercrawl"  # directives for robots are in the event's flags already


class IndexEntry(NamedTuple):
    """A page as the index takes it in, and the words of its links: slot of the target, words."""

    page: IndexedPage
    anchors: list[tuple[int, str]]


class Difference(NamedTuple):
    """Slots that the index lacks, or has other content of; and those that it has and should not."""

    missing: Slots
    extra: Slots


def expected(state: State) -> tuple[Slots, NDArray[np.uint64]]:
    """Return the slots of the pages that the index should hold, ascending, and the digests of their content."""
    rows: Any = state.records.rows[: state.records.count]
    found = np.flatnonzero(rows["flags"] & FINDABLE)
    slots = rows["slot"][found]
    order = np.argsort(slots, kind="stable")
    return slots[order], rows["digest"][found[order]]


def difference(state: State, index: Index) -> Difference:
    """Compare the index with what is remembered."""
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
    """Return what the archive says of a page; None where it has no content that should be found.

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
    """Return a page whose content is not at hand: it is in the index, and never found."""
    number = state.record_of(slot)
    digest = int(state.records.rows["digest"][number]) if number is not None else 0
    return IndexEntry(page_of(state, slot, "", digest, Content(), hidden=True), [])


def page_of(state: State, slot: int, url: str, digest: int, content: Content, *, hidden: bool) -> IndexedPage:
    """Return a page as the index takes it in; one that is `hidden` is there without a word, and never found."""
    record = state.record_of(slot)
    host = int(state.records.rows["host"][record]) if record is not None else int(state.known.row(slot)["host"])
    site, name = state.sites[int(state.site_of[host])], state.hosts[host]
    if hidden or not (content.text or content.title):
        return IndexedPage(slot, digest, "", site, name, "", "", "")
    return IndexedPage(slot, digest, url, site, name, content.title, content.indexed or content.text, content.language)


def content_of(partition: Partition, event: Visit, url: str) -> Content:
    """Return what a page says, read from the archive once more, with its text.

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
    """Return the slots of `content.targets` alone; of those of a visit, a canonical URL's may come last."""
    assert len(slots) >= len(content.targets), "each target has a slot"
    return slots[: len(content.targets)] if content.targets else _NONE


_NONE: Final = np.full(0, NO_SLOT, np.uint32)
