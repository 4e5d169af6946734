"""OPIC over a graph that is known, at machine speed: what the experiments visit hundreds of millions of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from evercrawl.importance.offline.solver import slack
from evercrawl.kernels import Library, pointer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.importance.offline.graph import Graph
    from evercrawl.types import Floats

_KERNELS: Final = Library("known_graph._sweep_kernel")

Known: TypeAlias = Literal["history", "paper", "identity"]


class OPIC:
    """Cash and history of all pages; the virtual page spends what it gets at once, which costs nothing a page.

    Parameters
    ----------
    graph
        The links.
    each
        What a value of 1 gives to each link of weight 1 of the page, shape (n,): `offline.damped`, `offline.linked`.
        Those of a page may not give more than it has.
    bias
        How the virtual page spends, and how the cash lies at the start; summing to 1, shape (n,). By default evenly.

    Attributes
    ----------
    history
        H, shape (n,).

    Examples
    --------
    Of two pages with half of the cash each, the first keeps nothing, gives a quarter of 1 to the other, and the virtual
    page spends the other quarter on both:

    >>> from evercrawl.importance.offline import Graph, damped
    >>> graph = Graph.of(2, [(0, 1), (1, 0)])
    >>> opic = OPIC(graph, damped(graph, tax=0.5))
    >>> opic.visit(np.array([0]))
    >>> opic.cash, opic.history, opic.total
    (array([0.125, 0.875]), array([0.5, 0. ]), 0.5)
    >>> opic.cycle(100)
    >>> opic.importance()
    array([0.5, 0.5])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """

    def __init__(self, graph: Graph, each: Floats, bias: Floats | None = None) -> None:
        self.graph = graph
        self._each = np.ascontiguousarray(each, np.float64)
        self._bias = np.full(graph.pages, 1 / graph.pages) if bias is None else np.array(bias, np.float64)
        self._key = self._bias.copy()  # the cash, without what the virtual page has spent since the last rebase
        self.history = np.zeros(graph.pages)
        self._clock = np.zeros(2)  # what it has spent since, and G
        self._visits = 0

    @property
    def total(self) -> float:
        """The clock G: all cash moved so far, in units of all the cash there is."""
        return float(self._clock[1])

    @property
    def cash(self) -> Floats:
        """C, shape (n,); it sums to 1."""
        found: Floats = self._key + self._clock[0] * self._bias
        return found

    def cycle(self, times: int = 1) -> None:
        """Visit all pages in their order, so many times."""
        for _ in range(times):
            _KERNELS["cycle"](*self._columns())
            self._rebase()

    def visit(self, order: NDArray[np.integer]) -> None:
        """Visit pages in the order given; any number of them, and any as often as it stands there."""
        assert not len(order) or (order.min() >= 0 and order.max() < self.graph.pages), "pages of the graph"
        slots = np.ascontiguousarray(order, np.uint32)
        for begin in range(0, len(slots), self.graph.pages):  # a rebase in between keeps sums exact
            some = slots[begin : begin + self.graph.pages]
            _KERNELS["visit"](*self._columns(), pointer(some), len(some))
            self._visits += len(some)
            if self._visits >= self.graph.pages:
                self._rebase()

    def importance(self, estimate: Known = "identity") -> Floats:
        """Return shares of 1, shape (n,), by H, by H + C, or by H + C - C0, which is a power step ahead of H."""
        found = self.history if estimate == "history" else self.history + self.cash
        found = found - self._bias if estimate == "identity" else found
        return np.asarray(found / found.sum())

    def certificate(self) -> float:
        """Return at most how far H / G is from importance: the sum of all errors; it shrinks as 1 / G.

        The lemma says that C - C0 is what history lacks, and nothing lasts longer than all of it taxed away.
        """
        missing = float(np.abs(self.cash - self._bias).sum())
        return missing / (slack(self.graph, self._each) * self.total) if missing else 0.0

    def _columns(self) -> tuple[object, ...]:
        arrays = self._each, self._bias, self._key, self.history, self._clock
        return *self.graph.columns(), *(pointer(array) for array in arrays)

    def _rebase(self) -> None:
        """Pay out what the virtual page has spent, page by page; small differences of large numbers get lost else."""
        self._key += self._clock[0] * self._bias
        self._clock[0], self._visits = 0.0, 0
