"""The search index of a crawl: pages by their words, and by the words of links to them.

It consists of two indexes, because BM25 depends on the average length of a field, and a link has two words where a
page has two thousand. Neither stores text: snippets are read from the archive.

One thread at a time writes. Readers, in this process or another, see the last commit.
"""

import shutil
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import tantivy
from numpy.typing import NDArray

from evercrawl.errors import StoreError
from evercrawl.search import mark
from evercrawl.search.lookup import MOST, Lookup, QueryCandidates
from evercrawl.search.mark import NOTHING, Mark, Members
from evercrawl.search.query import Query
from evercrawl.search.schema import (
    DIGEST,
    KEY,
    SLOT,
    IndexedPage,
    anchors_document,
    anchors_schema,
    page_document,
    pages_schema,
)
from evercrawl.search.trouble import remedy, told
from evercrawl.types import Keys, Slots

__all__ = ["FOLDER", "HEAP_BYTES", "NOTHING", "Index", "IndexedPage", "erase"]

FOLDER: Final = "search"
"""Of the index, in a crawl directory."""

HEAP_BYTES: Final = 30_000_000
"""What pages may take in memory before a segment of them is written; smaller segments are merged more often."""

_ANCHOR_HEAP_BYTES: Final = 15_000_000
_MOST_WAITING: Final = 1 << 16  # pending link words, written in batches, page by page
_WRITTEN: Final = 1 << 6  # pages whose link words are written in one batch: some milliseconds
_DIRECTORIES: Final = ("pages", "anchors")
_Number = TypeVar("_Number", np.uint32, np.uint64)
_META: Final = "meta.json"  # in each of the two: the library's list of segments


class Index:
    """The search index in a directory or in memory.

    Parameters
    ----------
    directory
        Its directory, created if missing; by convention `FOLDER` in the crawl directory. None: in memory.
    writable
        Whether to open it for writing. Only one process may; the lock of a dead process does not count.
    heap_bytes
        See `HEAP_BYTES`; at least 15 million.

    Attributes
    ----------
    at
        The journal sequence of the last commit; `NOTHING` before the first.

    Raises
    ------
    StoreError
        It is damaged, of another version, locked by another process, or opened for reading and missing.

    Examples
    --------
    >>> from evercrawl.search.query import parse
    >>> index = Index(None)
    >>> page = IndexedPage(7, 1, "http://example.org/", "example.org", "example.org", "Tea", "How to make it", "en")
    >>> index.put([page])
    >>> index.add_anchors([(7, "all about tea")])
    >>> index.commit(at=12)
    >>> index.at, index.search(parse("make tea")).slot.tolist()
    (12, [7])
    """

    def __init__(self, directory: Path | None, *, writable: bool = True, heap_bytes: int = HEAP_BYTES) -> None:
        self.directory = directory
        self._heaps = heap_bytes, _ANCHOR_HEAP_BYTES
        self.at = NOTHING if directory is None else _mark(directory, writable=writable)
        self._stamp = (0, 0) if directory is None else mark.stamp(directory)
        self._waiting: dict[int, str | dict[str, None]] = {}  # most pages have only one
        self._waiting_count = 0
        self._lookup: Lookup | None = None
        with told(directory, "opened"):
            self._pages, self._anchors = _opened(directory)
            self._writers = self._new_writers() if writable else []
            self._members = Members(self.held()[0].tolist()) if writable else Members()

    def put(self, pages: Sequence[IndexedPage]) -> None:
        """Add pages, each replacing the indexed page of its slot."""
        with told(self.directory, "written to"):
            for page in pages:
                self._forget(page.slot)
                self._members.add(page.slot)
                self._writers[0].add_document(page_document(page))

    def add_anchors(self, pairs: Iterable[tuple[int, str]]) -> None:
        """Add words of links, each with the slot of the link's target."""
        every, new = self._waiting, 0
        for slot, words in pairs:
            waiting = every.get(slot)
            if waiting is None:
                every[slot] = words
            elif isinstance(waiting, dict):
                if words in waiting:
                    continue
                waiting[words] = None
            elif words != waiting:
                every[slot] = {waiting: None, words: None}
            else:
                continue
            new += 1
        self._waiting_count += new
        while self.crowding > 2.0:
            self.write_waiting()

    @property
    def crowding(self) -> float:
        """Pending link words relative to their limit: above 1, call `write_waiting` now and then."""
        return self._waiting_count / _MOST_WAITING

    def write_waiting(self) -> None:
        """Write the oldest pending link words, for a few milliseconds; newer ones may still be combined."""
        with told(self.directory, "written to"):
            self._write_anchors(_WRITTEN)

    def remove(self, slots: Sequence[int]) -> None:
        """Remove pages, and the words of links to them."""
        with told(self.directory, "written to"):
            for slot in slots:
                self._forget(slot)
                waiting = self._waiting.pop(slot, {})
                self._waiting_count -= len(waiting) if isinstance(waiting, dict) else 1
                self._writers[1].delete_documents_by_term(KEY, str(slot))

    def commit(self, at: int) -> None:
        """Make all changes durable and visible; takes about a second without blocking other threads.

        Parameters
        ----------
        at
            Journal sequence up to which the index is complete. It is written last, so after a crash the index may be
            newer than it says, never older: adding the same pages again does no harm.

        Raises
        ------
        StoreError
            The commit failed; `NoRoomError` if the disk is full. Call `abandon`, and try again.
        """
        with told(self.directory, "written to"):
            self._write_anchors()
            for i in reversed(range(len(self._writers))):  # no name for one: an error's traceback would keep its lock
                self._writers[i].commit()
            if self.directory is not None:
                mark.write(self.directory, Mark(at))
            self.at = at
            self._reload()

    def abandon(self) -> None:
        """Discard all changes since the last commit.

        Raises
        ------
        StoreError
            It cannot be written again yet (`NoRoomError` if the disk is full). Call this again before writing to it.
        """
        with told(self.directory, "written to"):
            self._waiting.clear()
            self._waiting_count = 0
            self._writers.clear()  # a failed writer cannot roll back, but always releases its lock
            self._writers = self._new_writers()
            self._members = Members(self.held()[0].tolist())

    def held(self) -> tuple[Slots, Keys]:
        """Return slots and digests of all committed pages, shape (n,) each, by slot."""
        with told(self.directory, "read"):
            searcher = self._pages.searcher()
            every = tantivy.Query.all_query()
            found = searcher.search(every, max(searcher.num_docs, 1), count=False, order_by_field=SLOT).hits
            slots = _numbers([slot for slot, _ in found], np.uint32)
            digests = _numbers(searcher.fast_field_values(DIGEST, [address for _, address in found]), np.uint64)
            return slots[::-1].copy(), digests[::-1].copy()

    def search(self, query: Query, most: int = MOST) -> QueryCandidates:
        """Return the best candidates for a query by words, `most` or somewhat more.

        Newer commits by other processes count from the next query on.
        """
        with self.looked_up() as lookup:
            return lookup.search(query, most)

    @contextmanager
    def looked_up(self) -> Generator[Lookup]:
        """Return the newest state of the index for queries."""
        self.refresh()
        with told(self.directory, "read"):
            if self._lookup is None:
                self._lookup = Lookup(self._pages, self._anchors)
            yield self._lookup

    def refresh(self) -> bool:
        """Load commits made by another process since the last call; return whether there were any."""
        if self.directory is None or self._writers or (now := mark.stamp(self.directory)) == self._stamp:
            return False
        with told(self.directory, "read"):
            self.at = mark.read(self.directory).at
            self._reload()
            self._stamp = now
        return True

    def close(self) -> None:
        """Close the index, discarding uncommitted changes."""
        self._writers.clear()
        self._waiting.clear()

    def _forget(self, slot: int) -> None:
        """Delete a page if present: the look-up costs more than a tenth of adding it."""
        if slot in self._members:
            self._members.discard(slot)
            self._writers[0].delete_documents_by_term(KEY, str(slot))

    def _write_anchors(self, most: int | None = None) -> None:
        """Write pending link words, a document for each of `most` pages: one per link would cost thrice as much."""
        for slot in list(islice(self._waiting, most)):
            waiting = self._waiting.pop(slot)
            words = waiting if isinstance(waiting, dict) else (waiting,)
            self._waiting_count -= len(words)
            self._writers[1].add_document(anchors_document(slot, words))

    def _new_writers(self) -> list[tantivy.IndexWriter]:
        pairs = zip((self._pages, self._anchors), self._heaps, strict=True)
        return [index.writer(heap_bytes, num_threads=1) for index, heap_bytes in pairs]

    def _reload(self) -> None:
        self._anchors.reload()
        self._pages.reload()
        self._lookup = None


def _numbers(values: Sequence[object], kind: type[_Number]) -> NDArray[_Number]:
    """Return the values of all pages as an array.

    Raises
    ------
    ValueError
        A page has none, or one that is too large: the index is damaged.
    """
    try:
        return np.array(values, kind)
    except (TypeError, OverflowError) as error:
        raise ValueError("pages lack their numbers") from error


def erase(directory: Path) -> None:
    """Delete an index in any state, so that it can be rebuilt."""
    shutil.rmtree(directory, ignore_errors=True)


def _mark(directory: Path, *, writable: bool) -> int:
    if writable:
        directory.mkdir(parents=True, exist_ok=True)
    elif not all((directory / name).is_dir() for name in _DIRECTORIES):
        raise StoreError(
            f"there is no search index in {directory}; make one with `evercrawl reindex --dir {directory.parent}`"
        )
    at = mark.read(directory).at
    lost = [name for name in _DIRECTORIES if at != NOTHING and not (directory / name / _META).is_file()]
    if lost:  # otherwise an empty one would be created in its place
        raise StoreError(f"{directory / lost[0] / _META} is missing; {remedy(directory)}")
    return at


def _opened(directory: Path | None) -> tuple[tantivy.Index, tantivy.Index]:
    schemas = pages_schema(), anchors_schema()
    if directory is None:
        pages, anchors = (tantivy.Index(schema) for schema in schemas)
    else:
        pages, anchors = (
            _in_folder(schema, directory / name) for schema, name in zip(schemas, _DIRECTORIES, strict=True)
        )
    for index in (pages, anchors):
        index.config_reader("manual")
    return pages, anchors


def _in_folder(schema: tantivy.Schema, folder: Path) -> tantivy.Index:
    folder.mkdir(exist_ok=True)
    return tantivy.Index(schema, path=str(folder))
