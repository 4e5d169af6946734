"""Pages and links as arrays: compressed sparse rows (CSR), one row of links per page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels import Library, pointer
from evercrawl.types import Floats, Ints, Slots

_KERNELS: Final = Library("evercrawl.importance.offline._graph_kernel")


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Pages 0 to n - 1 and their links; a repeated link counts each time. 8 bytes per page, 4 per link.

    Attributes
    ----------
    start
        Start of each page's row of links, and the end of the last; shape (n + 1,).
    target
        Target of each link; shape (links,).
    leaving
        Start of the links to other sites within each row; shape (n,). All links count as such, unless `with_sites`.
    internal
        Weight of a link within a site; one to another site has 1.

    Examples
    --------
    >>> graph = Graph.of(3, [(0, 1), (0, 2), (1, 0)])
    >>> graph.start, graph.target
    (array([0, 2, 3, 3]), array([1, 2, 0], dtype=uint32))
    """

    start: Ints
    target: Slots
    leaving: Ints
    internal: float = 1.0

    @classmethod
    def of(cls, pages: int, links: Iterable[tuple[int, int]], *, raw: bool = False) -> Graph:
        """Return the graph of some links; unless `raw`, without self-links and with each link once."""
        pairs = np.array(list(links), np.int64).reshape(-1, 2)
        return cls.between(pages, pairs[:, 0], pairs[:, 1], raw=raw)

    @classmethod
    def between(
        cls, pages: int, source: NDArray[np.integer], target: NDArray[np.integer], *, raw: bool = False
    ) -> Graph:
        """Return the graph of links from `source` to `target`, both of shape (links,) and in any order.

        >>> Graph.between(2, np.array([1, 0, 1]), np.array([0, 0, 0])).target
        array([0], dtype=uint32)
        """
        origin, to = (_slots(numbers, pages) for numbers in (source, target))
        start, out = _starts(origin, pages), np.empty(len(to), np.uint32)
        free = start.copy()
        _KERNELS["place"](pointer(origin), pointer(to), len(to), pointer(free), pages, pointer(out))
        found = cls(start, out, start[:-1])
        return found if raw else found.tidied()

    @property
    def pages(self) -> int:
        """Number of pages, n."""
        return len(self.start) - 1

    @property
    def out(self) -> Ints:
        """Number of links of each page; shape (n,)."""
        return np.diff(self.start)

    @property
    def source(self) -> Ints:
        """Source of each link; shape (links,)."""
        return np.repeat(np.arange(self.pages), self.out)

    @property
    def weight(self) -> Floats:
        """Total weight of the links of each page; shape (n,). At most `out`."""
        return self.out - (1 - self.internal) * (self.leaving - self.start[:-1])

    def reversed(self) -> Graph:
        """Return the graph of the reversed links, without sites; rows are ascending."""
        start, out = _starts(self.target, self.pages), np.empty_like(self.target)
        free = start.copy()
        _KERNELS["turn"](pointer(self.start), pointer(self.target), self.pages, pointer(free), pointer(out))
        return Graph(start, out, start[:-1])

    def tidied(self) -> Graph:
        """Return the graph without self-links, duplicate links and sites."""
        found = self.reversed().reversed()
        left = _KERNELS["tidy"](pointer(found.start), pointer(found.target), self.pages)
        return replace(found, target=found.target[:left])

    def with_sites(self, site: NDArray[np.integer], internal: float, dynamic: NDArray[np.bool] | None = None) -> Graph:
        """Return the graph with a weight for links within a site, and for all links of pages made on demand.

        The rest of such a link's value goes to the virtual page, not to the other links.

        Parameters
        ----------
        site
            The number of the site of each page, shape (n,).
        internal
            The weight.
        dynamic
            Which pages are made on demand (calendars, listings, answers to questions), shape (n,); by default none.

        Examples
        --------
        >>> Graph.of(3, [(0, 1), (0, 2)]).with_sites(np.array([7, 7, 8]), 0.1).weight
        array([1.1, 0. , 0. ])
        """
        leaving, out = np.zeros(self.pages, np.int64), np.empty_like(self.target)
        of = np.ascontiguousarray(site, np.uint32)
        rows = pointer(self.start), pointer(self.target), self.pages
        _KERNELS["part"](*rows, pointer(of), pointer(leaving), pointer(out))
        if dynamic is not None:
            leaving[dynamic] = self.start[1:][dynamic]
        return Graph(self.start, out, leaving, internal)

    def pass_on(self, value: Floats, each: Floats) -> Floats:
        """Return what the pages get if each gives its value, times `each`, to each of its links; shape (n,)."""
        got = np.zeros(self.pages)
        has, share = (np.ascontiguousarray(numbers, np.float64) for numbers in (value, each))
        _KERNELS["give"](*self.columns(), pointer(has), pointer(share), pointer(got))
        return got

    def pass_back(self, value: Floats) -> Floats:
        """Return the sum of the values of the pages that each page links to, by weight; shape (n,)."""
        sums, has = np.empty(self.pages), np.ascontiguousarray(value, np.float64)
        _KERNELS["gather"](*self.columns(), pointer(has), pointer(sums))
        return sums

    def columns(self) -> tuple[object, ...]:
        """Return the arguments of kernels: start, leaving, target, n, weight of links within a site."""
        arrays = self.start, self.leaving, self.target
        return *(pointer(array) for array in arrays), self.pages, self.internal


def counted(numbers: Slots, pages: int) -> Ints:
    """Return how often each number below `pages` occurs; shape (pages,).

    >>> counted(np.array([2, 0, 2], np.uint32), 3)
    array([1, 0, 2])
    """
    out = np.zeros(pages, np.int64)
    _KERNELS["count"](pointer(numbers), len(numbers), pointer(out), pages)
    return out


def _starts(numbers: Slots, pages: int) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counted(numbers, pages))])


def _slots(numbers: NDArray[np.integer], pages: int) -> Slots:
    assert not len(numbers) or (numbers.min() >= 0 and numbers.max() < pages), "links lead to pages of the graph"
    return np.ascontiguousarray(numbers, np.uint32)
