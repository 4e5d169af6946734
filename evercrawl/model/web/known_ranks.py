"""PageRank on the links known so far, updated as they become known.

Also the in-memory links of read pages.
"""

from typing import Final

import numpy as np

from evercrawl.arrays.rows import grown
from evercrawl.importance.offline import Graph, solve
from evercrawl.model.stored.reader import events
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Discovery, Found, Obeyed, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Ints, Slots


class ReadLinks:
    """The links of each page as last read, stored consecutively in memory.

    Examples
    --------
    >>> rows = ReadLinks()
    >>> for page, targets in ((2, [0, 1]), (0, [2]), (2, [1])):
    ...     rows.put(page, np.array(targets, np.uint32))
    >>> rows.whole(4)
    (array([0, 1, 1, 2, 2]), array([2, 1], dtype=uint32))
    """

    def __init__(self) -> None:
        self._first: Ints = np.zeros(0, np.int64)
        self._count: Ints = np.zeros(0, np.int64)
        self._target: Slots = np.zeros(0, np.uint32)
        self._end = 0

    def of(self, slot: int) -> Slots:
        """Return the links of a page; none if it is unread."""
        if slot >= len(self._first):
            return self._target[:0]
        first = int(self._first[slot])
        return self._target[first : first + int(self._count[slot])]

    def put(self, slot: int, targets: Slots) -> None:
        """Store the links of a page, replacing those it had; their space is reclaimed at the next solution."""
        self._first, self._count = grown(self._first, slot + 1), grown(self._count, slot + 1)
        end = self._end + len(targets)
        self._target = grown(self._target, end)
        self._target[self._end : end] = targets
        self._first[slot], self._count[slot], self._end = self._end, len(targets), end

    def whole(self, pages: int) -> tuple[Ints, Slots]:
        """Return the start of each page's links, shape (pages + 1,), and all links; compacts the storage."""
        self._first, self._count = grown(self._first, pages), grown(self._count, pages)
        start: Ints = np.concatenate([[0], np.cumsum(self._count[:pages])])
        moved: Ints = np.repeat(self._first[:pages] - start[:-1], self._count[:pages])
        self._target, self._end = self._target[moved + np.arange(start[-1])], int(start[-1])
        self._first[:pages] = start[:-1]
        return start, self._target


TAX: Final = 0.15
TOLERANCE: Final = 1e-6
"""Sum of all errors, in parts of the whole."""


class Ranks:
    """PageRank on the known graph, solved again after a fifth more visits; 24 bytes a page and 4 a link.

    A page found since the last solution has a share from each page read since that links to it. The times of solution
    depend on the number of visits alone, so a replay of the journal solves at the same visits, of which only the last
    matters.
    """

    def __init__(self, partition: Partition) -> None:
        self._known = self._visits = self._solved = 0
        self._rank: Floats = np.zeros(0)
        self._rows = ReadLinks()
        self._due = last_due(partition.state.visits)
        for _, _, event in events(partition, partition.journal.sequence):
            if isinstance(event, Visit | Found | Obeyed) and event.found is not None:
                self.found(event.found)
            if isinstance(event, Visit):
                self.learned(event, None)

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Take in links; solve if due."""
        self._visits += 1
        if event.flags & HAS_LINKS:
            targets = decode_slots(event.targets)
            self._share(event.slot, targets, self._rows.of(event.slot))
            self._rows.put(event.slot, targets)
        if self._visits == self._due:
            self._solve()

    def found(self, found: Discovery) -> None:
        """Take in newly known pages, which get every page's own share."""
        first, self._known = self._known, found.first_slot + len(found.urls)
        self._rank = grown(self._rank, self._known)
        self._rank[first : self._known] = 1 / max(self._solved, 1)

    def of(self, slots: Slots) -> Floats:
        """Return the rank of each, shape (n,)."""
        self._rank = grown(self._rank, int(slots.max(initial=0)) + 1)
        return self._rank[slots]

    def _share(self, slot: int, targets: Slots, before: Slots) -> None:
        late = targets[targets >= self._solved]
        if len(late):
            late = np.setdiff1d(late, before, assume_unique=True)
            self._rank[late] += (1 - TAX) * self._rank[slot] / len(targets)

    def _solve(self) -> None:
        self._solved, self._due = self._known, following(self._due)
        start, target = self._rows.whole(self._known)
        self._rank[: self._known] = solve(Graph(start, target, start[:-1]), TAX, tolerance=TOLERANCE)


def following(visits: int) -> int:
    """Return the number of visits for the next solution after one at `visits`: a fifth more, at least one more.

    >>> following(1), following(100)
    (2, 120)
    """
    return visits + max(visits // 5, 1)


def last_due(visits: int) -> int:
    """Return the last number up to `visits` for which PageRank was solved; 1 if none yet.

    >>> [last_due(visits) for visits in (0, 4, 13)]
    [1, 4, 12]
    """
    due = 1
    while following(due) <= visits:
        due = following(due)
    return due
