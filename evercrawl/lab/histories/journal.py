"""The history of a crawl's pages, from its journal.

Also the births and deaths of links as observed by a crawl.
"""

from array import array
from pathlib import Path
from typing import Any, Final

import numpy as np

from evercrawl.change.extent import changed
from evercrawl.lab.histories.history import APPEARED, CHANGED, REMOVED, TECHNICAL, CrawlSeen, History, LinkLog
from evercrawl.model.stored.reader import Tell, events, opened
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, PARTIAL, UNCHANGED, Lost, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT, Ints, Outcome, Slots


class JournalLinks:
    """Compares the links in each visit with the page's former links."""

    def __init__(self) -> None:
        self._held: dict[int, bytes] = {}
        self._at, self._source, self._target, self._present = array("q"), array("q"), array("q"), array("b")

    def read(self, event: Visit) -> bool:
        """Record the links of a page; return whether they differ from those of its last read.

        Pages that were read in part, and aliases, are ignored.
        """
        if event.flags & PARTIAL or event.outcome == Outcome.TRUNCATED or event.alias != NO_SLOT:
            return False
        before = self._held.get(event.slot)
        self._held[event.slot] = event.targets
        if before == event.targets:
            return False
        had, has = decode_slots(before or b""), decode_slots(event.targets)
        self._take_down(event.slot, event.at, np.setdiff1d(had, has, assume_unique=True), present=False)
        self._take_down(event.slot, event.at, np.setdiff1d(has, had, assume_unique=True), present=True)
        return before is not None

    def end(self, slot: int, at: float) -> None:
        """Record the end of all links of a page that is gone."""
        self._take_down(slot, at, decode_slots(self._held.pop(slot, b"")), present=False)

    def _take_down(self, slot: int, at: float, targets: Slots, *, present: bool) -> None:
        self._target.extend(targets.tolist())
        for column, value in ((self._at, int(at)), (self._source, slot), (self._present, present)):
            column.extend([value] * len(targets))

    def log(self, slots: Ints) -> LinkLog:
        """Return the log of links between the pages in `slots` (ascending), numbered by their position there."""
        columns = (np.array(each, np.int64) for each in (self._at, self._source, self._target, self._present))
        at, source, target, present = columns
        known = np.isin(source, slots) & np.isin(target, slots)
        rows = np.flatnonzero(known)[np.argsort(at[known], kind="stable")]
        begins, ends = (np.searchsorted(slots, each[rows]) for each in (source, target))
        return LinkLog(at[rows], begins, ends, present[rows].astype(np.bool_))


_EVENT: Final = np.dtype(
    [("at", "i8"), ("slot", "i8"), ("op", "i1"), ("size", "i8"), ("simhash", "u8"), ("content", "u8")]
)


class _Page:
    """The last observed state of a page."""

    __slots__ = ("digest", "mime", "seen_at", "simhash", "size", "there", "title", "words")

    def __init__(self) -> None:
        self.there = False
        self.seen_at = 0.0
        self.digest = self.words = self.simhash = self.size = 0
        self.mime = self.title = ""


def history_of_crawl(directory: Path, tell: Tell | None = None) -> History:
    """Return the history of a crawl's pages, as far as observed; read-only, also while the crawl runs.

    A page appears with the first visit that reads it. It changes when a visit finds other words than the visit before:
    at the date that the site gives, if that is trusted and lies between the two visits, otherwise at the visit. It is
    removed when a visit finds it gone. Unread pages are left out. A link exists from the visit that saw it, and only
    between read pages. `tell` is called with the progress through the journal.

    Raises
    ------
    ConfigError
        There is no crawl.
    StoreError
        The crawl is damaged.
    """
    crawl = opened(directory)
    try:
        return _Fold(crawl, tell).history(directory.resolve().name)
    finally:
        crawl.close()


class _Fold:
    """A fold of the journal, visit by visit."""

    def __init__(self, crawl: Partition, tell: Tell | None) -> None:
        self._crawl = crawl
        self._known = crawl.state.known.count
        self._pages: dict[int, _Page] = {}
        self._born: set[int] = set()  # pages that became known by new links
        self._rows: list[tuple[int, int, int, int, int, int]] = []
        self._links = JournalLinks()
        self._look, self._look_at = array("q"), array("q")
        for _, _, event in events(crawl, crawl.journal.sequence, tell=tell):
            if isinstance(event, Visit) and event.slot < self._known:
                self._visit(event)
            elif isinstance(event, Lost) and event.slot in self._pages:
                self._pages[event.slot].digest = 0  # the next visit compares with nothing

    def _visit(self, event: Visit) -> None:
        if event.outcome in (Outcome.OK, Outcome.DUPLICATE) and event.digest:
            self._read(event)
        elif event.outcome == Outcome.GONE and event.slot in self._pages:
            self._gone(event)
        if event.flags & HAS_LINKS and self._links.read(event) and event.found is not None:
            first = event.found.first_slot
            self._born.update(range(first, first + len(event.found.urls)))

    def _read(self, event: Visit) -> None:
        page = self._pages.get(event.slot)
        if page is None:
            page = self._pages[event.slot] = _Page()
        op, at = self._news(page, event)
        page.seen_at = event.at
        page.size, page.mime = event.size_bytes or page.size, event.mime or page.mime
        page.title = event.title or page.title
        if not (page.digest and event.flags & UNCHANGED):
            page.digest, page.words, page.simhash = event.digest, event.words, event.simhash
        self._look.append(event.slot)
        self._look_at.append(int(event.at))
        if op is not None:
            self._take_down(event.slot, page, op, at)

    def _news(self, page: _Page, event: Visit) -> tuple[int | None, float]:
        """Return the event that a visit found, if any, and its time."""
        if not page.there:
            page.there = True
            return APPEARED, event.at
        if not page.digest:
            return TECHNICAL, event.at
        if event.flags & UNCHANGED or not changed(event.digest, event.words, page.digest, page.words):
            return None, event.at
        dated = page.seen_at < event.changed_at < event.at
        return CHANGED, event.changed_at if dated else event.at

    def _gone(self, event: Visit) -> None:
        page = self._pages[event.slot]
        self._look.append(event.slot)
        self._look_at.append(int(event.at))
        if page.there:
            page.there, page.digest, page.simhash, page.size = False, 0, 0, 0
            self._take_down(event.slot, page, REMOVED, event.at)
            self._links.end(event.slot, event.at)

    def _take_down(self, slot: int, page: _Page, op: int, at: float) -> None:
        self._rows.append((int(at), slot, op, page.size, page.simhash, page.digest))

    def history(self, name: str) -> History:
        """Return the history; pages are numbered in the order in which they became known."""
        slots = np.array(sorted(self._pages), np.int64)
        rows = np.array(self._rows, _EVENT)
        rows = rows[np.argsort(rows["at"], kind="stable")]
        state = self._crawl.state
        known: Any = state.known.rows()
        unknown = np.full(len(rows), -1, np.int64)
        return History(
            name, rows["at"].copy(), np.searchsorted(slots, rows["slot"]), rows["op"].copy(), rows["size"].copy(),
            unknown, rows["simhash"].copy(), rows["content"].copy(), tuple(state.urls.get_many(slots.tolist())),
            state.site_of[known["host"][slots]].astype(np.int64), tuple(state.sites), self._links.log(slots),
            self._seen(slots),
        )  # fmt: skip

    def _seen(self, slots: Ints) -> CrawlSeen:
        look, at = np.array(self._look, np.int64), np.array(self._look_at, np.int64)
        order = np.argsort(at, kind="stable")
        look, at = np.searchsorted(slots, look)[order], at[order]
        until = np.zeros(len(slots), np.int64)
        np.maximum.at(until, look, at)
        pages = [self._pages[slot] for slot in slots.tolist()]
        born = np.isin(slots, np.fromiter(self._born, np.int64, len(self._born)))
        return CrawlSeen(until, born, tuple(page.mime for page in pages), tuple(page.title for page in pages), look, at)
