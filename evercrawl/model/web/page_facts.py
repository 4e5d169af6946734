"""Features of pages and URLs for policies that need them: depth, bytes, URL form, and similarity to queries.

Depth is in the table and in a page's record. URL features are computed once for each known URL. The journal contains
the bytes of a page's text and of its indexed part; for pages read before the journal contained these, the size of the
content replaces both. It also contains the bytes of link texts, if they were read by a crawl whose policy needed
them; otherwise a fixed size per link is assumed. The index holds the text of pages that do not ask to be hidden and
are no copies; a result list shows a page's title.
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
_PIECE: Final = 1 << 14  # URLs processed in one batch
_DYNAMIC: Final = 1 << 15
_HIDDEN: Final = 1 << 15
_MOST_TEXT: Final = 0xFFFF - 1  # bytes; sizes of texts are capped at this
_DEPTH: Final = np.uint32(0xFF)  # of a table cell: page without a record


class PageFacts:
    """The column `facts` of `Pages`: 16 bytes per known page, and 16 more as soon as queries exist.

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
        self._looked = 0  # number of slots processed
        self._url: NDArray[np.uint16] = np.zeros(0, np.uint16)  # by slot: bytes, and a bit for generated pages

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Take in a page's links."""
        self._links.learned(event, held)

    def found(self, found: Discovery) -> None:
        """Do nothing: URLs are processed on demand."""
        self._links.found(found)

    def of(self, slots: Slots) -> Facts:
        """Return the features of pages, shape (n,) each."""
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
        """Return depth of pages, size of their stored content, and whether it is indexed.

        Pages without content have size 0 and are not indexed.
        """
        cells, records = self._state.table.record.take(slots), self._state.records
        read = cells < NO_RECORD
        rows = records.rows[np.where(read, cells, 0)]
        depth = np.where(read, rows["depth"], cells & _DEPTH)
        indexed, held = read & ((rows["flags"] & FINDABLE) != 0), read & (rows["digest"] != 0)
        return depth.astype(np.float64), np.where(held, rows["size_bytes"], 0).astype(np.float64), indexed

    def _look(self) -> None:
        """Process the URLs that became known since the last call."""
        known = self._state.known.count
        self._url = grown(self._url, known)
        for first in range(self._looked, known, _PIECE):
            slots = range(first, min(first + _PIECE, known))
            self._url[slots.start : slots.stop] = [_seen(url) for url in self._state.urls.get_many(slots)]
        self._looked = known


class LinksAndTitles(InLinks):
    """In-links, the bytes of their texts, of the page's text, and of its title with a bit for hidden pages."""

    def __init__(self, partition: Partition) -> None:
        self._title: NDArray[np.uint16] = np.zeros(partition.state.known.count, np.uint16)  # by slot
        self._words: Slots = np.zeros(partition.state.known.count, np.uint32)  # by slot, in bytes
        self._text: NDArray[np.uint16] = np.zeros(
            (partition.state.known.count, 2), np.uint16
        )  # bytes, and bytes indexed; plus 1
        super().__init__(partition)

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Replace the page's links and link texts in the counts; record its title and text."""
        if event.flags & HAS_LINKS and held is not None and held.targets == event.targets:
            self._say(held, -1)
            self._say(event, 1)
        super().learned(event, held)
        if event.flags & HAS_LINKS:
            self._read(event)

    def titles(self, slots: Slots) -> NDArray[np.uint16]:
        """Return title sizes with the hidden bit, shape (n,)."""
        self._title = grown(self._title, int(slots.max(initial=0)) + 1)
        return self._title[slots]

    def texts(self, slots: Slots, size: Floats) -> tuple[Floats, Floats]:
        """Return the bytes of text of each, and of its indexed part, shape (n,); `size` if unknown."""
        self._text = grown(self._text, int(slots.max(initial=0)) + 1)
        told = self._text[slots]
        found = np.where(told > 0, told - 1.0, size[:, np.newaxis])
        return found[:, 0], found[:, 1]

    def words(self, slots: Slots) -> Floats:
        """Return the bytes of all link texts to each, shape (n,)."""
        self._words = grown(self._words, int(slots.max(initial=0)) + 1)
        return self._words[slots].astype(np.float64)

    def _say(self, event: Visit, by: int) -> None:
        targets = decode_slots(event.targets)  # ascending and distinct
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
    """Return the bytes of a URL, and whether a program generates the page, as one number.

    >>> [_seen("http://a.example/"), _seen("http://a.example/?q=1") - _DYNAMIC]
    [17, 21]
    """
    return min(len(url), _DYNAMIC - 1) | (_DYNAMIC if dynamic(url) else 0)
