"""Hosts that say what another says, path by path: their unread pages can wait, for the originals are known.

Each copy that is read is found to be one by its content, one by one. Where that happened for the same path on two hosts
the two are compared from then on: whatever is read on the one, and was read on the other under the same path, says the
same or does not. Of a pair that nearly always agrees the host that became known later is the *mirror*, but never the
host of a seed. An unread page of it is put aside when its turn comes if the page of that path on the other host was
read and is held, and that host answers. Where that page is still to be read, this one is put off once, until it was,
but for some minutes at most. A seed, or a page of its own, is read. So is one in twenty of the others, and a host that
stops being a mirror shows it by them: comparisons are forgotten by and by. Then what was put aside waits for its turn
again, and so it does as soon as the other host is to be left alone: whoever copies a few pages of a site and then falls
silent keeps nobody from it.

Nothing is remembered of all this but what the records say: a start looks at a sample of them.

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
MOST: Final = 4  # hosts that one is compared with
PATIENCE_S: Final = 600.0
"""How long a page is put off whose original is still to be read."""
_SAMPLE: Final = 64  # pages that two hosts are compared by at a start
_PIECE: Final = 1 << 12  # known URLs that are looked through at a visit: some milliseconds where all are wanted
_RECALLED: Final = 256  # pairs of hosts that are compared then, those with most copies


@dataclass(slots=True, eq=False)
class HostPair:
    """Two hosts that have been found to say the same under one path, at least.

    Attributes
    ----------
    copy, original, host, other
        Where they are: scheme, name and port; the later known first. The number of that host, and of the other.
    same, compared
        Weights of the comparisons that agreed, and of all.
    mirror
        Whether the first is taken for a mirror of the other.
    aside
        Slots of its pages that were put aside, or off.

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
        """Whether the evidence is enough."""
        return self.compared >= LEAST and self.same >= AGREE * self.compared


class PageLikeness(NamedTuple):
    """What two pages are compared by: digests of content and of text, similarity hash, and size."""

    digest: int
    words: int
    simhash: int
    size_bytes: int

    @classmethod
    def by(cls, row: Any) -> PageLikeness:
        """Return that of a record."""
        return cls(*(int(row[name]) for name in cls._fields))

    def agrees(self, other: PageLikeness) -> bool:
        """Whether both say the same, but for a line perhaps.

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
    """Compares hosts as they are read, and says which unread pages need not be.

    Parameters
    ----------
    state
        What is known.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._pairs: dict[str, list[HostPair]] = {}  # by where either is
        self._mirrors: dict[int, HostPair] = {}  # by the number of the copy
        self._twins: dict[int, tuple[HostPair, int]] = {}  # by slot: the key of its URL on the original
        self._freed: list[HostPair] = []
        self._mirrored: dict[int, list[HostPair]] = {}  # by the number of the original's host
        self._put_off: dict[int, tuple[float, HostPair]] = {}  # by slot: until when; in the order of that
        self._awaited: dict[int, int] = {}  # key of an original that is still to be read -> slot of what was put off
        self._waited = set[int]()  # those that were, and have waited long enough
        self._due: list[int] = []  # those that wait no longer
        self._now = 0.0
        self._seeds: set[int] | None = None  # hosts of seeds, once somebody wants to know
        self._unseen: dict[int, int] = {}  # by the number of the copy: how many known URLs were not looked through yet
        self._next = 0  # of these
        self._recall()
        while self._unseen:
            self._look_on()

    @property
    def hosts(self) -> dict[int, HostPair]:
        """The mirrors, by the number of the host."""
        return {number: pair for number, pair in self._mirrors.items() if pair.mirror}

    def learned(self, visit: Remembered) -> None:
        """Compare what was read with what other hosts say under the same path."""
        event, url = visit.event, visit.reading.exchange.request.url
        self._now = event.at
        self._look_on()
        if event.retry_at:  # the host is left alone: nothing of it stands for another page
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
        """Take note of URLs of mirrors that became known."""
        if not found.depth:
            self._seeds = None
        for i, host in enumerate(found.hosts) if self._mirrors else ():
            if host in self._mirrors:
                self._note(found.first_slot + i, found.urls[i], self._mirrors[host])

    def spared(self, slot: int, now: float) -> bool:
        """Whether an unread page need not be read now; it is put aside then, or off where its original is unread."""
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
        """Return the URL of the original of an unread page of a mirror; "" for any that is to be read."""
        there = self._original(slot, now)
        return self._state.urls.get(there) if there != NO_SLOT else ""

    def _original(self, slot: int, now: float) -> int:
        """Return the slot of the page that stands for an unread one, read or not; NO_SLOT where there is none."""
        pair, twin = self._twins.get(slot, (None, 0))
        if pair is None or not pair.mirror or not slot % SAMPLED or self._state.away.get(pair.other, 0.0) > now:
            return NO_SLOT
        there = self._slot(twin)
        index = self._state.record_of(there) if there != NO_SLOT else None
        held = index is None or int(self._state.records.rows["outcome"][index]) in HELD
        return there if held else NO_SLOT

    def released(self) -> Iterator[tuple[int, list[int]]]:
        """Yield numbers of hosts, each with pages that were put aside or off and are to wait for their turn again.

        Those are all of hosts that are mirrors no more or whose original is left alone, and what was put off long ago.
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
        """Begin to compare two hosts where they say the same under the same path."""
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
        """Whether a page of a host was named to begin with; then all of it is wanted, whoever says the same."""
        if self._seeds is None:
            known = self._state.known.columns()
            self._seeds = set(known.host[known.depth == 0].tolist())
        return host in self._seeds

    def _compare(self, pair: HostPair, url: str, said: PageLikeness) -> None:
        """Compare what a page says with that of the same path on the other host, where that was read."""
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
        """Look through the next known URLs for unread pages of hosts that turned out to be mirrors."""
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
        """Compare the hosts of copies that were read in earlier runs, by some pages each."""
        state = self._state
        rows: Any = state.records.rows[: state.records.count]
        copies = rows[(rows["outcome"] == Outcome.DUPLICATE) & (rows["alias"] != NO_SLOT)]
        if not len(copies):
            return
        hosts = state.known.columns().host
        pairs, count = np.unique(np.stack([copies["host"], hosts[copies["alias"]]]), axis=1, return_counts=True)
        apart = np.flatnonzero(pairs[0] != pairs[1])
        most: list[list[int]] = pairs.T[apart[np.argsort(-count[apart], kind="stable")][:_RECALLED]].tolist()
        for host, other in most:
            mine = copies[(copies["host"] == host) & (hosts[copies["alias"]] == other)][-_SAMPLE:]
            self._look(mine, rows[np.isin(rows["host"], (host, other)) & np.isin(rows["outcome"], HELD)])

    def _look(self, copies: NDArray[Any], read: NDArray[Any]) -> None:
        """Compare two hosts by some of the copies, and some of all that was read on either."""
        state = self._state
        for row, url in zip(copies, state.urls.get_many(copies["slot"].tolist()), strict=True):
            self._meet(int(row["host"]), url, int(row["alias"]))
        some = read[:: max(len(read) // _SAMPLE, 1)]
        for row, url in zip(some, state.urls.get_many(some["slot"].tolist()), strict=True):
            for pair in self._pairs.get(origin(url), ()):
                self._compare(pair, url, PageLikeness.by(row))
