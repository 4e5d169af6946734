"""Mirrors: hosts with the same content as another, path by path. Their unread pages can wait.

Single copies are detected by their content. Once a copy has the same path as its original, the two hosts are compared
from then on: each page read on one, and read on the other under the same path, agrees or differs. In a pair that
nearly always agrees, the host that became known later is the *mirror*, but never a seed's host. When the turn of one
of its unread pages comes, the page is set aside if the page of the same path on the other host was read and is
stored, and that host responds. If that page is still unread, this one is postponed once, until it is read, but for
some minutes at most. Seeds, and pages without a counterpart, are read. So is one in twenty of the others, which shows
when a host stops being a mirror, because comparisons lose weight with time. Then pages set aside are queued again,
and also as soon as the other host has to be left alone: a site that copies a few pages and then stops responding
blocks nobody.

None of this is stored: at a start, it is rebuilt from a sample of the records.

References
----------
Bharat, Broder (1999). Mirror, mirror on the web: a study of host pairs with replicated content. Hosts are compared by
paths that they have in common, and by the content that some of these lead to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.stored.remembered import Remembered
from evercrawl.model.web.near import SLIGHT_BYTES
from evercrawl.parse.simhash import distance
from evercrawl.parse.urls import origin, path_query
from evercrawl.store.journal.events import KEEP, Discovery
from evercrawl.store.state import HELD, State
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import NO_SLOT, Outcome

KEPT: Final = 0.98
"""What each comparison leaves of the weight of those before: some fifty count."""
LEAST: Final = 5.0
"""Weight of the comparisons that a verdict takes: six of them, and each has to agree. A wrong verdict undoes itself."""
AGREE: Final = 0.9
"""Part of them that have to agree."""
SAMPLED: Final = 20
"""Of so many unread pages of a mirror one is read all the same."""
BITS: Final = 6
"""What two similarity hashes may differ by, where path and size say the same: a line of the mirror's own."""
MOST: Final = 4  # maximum number of hosts that one is compared with
PATIENCE_S: Final = 600.0
"""How long a page is put off whose original is still to be read."""
_SAMPLE: Final = 64  # pages of two hosts compared at a start
_PIECE: Final = 1 << 12  # known URLs scanned per visit: some milliseconds if all match
_RECALLED: Final = 256  # pairs of hosts compared then, those with most copies


@dataclass(slots=True, eq=False)
class HostPair:
    """Two hosts found to have the same content under at least one path.

    Attributes
    ----------
    copy, original, host, other
        Their origins (scheme, name and port), the later known first; the number of that host, and of the other.
    same, compared
        Total weight of the comparisons that agreed, and of all.
    mirror
        Whether the first is considered a mirror of the other.
    aside
        Slots of its pages that were set aside or postponed.

    Examples
    --------
    >>> pair = HostPair("http://b.example", "http://a.example", host=1, other=0)
    >>> for _ in range(6):
    ...     pair.observe(agrees=True)
    >>> pair.holds, round(pair.same, 1)
    (True, 5.7)
    >>> for _ in range(1):
    ...     pair.observe(agrees=False)
    >>> pair.holds
    False
    """

    copy: str
    original: str
    host: int
    other: int
    same: float = 0.0
    compared: float = 0.0
    mirror: bool = False
    aside: dict[int, None] = field(default_factory=dict[int, None])

    def observe(self, *, agrees: bool) -> None:
        """Take in a comparison."""
        self.same, self.compared = KEPT * self.same + agrees, KEPT * self.compared + 1

    @property
    def holds(self) -> bool:
        """Whether the evidence suffices."""
        return self.compared >= LEAST and self.same >= AGREE * self.compared


class PageLikeness(NamedTuple):
    """The features by which two pages are compared: digests of content and text, similarity hash, size."""

    digest: int
    words: int
    simhash: int
    size_bytes: int

    @classmethod
    def by(cls, row: Any) -> PageLikeness:
        """Return the features of a record."""
        return cls(*(int(row[name]) for name in cls._fields))

    def agrees(self, other: PageLikeness) -> bool:
        """Return whether both have the same content, except perhaps for a line.

        >>> PageLikeness(1, 2, 0b1011, 1000).agrees(PageLikeness(3, 4, 0b1000, 1040))
        True
        >>> PageLikeness(1, 0, 0, 9).agrees(PageLikeness(3, 0, 0, 9))
        False
        """
        if self.digest == other.digest or (self.words and self.words == other.words):
            return True
        alike = self.simhash and other.simhash and distance(self.simhash, other.simhash) <= BITS
        return bool(alike) and 20 * abs(self.size_bytes - other.size_bytes) <= self.size_bytes


class Mirrors:
    """Compares hosts as they are read, and says which unread pages can wait.

    Parameters
    ----------
    state
        What is known.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._pairs: dict[str, list[HostPair]] = {}  # by the origin of either
        self._mirrors: dict[int, HostPair] = {}  # by the copy's host number
        self._twins: dict[int, tuple[HostPair, int]] = {}  # by slot: the key of its URL on the original
        self._freed: list[HostPair] = []
        self._mirrored: dict[int, list[HostPair]] = {}  # by the original's host number
        self._put_off: dict[int, tuple[float, HostPair]] = {}  # by slot: the deadline; in the order of deadlines
        self._awaited: dict[int, int] = {}  # key of an unread original -> slot of the postponed page
        self._waited = set[int]()  # postponed pages that have waited long enough
        self._due: list[int] = []  # pages no longer postponed
        self._now = 0.0
        self._seeds: set[int] | None = None  # hosts of seeds; a reader finds them when they are first asked for
        if state.known.held:  # later a crawl would have to read them from the file
            self._seeds = self._find_seeds()
        self._unseen: dict[int, int] = {}  # by the copy's host number: known URLs not scanned yet
        self._next = 0  # of these
        self._recall()
        while self._unseen:
            self._look_on()

    @property
    def hosts(self) -> dict[int, HostPair]:
        """The mirrors, by the number of the host."""
        return {number: pair for number, pair in self._mirrors.items() if pair.mirror}

    def learned(self, visit: Remembered) -> None:
        """Compare a page just read with other hosts' pages of the same path."""
        event, url = visit.event, visit.reading.exchange.request.url
        self._now = event.at
        self._look_on()
        if event.retry_at:  # the host is resting: none of its pages can stand for another
            self._freed += self._mirrored.get(event.host, ())
        if (
            self._awaited
            and event.host in self._mirrored
            and (slot := self._awaited.pop(self._state.hasher.key(url), None)) is not None
        ):
            self._due.append(slot)
        if event.outcome not in HELD or event.flags & KEEP or event.size_bytes < SLIGHT_BYTES:
            return
        self._meet(event.host, url, event.alias if event.outcome == Outcome.DUPLICATE else event.near)
        said = PageLikeness(event.digest, event.words, event.simhash, event.size_bytes)
        for pair in self._pairs.get(origin(url), ()) if self._pairs else ():
            self._compare(pair, url, said)

    def admitted(self, found: Discovery) -> None:
        """Take in newly known URLs of mirrors."""
        if not found.depth and self._seeds is not None:
            self._seeds.update(found.hosts)
        for i, host in enumerate(found.hosts) if self._mirrors else ():
            if host in self._mirrors:
                self._note(found.first_slot + i, found.urls[i], self._mirrors[host])

    def spared(self, slot: int, now: float) -> bool:
        """Return whether an unread page can wait; it is set aside, or postponed if its original is unread."""
        there = self._original(slot, now)
        if there == NO_SLOT:
            return False
        pair, twin = self._twins[slot]
        if self._state.record_of(there) is None:
            if slot in self._put_off or slot in self._waited:
                return False
            self._put_off[slot] = now + PATIENCE_S, pair
            self._awaited[twin] = slot
        pair.aside[slot] = None
        return True

    def original(self, slot: int, now: float) -> str:
        """Return the URL of the original of a mirror's unread page; "" for any page that has to be read."""
        there = self._original(slot, now)
        return self._state.urls.get(there) if there != NO_SLOT else ""

    def _original(self, slot: int, now: float) -> int:
        """Return the slot of an unread page's original, read or not; NO_SLOT without one."""
        pair, twin = self._twins.get(slot, (None, 0))
        if pair is None or not pair.mirror or not slot % SAMPLED or self._state.away.get(pair.other, 0.0) > now:
            return NO_SLOT
        there = self._slot(twin)
        index = self._state.record_of(there) if there != NO_SLOT else None
        held = index is None or int(self._state.records.rows["outcome"][index]) in HELD
        return there if held else NO_SLOT

    def released(self) -> Iterator[tuple[int, list[int]]]:
        """Yield host numbers, each with the pages set aside or postponed that must be queued again.

        These are all pages of hosts that are no longer mirrors or whose original rests, and those postponed long ago.
        """
        while self._freed:
            pair = self._freed.pop()
            aside, pair.aside = [*pair.aside], {}
            yield pair.host, aside
        for slot, (until, _) in self._put_off.items():
            if until > self._now:
                break
            self._due.append(slot)
        while self._due:
            slot = self._due.pop()
            self._put_off.pop(slot, None)
            self._waited.add(slot)
            pair, _ = self._twins[slot]
            if slot in pair.aside:
                del pair.aside[slot]
                yield pair.host, [slot]

    def _meet(self, host: int, url: str, slot: int) -> None:
        """Start comparing two hosts once they have the same content under the same path."""
        if slot == NO_SLOT:
            return
        other, number = self._state.urls.get(slot), int(self._state.known.row(slot)["host"])
        here, there = origin(url), origin(other)
        if number == host or path_query(url) != path_query(other):
            return
        mine, others = self._pairs.setdefault(here, []), self._pairs.setdefault(there, [])
        if len(mine) == MOST or len(others) == MOST or any(there in (pair.copy, pair.original) for pair in mine):
            return
        if self._seeded(host) and self._seeded(number):
            return
        later = self._seeded(number) or (host > number and not self._seeded(host))
        pair = HostPair(here, there, host, number) if later else HostPair(there, here, number, host)
        mine.append(pair)
        others.append(pair)

    def _seeded(self, host: int) -> bool:
        """Return whether a host has a seed; then all of it is read, whoever has the same content."""
        if self._seeds is None:
            self._seeds = self._find_seeds()
        return host in self._seeds

    def _find_seeds(self) -> set[int]:
        known = self._state.known.columns()
        return set(known.host[known.depth == 0].tolist())

    def _compare(self, pair: HostPair, url: str, said: PageLikeness) -> None:
        """Compare a page with that of the same path on the other host, if that was read."""
        elsewhere = pair.original if origin(url) == pair.copy else pair.copy
        slot = self._slot(self._state.hasher.key(elsewhere + path_query(url)))
        index = self._state.record_of(slot) if slot != NO_SLOT else None
        if index is None:
            return
        row = self._state.records.rows[index]
        if row["outcome"] not in HELD or row["size_bytes"] < SLIGHT_BYTES:
            return
        pair.observe(agrees=said.agrees(PageLikeness.by(row)))
        if pair.holds != pair.mirror:
            self._judged(pair)

    def _judged(self, pair: HostPair) -> None:
        pair.mirror = pair.holds
        if not pair.mirror:
            self._freed.append(pair)
        elif pair.host not in self._mirrors:
            self._mirrors[pair.host] = pair
            self._mirrored.setdefault(pair.other, []).append(pair)
            self._unseen[pair.host] = self._state.known.count
            self._look_on()

    def _look_on(self) -> None:
        """Scan further known URLs for unread pages of hosts that turned out to be mirrors."""
        if not self._unseen:
            return
        state, first = self._state, self._next if self._next < self._state.known.count else 0
        rows = state.known.rows(first, first + _PIECE)
        self._next = first + len(rows)
        places = np.flatnonzero(np.isin(rows["host"], list(self._unseen)))
        places = places[state.table.record[first + places] >= NO_RECORD]
        hosts, slots = rows["host"][places].tolist(), (first + places).tolist()
        for slot, host, url in zip(slots, hosts, state.urls.get_many(slots), strict=True):
            self._note(slot, url, self._mirrors[host])
        self._unseen = {host: left - len(rows) for host, left in self._unseen.items() if left > len(rows)}

    def _note(self, slot: int, url: str, pair: HostPair) -> None:
        if origin(url) == pair.copy and self._state.known.row(slot)["depth"]:
            self._twins[slot] = pair, self._state.hasher.key(pair.original + path_query(url))

    def _slot(self, of: int) -> int:
        return int(self._state.table.find(np.array([of], np.uint64))[0])

    def _recall(self) -> None:
        """Compare the hosts of copies read in earlier runs, by some pages each."""
        state = self._state
        rows: Any = state.records.rows[: state.records.count]
        copies = rows[(rows["outcome"] == Outcome.DUPLICATE) & (rows["alias"] != NO_SLOT)]
        if not len(copies):
            return
        hosts = state.known.hosts()
        pairs, count = np.unique(np.stack([copies["host"], hosts[copies["alias"]]]), axis=1, return_counts=True)
        apart = np.flatnonzero(pairs[0] != pairs[1])
        most: list[list[int]] = pairs.T[apart[np.argsort(-count[apart], kind="stable")][:_RECALLED]].tolist()
        for host, other in most:
            mine = copies[(copies["host"] == host) & (hosts[copies["alias"]] == other)][-_SAMPLE:]
            self._look(mine, rows[np.isin(rows["host"], (host, other)) & np.isin(rows["outcome"], HELD)])

    def _look(self, copies: NDArray[Any], read: NDArray[Any]) -> None:
        """Compare two hosts by some of the copies, and some of all pages read on either."""
        state = self._state
        for row, url in zip(copies, state.urls.get_many(copies["slot"].tolist()), strict=True):
            self._meet(int(row["host"]), url, int(row["alias"]))
        some = read[:: max(len(read) // _SAMPLE, 1)]
        for row, url in zip(some, state.urls.get_many(some["slot"].tolist()), strict=True):
            for pair in self._pairs.get(origin(url), ()):
                self._compare(pair, url, PageLikeness.by(row))
