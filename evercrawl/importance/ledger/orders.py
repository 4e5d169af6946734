"""Orders of visits to the pages of a ledger; importance does not depend on them, as long as every page has its turn."""

import heapq
import random
from abc import ABC, abstractmethod
from collections.abc import Hashable

from evercrawl.importance.ledger.ledger import Ledger


class Order(ABC):
    """A rule that chooses the next page to visit."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    @abstractmethod
    def next(self) -> Hashable:
        """Return the page to visit next; the ledger must have one."""


class CycleOrder(Order):
    """Cyclic order: pages in order of discovery; pages found meanwhile come at the end of the round."""

    _turn = -1

    def next(self) -> Hashable:
        """Return the page after the one visited last."""
        names = self.ledger.cells.names
        self._turn = (self._turn + 1) % len(names)
        return names[self._turn]


class RandomOrder(Order):
    """Random order: every page is equally likely."""

    def __init__(self, ledger: Ledger, seed: int = 0) -> None:
        super().__init__(ledger)
        self._draw = random.Random(seed)

    def next(self) -> Hashable:
        """Return a page drawn at random."""
        return self._draw.choice(self.ledger.cells.names)


class GreedyOrder(Order):
    """Greedy order: the page with the most cash, or the first known of several; under push, the largest |residual|.

    There is a heap for each weight of the virtual page, ordered by keys, which do not change when the virtual page
    spends. An outdated entry is dropped when it comes to the top.

    Examples
    --------
    >>> from evercrawl.importance import AOPIC, Ledger
    >>> ledger = Ledger(AOPIC(tax=0.5))
    >>> ledger.add("a", cash=0.25), ledger.add("b", cash=0.75)
    (None, None)
    >>> greedy = GreedyOrder(ledger)
    >>> for _ in range(4):
    ...     page = greedy.next()
    ...     print(page, ledger.pages[page].cash)
    ...     ledger.visit(page, {"a": ["b"], "b": []}[page])
    b 0.75
    a 0.625
    b 0.84375
    a 0.578125

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._heaps: dict[float, list[tuple[float, int, Hashable]]] = {}
        self._number: dict[Hashable, int] = {}
        self._rebased = -1
        ledger.cells.watchers.append(self._noted)

    def next(self) -> Hashable:
        """Return the page with the most cash."""
        if self._rebased != self.ledger.cells.rebased:
            self._renew()
        level = 0 if self._signed else self.ledger.cells.level.height
        tops = [
            (heap[0][0] - weight * level, *heap[0][1:]) for weight, heap in self._heaps.items() if self._top(weight)
        ]
        return min(tops)[2]

    @property
    def _signed(self) -> bool:
        return not self.ledger.scheme.handout

    def _renew(self) -> None:
        self._rebased = self.ledger.cells.rebased
        self._heaps.clear()
        for name in self.ledger.cells.names:
            self._noted(name)

    def _noted(self, name: Hashable) -> None:
        weight, key = self._stand(name)
        heapq.heappush(self._heaps.setdefault(weight, []), (key, self._number_of(name), name))

    def _number_of(self, name: Hashable) -> int:
        for known in self.ledger.cells.names[len(self._number) :]:
            self._number[known] = len(self._number)
        return self._number[name]

    def _stand(self, name: Hashable) -> tuple[float, float]:
        """Return the heap of a page, and its key there."""
        page = self.ledger.pages[name]
        return (0, -abs(page.key)) if self._signed else (page.weight, -page.key)

    def _top(self, weight: float) -> bool:
        """Drop outdated entries from the top; return whether any entry is left."""
        heap = self._heaps[weight]
        while heap and self._stand(heap[0][2]) != (weight, heap[0][0]):
            heapq.heappop(heap)
        return bool(heap)


ORDERS: dict[str, type[Order]] = {"cycle": CycleOrder, "greedy": GreedyOrder, "random": RandomOrder}
