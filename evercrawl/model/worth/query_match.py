"""Similarity of each page to people's queries, by the words of its title and address."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.model.worth.query_words import QueryWords
from evercrawl.search.schema import address_words, words_of
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Slots

AT_ONCE: Final = 512
"""Pages of which the journal is asked for titles at once, at most; until later others are known by their address."""
_NEVER: Final = 0  # version of a similarity not computed yet


class Similarity:
    """The similarity of pages to the words of queries; 16 bytes per known page.

    Parameters
    ----------
    partition
        The crawl.
    words
        The words of queries; their owner keeps them up to date.
    """

    def __init__(self, partition: Partition, words: QueryWords) -> None:
        self._state = partition.state
        self._journal = partition.journal
        self.words = words
        self._like: NDArray[np.float32] = np.zeros(0, np.float32)  # by slot
        self._version: NDArray[np.uint32] = np.zeros(0, np.uint32)  # version of the words used, by slot
        self._event: NDArray[np.uint64] = np.zeros(0, np.uint64)  # and the event of the title used

    def of(self, slots: Slots) -> Floats:
        """Return the similarity of each page to queries, from 0 to 1, shape (n,)."""
        if not self.words.version or not len(slots):
            return np.zeros(len(slots))
        self._grow(int(slots.max()) + 1)
        events = self._events(slots)
        stale = (self._version[slots] != self.words.version) | (self._event[slots] != events)
        if stale.any():
            self._work_out(slots[stale], events[stale])
        return self._like[slots].astype(np.float64)

    def _grow(self, least: int) -> None:
        self._like, self._version = grown(self._like, least), grown(self._version, least)
        self._event = grown(self._event, least)

    def _events(self, slots: Slots) -> NDArray[np.uint64]:
        """Return the journal pointers of pages' titles, shape (n,); 0 for unread pages."""
        cells, records = self._state.table.record.take(slots), self._state.records
        events: NDArray[np.uint64] = records.rows["event"][np.minimum(cells, np.uint32(records.count))]
        return np.where(cells < records.count, events, np.uint64(0))

    def _work_out(self, slots: Slots, events: NDArray[np.uint64]) -> None:
        asked = 0
        urls = self._state.urls.get_many(slots.tolist())
        for slot, event, url in zip(slots.tolist(), events.tolist(), urls, strict=True):
            title = ""
            if event and asked < AT_ONCE:
                asked += 1
                title = self._title(event)
            elif event:
                event = _NEVER
            self._like[slot] = self.words.similarity([*words_of(address_words(url)), *words_of(title)])
            self._version[slot], self._event[slot] = self.words.version, event

    def _title(self, pointer: int) -> str:
        event = self._journal.read(pointer)
        return event.title if isinstance(event, Visit) else ""
