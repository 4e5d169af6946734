"""What pages and their URLs are like, for policies that ask: depth, bytes, look, and likeness to what people ask for.

Depth stands in the table and in a page's record anyway. What a URL looks like is read off its text, once for each that
is known. How many bytes of text a page has, and of them in the index, is told by the journal; of pages that were read
before it told that, all bytes of the content stand for both. How many bytes links say of a page is told there too,
where they were read by a crawl whose policy asked for it; elsewhere each is taken for so many. The index holds the text
of a page that does not ask to be hidden and is no copy of another; what stands for a page in a list of results is its
title.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.model.web.link_counts import InLinks
from evercrawl.model.worth.query_match import Similarity
from evercrawl.model.worth.query_words import QueryWords
from evercrawl.model.worth.usage_counts import Following
from evercrawl.parse.dynamic import dynamic
from evercrawl.schedule.pages import Facts
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, NOINDEX, Discovery, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import FINDABLE
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats, Slots

ANCHOR_BYTES: Final = 16.0
"""Of the words of a usual link, where nobody noted them: two or three of them."""
_PIECE: Final = 1 << 14  # URLs that are looked at together
_DYNAMIC: Final = 1 << 15
_HIDDEN: Final = 1 << 15
_MOST_TEXT: Final = 0xFFFF - 1  # bytes; of a text, or of what is indexed of it, more make no difference to anybody
_DEPTH: Final = np.uint32(0xFF)  # of a table's cell, of a page without a record


class PageFacts:
    """The column `facts` of `Pages`: 16 bytes for each known page, and 16 more as soon as people ask for anything.

    Parameters
    ----------
    partition
        The crawl. Its journal is read once from end to end, for its links.
    """

    def __init__(self, partition: Partition) -> None:
        self._state = partition.state
        self._links = LinksAndTitles(partition)
        words = QueryWords()
        self._questions, self._similarity = Following(partition, words), Similarity(partition, words)
        self._looked = 0  # slots whose URLs were looked at
        self._url: NDArray[np.uint16] = np.zeros(0, np.uint16)  # by slot: bytes, and a bit for what a program makes

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Take note of a page's links."""
        self._links.learned(event, held)

    def found(self, found: Discovery) -> None:
        """Take note of nothing: URLs are looked at when somebody asks."""
        self._links.found(found)

    def of(self, slots: Slots) -> Facts:
        """Return what pages are like, shape (n,) each."""
        self._look()
        self._questions.renew()
        url = self._url[slots]
        depth, size, indexed = self._records(slots)
        text_bytes, index_bytes = (np.where(size > 0, bytes_of, 0) for bytes_of in self._links.texts(slots, size))
        title = np.where(size > 0, self._links.titles(slots), 0)
        return Facts(
            depth=depth,
            url_bytes=(url & np.uint16(_DYNAMIC - 1)).astype(np.float64),
            dynamic=(url >= _DYNAMIC).astype(np.float64),
            anchor_bytes=self._links.words(slots),
            index_bytes=np.where(indexed & (title < _HIDDEN), index_bytes, 0.0),
            abstract_bytes=(title & (_HIDDEN - 1)).astype(np.float64),
            text_bytes=text_bytes,
            similarity=self._similarity.of(slots),
        )

    def _records(self, slots: Slots) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return how deep pages are, how many bytes the content held of them has, and which the index has.

        Of pages without content there are no bytes, and nothing in the index.
        """
        cells, records = self._state.table.record.take(slots), self._state.records
        read = cells < NO_RECORD
        rows = records.rows[np.where(read, cells, 0)]
        depth = np.where(read, rows["depth"], cells & _DEPTH)
        indexed, held = read & ((rows["flags"] & FINDABLE) != 0), read & (rows["digest"] != 0)
        return depth.astype(np.float64), np.where(held, rows["size_bytes"], 0).astype(np.float64), indexed

    def _look(self) -> None:
        """Look at the URLs that became known since the last time."""
        known = self._state.known.count
        self._url = grown(self._url, known)
        for first in range(self._looked, known, _PIECE):
            slots = range(first, min(first + _PIECE, known))
            self._url[slots.start : slots.stop] = [_seen(url) for url in self._state.urls.get_many(slots)]
        self._looked = known


class LinksAndTitles(InLinks):
    """Links to each page, the bytes of their words, of its text, and of its title with a bit for those that hide."""

    def __init__(self, partition: Partition) -> None:
        self._title: NDArray[np.uint16] = np.zeros(partition.state.known.count, np.uint16)  # by slot
        self._words: Slots = np.zeros(partition.state.known.count, np.uint32)  # by slot, in bytes
        self._text: NDArray[np.uint16] = np.zeros(
            (partition.state.known.count, 2), np.uint16
        )  # and in the index; 1 more
        super().__init__(partition)

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Count the links of a page instead of those it had, and their words; take note of its title and its text."""
        if event.flags & HAS_LINKS and held is not None and held.targets == event.targets:
            self._say(held, -1)
            self._say(event, 1)
        super().learned(event, held)
        if event.flags & HAS_LINKS:
            self._read(event)

    def titles(self, slots: Slots) -> NDArray[np.uint16]:
        """Return what is known of titles, shape (n,)."""
        self._title = grown(self._title, int(slots.max(initial=0)) + 1)
        return self._title[slots]

    def texts(self, slots: Slots, size: Floats) -> tuple[Floats, Floats]:
        """Return how many bytes of text each has, and of them in the index, shape (n,); `size` where nobody told."""
        self._text = grown(self._text, int(slots.max(initial=0)) + 1)
        told = self._text[slots]
        found = np.where(told > 0, told - 1.0, size[:, np.newaxis])
        return found[:, 0], found[:, 1]

    def words(self, slots: Slots) -> Floats:
        """Return how many bytes the words of the links to each have, shape (n,)."""
        self._words = grown(self._words, int(slots.max(initial=0)) + 1)
        return self._words[slots].astype(np.float64)

    def _say(self, event: Visit, by: int) -> None:
        targets = decode_slots(event.targets)  # ascending, and each once
        self._words = grown(self._words, int(targets[-1]) + 1 if len(targets) else 0)
        told = np.frombuffer(event.anchors, np.uint8) if event.anchors else np.full(len(targets), ANCHOR_BYTES)
        self._words[targets] += (by * told.astype(np.int64)).astype(np.uint32)

    def _add(self, event: Visit, by: int) -> None:
        super()._add(event, by)
        self._say(event, by)
        if by > 0:
            self._read(event)

    def _read(self, event: Visit) -> None:
        self._title, self._text = grown(self._title, event.slot + 1), grown(self._text, event.slot + 1)
        self._text[event.slot] = 0 if event.text is None else [min(count, _MOST_TEXT) + 1 for count in event.text]
        hidden = _HIDDEN if event.flags & NOINDEX else 0
        self._title[event.slot] = min(len(event.title.encode("utf-8", "replace")), _HIDDEN - 1) | hidden


def _seen(url: str) -> int:
    """Return the bytes of a URL, and whether a program makes the page, as one number.

    >>> [_seen("http://a.example/"), _seen("http://a.example/?q=1") - _DYNAMIC]
    [17, 21]
    """
    return min(len(url), _DYNAMIC - 1) | (_DYNAMIC if dynamic(url) else 0)
