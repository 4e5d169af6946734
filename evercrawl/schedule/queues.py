"""Pages that wait, host by host: first in, first out, at 4 bytes a page.

Each host has two queues: `new` (never fetched, or to be tried again) and `seen` (waiting to be refreshed). A page is in
at most one of them, so one array of links by slot holds all queues; a link is the following slot plus one, 0 ends one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.types import Slots


class Queue:
    """Slots of one host in order; the links live in an array that all queues share.

    Examples
    --------
    >>> import numpy as np
    >>> links = np.zeros(8, np.uint32)
    >>> queue = Queue(links)
    >>> queue.extend([5, 2, 7])
    >>> queue.pop(), queue.pop(), len(queue), queue.first
    (5, 2, 1, 7)
    """

    __slots__ = ("_count", "_last", "_links", "first")

    def __init__(self, links: Slots) -> None:
        self._links = links
        self.first = NO_SLOT
        self._last = NO_SLOT
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, slot: int) -> None:
        """Put `slot` at the end; it must be in no queue."""
        self._links[slot] = 0
        if self._count:
            self._links[self._last] = slot + 1
        else:
            self.first = slot
        self._last = slot
        self._count += 1

    def push_first(self, slot: int) -> None:
        """Put `slot` at the front; it must be in no queue."""
        self._links[slot] = self.first + 1 if self._count else 0
        self.first = slot
        if not self._count:
            self._last = slot
        self._count += 1

    def extend(self, slots: Iterable[int]) -> None:
        """Put each of `slots` at the end, in order."""
        for slot in slots:
            self.push(slot)

    def adopt(self, first: int, last: int, count: int) -> None:
        """Take over `count` slots that are linked from `first` to `last` already; the queue must be empty."""
        assert not self._count, "only an empty queue can take over others' slots"
        self.first, self._last, self._count = first, last, count

    def pop(self) -> int:
        """Take the first slot off; NO_SLOT when there is none."""
        slot = self.first
        if slot == NO_SLOT:
            return slot
        link = int(self._links[slot])
        self._links[slot] = 0
        self._count -= 1
        self.first = link - 1 if self._count else NO_SLOT
        return slot
