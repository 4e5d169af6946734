"""The content of pages as a table with a row per page or per chunk, produced piece by piece."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.ask.export.tables import Columns
from evercrawl.ask.reading.front_matter import front_matter
from evercrawl.ask.reading.pdf import NOT_INSTALLED, available
from evercrawl.ask.reading.readable import ReadContent, ReadRequest, kind_of
from evercrawl.ask.reading.reader import ContentReader
from evercrawl.ask.reading.selection import Selected, Wanted
from evercrawl.clock import SystemClock
from evercrawl.errors import StoreError
from evercrawl.model.stored.answers import answer_of, exchange_of
from evercrawl.model.view import View, settings
from evercrawl.parse.documents.base import kind_of as document_of
from evercrawl.parse.documents.reader import missing
from evercrawl.parse.reading.chunks import Chunk
from evercrawl.parse.reading.rendering import ContentForm
from evercrawl.parse.visible import visible
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.types import OptOut, Slots

CONTENT: Final = {
    "url": "string", "title": "string", "fetched_at": "instant", "changed_at": "instant", "fresh": "float",
    "language": "string", "optouts": "string", "mime": "string", "removed": "bool", "content": "string",
}  # fmt: skip
"""Columns of the table of pages, with their types."""

CHUNKS: Final = {
    "id": "string", "url": "string", "title": "string", "headings": "string", "fetched_at": "instant",
    "changed_at": "instant", "fresh": "float", "language": "string", "optouts": "string", "removed": "bool",
    "digest": "string", "text": "string",
}  # fmt: skip
"""Columns of the table of chunks, with their types."""

_TOGETHER: Final = 256  # pages whose probability of being fresh is computed at once
_PIECE_CHARS: Final = 8_000_000
_PIECE_ROWS: Final = 2_000
_MOST_EXAMPLES: Final = 5


@dataclass
class ReadTally:
    """Counts of the pages read, by result.

    Attributes
    ----------
    pages, removed
        Pages (or chunks) written, and those written as removed.
    without_text
        Pages of a type without text, such as images.
    whole
        Pages written with navigation and margins, because the main content could not be determined in time.
    failed
        Reason -> number of pages that could not be read.
    examples
        Some of these pages, each with its reason.
    """

    pages: int = 0
    removed: int = 0
    without_text: int = 0
    whole: int = 0
    failed: Counter[str] = field(default_factory=Counter[str])
    examples: list[str] = field(default_factory=list[str])

    def fail(self, url: str, why: str) -> None:
        """Count a page that could not be read."""
        self.failed[why] += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(f"{url}: {why}")


class _PageFacts(NamedTuple):
    """The columns of a page other than its content."""

    url: str
    title: str = ""
    fetched_at: float | None = None
    changed_at: float | None = None
    fresh: float | None = None
    language: str = ""
    mime: str = ""
    optouts: int = 0
    former: bool = False  # the content is the earlier version, whose chunks are only compared


class ContentTable:
    """The selected pages with their content.

    Parameters
    ----------
    partition
        The crawl, opened for reading.
    wanted
        The selection of pages.
    form
        Markdown or HTML of the main content, or all visible text.
    chunk_chars
        Maximum characters per chunk; 0 for whole pages. Only Markdown can be chunked.
    now
        The time for which the probability of being fresh is computed, in seconds since the epoch; by default now.

    Attributes
    ----------
    columns
        Name -> type.
    tally
        Counts of the pages processed so far.
    """

    def __init__(
        self,
        partition: Partition,
        wanted: Wanted,
        form: ContentForm = ContentForm.MARKDOWN,
        chunk_chars: int = 0,
        now: float | None = None,
    ) -> None:
        assert not chunk_chars or form is ContentForm.MARKDOWN, "only Markdown can be chunked"
        self._partition, self._wanted, self._form, self._chunk_chars = partition, wanted, form, chunk_chars
        self._view = View(partition, settings(partition.directory)[0], SystemClock().now() if now is None else now)
        self._has_pdf = available()
        self.columns: dict[str, str] = CHUNKS if chunk_chars else CONTENT
        self.tally = ReadTally()

    def pieces(
        self, watch: Callable[[int, int], None] = lambda done, total: None, reader: ContentReader | None = None
    ) -> Iterator[Columns]:
        """Yield the rows as columns: name -> values, all of the same length.

        Parameters
        ----------
        watch
            Progress callback: pages done, and their total.
        reader
            The reader of bodies; by default a new one.
        """
        selected = Selected(self._partition, self._wanted)
        total = len(selected.pointers)
        piece = _Piece(self.columns)
        with reader or ContentReader() as reading:
            former: list[Chunk] = []
            for done, (facts, found) in enumerate(reading.each(self._requests(selected))):
                watch(min(done, total), total)
                if facts.former:
                    former = found.chunks
                    continue
                self._add(piece, facts, found, former)
                former = []
                if piece.full:
                    yield piece.taken()
            for facts, chunks in self._lost(selected, reading):
                self._add_removed(piece, facts, chunks)
                if piece.full:
                    yield piece.taken()
        watch(total, total)
        if piece.rows:
            yield piece.taken()

    def _requests(self, selected: Selected) -> Iterator[tuple[_PageFacts, ReadRequest | None]]:
        """Yield the facts and the read request of each selected page; earlier versions come before their pages."""
        visits = (visit for visit in selected.pages() if visit is not None)
        while some := list(islice(visits, _TOGETHER)):
            fresh = self._fresh(np.array([visit.slot for visit in some], np.uint32))
            for visit, probability in zip(some, fresh, strict=True):
                url = self._partition.state.urls.get(visit.slot)
                if not self._wanted.url(url) or not self._wanted.tag(visit.language):
                    continue
                request = self._request(url, visit)
                if request is None:
                    continue
                former = selected.before(visit.slot) if self._chunk_chars else None
                before = self._request(url, former, told=False) if former is not None else None
                if before is not None:
                    yield _PageFacts(url, former=True), before
                yield self._facts(url, visit, probability), request

    def _fresh(self, slots: Slots) -> list[float | None]:
        fresh = self._view.fresh(self._view.columns(slots)).tolist()
        return [None if value != value else round(value, 4) for value in fresh]

    def _facts(self, url: str, visit: Visit, fresh: float | None) -> _PageFacts:
        state = self._partition.state
        index = state.record_of(visit.slot)
        row: Any = state.records.rows[index] if index is not None else None
        seen = state.instant(int(row["seen"])) if row is not None and row["seen"] else visit.at
        changed = state.instant(int(row["changed"])) if row is not None and row["changed"] else min(visit.at, seen)
        return _PageFacts(url, visit.title, seen, changed, fresh, visit.language, visit.mime, visit.optouts)

    def _request(self, url: str, visit: Visit, *, told: bool = True) -> ReadRequest | None:
        """Return the read request for a visit; None, and count the reason, if it has no text or cannot be read."""
        try:
            held = exchange_of(visit, answer_of(self._partition, visit))
        except StoreError as error:
            if told:
                self.tally.fail(url, str(error))
            return None
        kind = kind_of(visit.mime, held.body, url)
        if not kind:
            self.tally.without_text += told
            return None
        if kind == "pdf" and not self._has_pdf:
            if told:
                self.tally.fail(url, NOT_INSTALLED)
            return None
        if kind == "document" and (why := missing(document_of(visit.mime, url, held.body))):
            if told:
                self.tally.fail(url, why)
            return None
        content_type = held.headers.get("content-type", "")
        return ReadRequest(held.body, url, visit.mime, content_type, self._form, self._chunk_chars)

    def _add(self, piece: "_Piece", facts: _PageFacts, found: ReadContent, former: list[Chunk]) -> None:
        """Write one page; or its new chunks, and the ids of the chunks that it has lost."""
        if found.error:
            self.tally.fail(facts.url, found.error)
            return
        self.tally.pages += 1
        self.tally.whole += found.whole
        if not self._chunk_chars:
            piece.add(_row(facts, self._form, found.content))
            return
        had, has = {chunk.id for chunk in former}, {chunk.id for chunk in found.chunks}
        for chunk in found.chunks:
            if chunk.id not in had:
                piece.add(_chunk_row(facts, chunk))
        self.tally.removed += piece.remove(facts, [chunk for chunk in former if chunk.id not in has])

    def _lost(self, selected: Selected, reading: ContentReader) -> Iterator[tuple[_PageFacts, list[Chunk]]]:
        """Yield the pages that no longer have content of their own, with their former chunks."""
        for slot in selected.lost.tolist():
            url = self._partition.state.urls.get(slot)
            visit = selected.before(slot)
            if visit is None or not self._wanted.url(url) or not self._wanted.tag(visit.language):
                continue
            request = self._request(url, visit, told=False) if self._chunk_chars else None
            chunks = reading.read(request).chunks if request is not None else []
            yield _PageFacts(url, visit.title, language=visit.language, mime=visit.mime, optouts=visit.optouts), chunks

    def _add_removed(self, piece: "_Piece", facts: _PageFacts, chunks: list[Chunk]) -> None:
        if self._chunk_chars:
            self.tally.removed += piece.remove(facts, chunks)
        else:
            self.tally.removed += 1
            piece.add({**_common(facts), "mime": facts.mime, "removed": True, "content": None})


class _Piece:
    """Rows that are collected for the next piece."""

    def __init__(self, columns: dict[str, str]) -> None:
        self._columns = columns
        self._chars = 0
        self.rows: list[dict[str, Any]] = []

    @property
    def full(self) -> bool:
        return self._chars > _PIECE_CHARS or len(self.rows) >= _PIECE_ROWS

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        self._chars += len(row.get("content") or row.get("text") or "")

    def remove(self, facts: _PageFacts, chunks: list[Chunk]) -> int:
        """Add the ids of removed chunks; return their number."""
        nothing: dict[str, Any] = dict.fromkeys(CHUNKS)
        for chunk in chunks:
            self.add({**nothing, "id": chunk.id, "url": facts.url, "removed": True, "digest": chunk.digest})
        return len(chunks)

    def taken(self) -> Columns:
        """Return the rows as columns, and start a new piece."""
        rows, self.rows, self._chars = self.rows, [], 0
        return {name: [row[name] for row in rows] for name in self._columns}


def _common(facts: _PageFacts) -> dict[str, Any]:
    return {
        "url": facts.url,
        "title": visible(facts.title),
        "fetched_at": facts.fetched_at,
        "changed_at": facts.changed_at,
        "fresh": facts.fresh,
        "language": facts.language or None,
        "optouts": " ".join(OptOut(facts.optouts).labels) or None,
    }


def _row(facts: _PageFacts, form: ContentForm, content: str) -> dict[str, Any]:
    common = _common(facts)
    if form is ContentForm.MARKDOWN:
        content = front_matter(common) + content
    return {**common, "mime": facts.mime, "removed": False, "content": content}


def _chunk_row(facts: _PageFacts, chunk: Chunk) -> dict[str, Any]:
    headings = " > ".join(chunk.headings)
    return {
        **_common(facts), "id": chunk.id, "headings": headings, "removed": False, "digest": chunk.digest,
        "text": chunk.text,
    }  # fmt: skip
