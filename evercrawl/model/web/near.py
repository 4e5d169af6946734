"""Near-duplicates: pages whose content equals, or nearly equals, that of a page read before them.

A near-duplicate is a page in its own right: its links are followed and get its cash. But it does not count as a
member of its site, so it gets no share of the site's source, and a search does not find it: session ids and mirrors
gain nothing, and a page mistaken for a near-duplicate keeps the cash from others' links. Pages that it makes known
wait for a long time, see `store/cash/spread.py`.

**What counts as one.** The 64-bit similarity hashes of 6,333 pages of documentation, on 20 hosts, say:

===================================== ========= =============== ==================================================
pairs                                 same host different hosts verdict
===================================== ========= =============== ==================================================
the very same text                    6         0               copies: stubs under several names
0 to 3 bits, and that is all          2,326     10
of these: same title, size within 5 % 191       5               on one host a template filled anew; else copies
of these: another title or size       2,129     5               different pages; indexes, untranslated chapters
===================================== ========= =============== ==================================================

A menu of 60 kB around a page makes the hashes of a host's pages identical, whatever their content. So the same title
is always required, and one of the following: identical text (hash and 32 bits of its digest); or, on different hosts,
at most 3 bits and sizes within a twentieth; or the same on one host for two addresses that differ in query or
parameters only (a session id with a clock or a counter on the page). Four bits would have found 4 more pairs on
different hosts. A line of seven words added to 900 moves a hash by two bits, and one in ten by more than three.

Content of a few hundred bytes, markup included (a stub, an "empty" notice), occurs on many sites; across sites it
makes no copies, even if identical to the byte.

Only a page read earlier can be the original, so there are no cycles, and an original stays one. A seed is never a
near-duplicate.

References
----------
Manku, Jain, Das Sarma (2007). Detecting Near-Duplicates for Web Crawling: k = 3 of 64 bits; blocks of 16 bits, one of
which must agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve
from evercrawl.kernels import Library, address_table, pointer
from evercrawl.model.stored.remembered import Remembered
from evercrawl.model.web._near_layout import BLOCKS, VALUES, WORDS
from evercrawl.model.web.claims import stays_original
from evercrawl.parse.simhash import distance
from evercrawl.store.journal.events import HAS_LINKS, KEEP, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import NEAR
from evercrawl.types import NO_SLOT, Ints, Keys, Outcome, Slots

if TYPE_CHECKING:
    from evercrawl.model.stored.classify import Verdict
    from evercrawl.model.stored.reading import Reading


BITS: Final = 3
SLIGHT_BYTES: Final = 512  # of a page, markup included: too little to be taken for a copy from another site
MOST: Final = 4  # maximum candidates whose title is looked up
_KERNELS: Final = Library("evercrawl.model.web._near_kernel")


class NearDuplicates:
    """Finds, for new content, the page that had it before.

    Results depend only on the records and the order of their last contents, so they are the same after a restart.

    Parameters
    ----------
    partition
        The crawl; its known pages are indexed.

    Attributes
    ----------
    beside
        Whether another page of the host looks like the one last queried, ignoring its title.
    moved_bytes
        Bytes of the index that are in a file (`arrays/shelf.py`).
    """

    def __init__(self, partition: Partition) -> None:
        self._state = partition.state
        self._journal = partition.journal
        rows = self._state.records.rows
        self._nodes: Keys = reserve(np.uint64, WORDS * len(rows))
        self._heads: Slots = np.zeros(BLOCKS * VALUES, np.uint32)
        self._out: Ints = np.zeros(MOST + 1, np.int64)
        size = min(len(rows), len(self._nodes) // WORDS)
        self._index = address_table(self._nodes, self._heads, rows), size
        self.beside, self.moved_bytes = False, 0
        self._found = pointer(self._out)
        self._fill(rows[: self._state.records.count])

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self._heads.nbytes + self._state.records.count * WORDS * self._nodes.itemsize - self.moved_bytes

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return the array of nodes, and its bytes in use."""
        return self._nodes, self._state.records.count * WORDS

    def _fill(self, rows: Any) -> None:
        """Index the pages that could be originals, in the order in which their contents came."""
        held = (rows["simhash"] != 0) & (rows["digest"] != 0) & (rows["alias"] == NO_SLOT) & (rows["flags"] & NEAR == 0)
        places = np.flatnonzero(held)
        order = np.ascontiguousarray(places[np.argsort(rows["event"][places], kind="stable")], np.int64)
        _KERNELS["fill"](*self._index, pointer(order), len(order))

    def copied(self, reading: Reading) -> bool:
        """Return whether a page just read, as a whole, nearly equals one read before."""
        return reading.whole and reading.before.depth > 0 and self._like_read(reading) != NO_SLOT

    def original(self, reading: Reading, verdict: Verdict, alias: int) -> int:
        """Return the slot of the original of which a visit shows a near-duplicate; NO_SLOT if it is none.

        Parameters
        ----------
        reading, verdict
            The visit, and its verdict.
        alias
            The page it only leads to, if any: then it is no near-duplicate.
        """
        before, held = reading.before, reading.before.held
        self.beside = False
        if verdict.outcome != Outcome.OK or alias != NO_SLOT or not before.depth:
            return NO_SLOT
        if not verdict.flags & KEEP:
            like = self._like_read(reading)
            return NO_SLOT if stays_original(self._state, reading.slot, before, like) else like
        if held is None or held.near == NO_SLOT or self._still(held.near, before.simhash):
            return held.near if held is not None else NO_SLOT
        return self._like(reading, before.simhash, before.words, before.size_bytes, held.title)

    def by_chance(self, slot: int, host: int, size_bytes: int) -> bool:
        """Return whether a page of `host` may equal `slot` by chance: little content, on another site."""
        if size_bytes >= SLIGHT_BYTES:
            return False
        state, index = self._state, self._state.record_of(slot)
        there = int(state.records.rows["host"][index]) if index is not None else host
        return bool(state.site_of[there] != state.site_of[host])

    def learned(self, visit: Remembered) -> None:
        """Take in a visit that was remembered."""
        event = visit.event
        if not event.flags & HAS_LINKS:
            return
        _KERNELS["put"](*self._index, self._state.table.record.item(event.slot))

    def _still(self, slot: int, simhash: int) -> bool:
        """Return whether a page still has the content of which another was a near-duplicate."""
        index = self._state.record_of(slot)
        row = self._state.records.rows[index] if index is not None else None
        if row is None or row["outcome"] != Outcome.OK or row["flags"] & NEAR:
            return False
        return distance(int(row["simhash"]), simhash) <= BITS

    def _like_read(self, reading: Reading) -> int:
        page = reading.page
        return self._like(reading, page.simhash, page.words, reading.size_bytes, page.title)

    def _like(self, reading: Reading, simhash: int, words: int, size_bytes: int, title: str) -> int:
        if not simhash:
            return NO_SLOT
        state, url = self._state, reading.exchange.request.url
        own = state.record_of(reading.slot)
        own = state.lost.get(reading.slot, state.records.count) if own is None else own
        plain = _plain(url)
        about = own, simhash, words, size_bytes, reading.host.number, int(len(plain) < len(url))
        n = _KERNELS["like"](*self._index, *about, BITS, self._found, MOST)
        self.beside = bool(self._out[MOST])
        for index in self._out[:n].tolist() if n else ():
            row = state.records.rows[index]
            slot, same = int(row["slot"]), row["simhash"] == simhash and row["words"] == words
            if self.by_chance(slot, reading.host.number, size_bytes):
                continue
            if same or row["host"] != reading.host.number or _plain(state.urls.get(slot)) == plain:
                event = self._journal.read(int(row["event"]))
                if isinstance(event, Visit) and event.title == title:
                    return slot
        return NO_SLOT


def _plain(url: str) -> str:
    """Return a URL without its query and the parameters of its last segment.

    Examples
    --------
    >>> _plain("http://a.example/shop/list;jsessionid=7?page=2")
    'http://a.example/shop/list'
    """
    url = url.partition("?")[0]
    return url.partition(";")[0]
