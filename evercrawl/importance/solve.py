"""Importance at once from links that are all known: residuals are pushed in sweeps until the error is small enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.kernels import Library, pointer

if TYPE_CHECKING:
    from evercrawl.importance.offline.graph import Graph
    from evercrawl.types import Floats

_KERNELS: Final = Library("evercrawl.importance._push_kernel")
_SMALL: Final = 0.5  # residuals below this part of the mean wait for a later sweep
_FLOOR: Final = 2.0**-53  # nobody can ask for more than doubles hold
_SWEEPS: Final = 100_000
_PATIENCE: Final = 3  # sweeps in which the residuals may grow before sweeping is done without withdrawing


def solve(
    graph: Graph, tax: float = 0.15, bias: Floats | None = None, tolerance: float = 1e-9, start: Floats | None = None
) -> Floats:
    """Return the x for which x = bias + xM, shape (n,), where the virtual page gets the tax.

    Parameters
    ----------
    graph
        The links. A value of 1 gives (1 - tax) / out to each, times its weight.
    tax
        tau, more than 0.
    bias
        What the virtual page has for each page, not negative, shape (n,); by default 1 / n. Importance is x / sum(x).
    tolerance
        Of the sum of all errors, in parts of the sum of x.
    start
        Where to begin: what x was before some links changed.

    Examples
    --------
    >>> from evercrawl.importance.offline import Graph
    >>> solve(Graph.of(2, [(0, 1)]), tax=0.5, bias=np.array([1.0, 1.0]))
    array([1. , 1.5])

    References
    ----------
    Andersen, Chung, Lang (2006). Local graph partitioning using PageRank vectors. Hong (2012). D-iteration.
    """
    source = np.full(graph.pages, 1 / graph.pages) if bias is None else bias
    return solved(graph, source, (1 - tax) / np.maximum(graph.out, 1), tolerance, start)


def solved(graph: Graph, source: Floats, each: Floats, tolerance: float = 1e-15, start: Floats | None = None) -> Floats:
    """Return the x for which x = source + xM, shape (n,), M[i, j] being `each[i]` for a link from i to j.

    Parameters
    ----------
    graph, source, each
        The links, what each page has of its own, and what a value of 1 gives to each link of the page (of weight 1);
        all of shape (n,). The rows of M have to sum to less than 1, at least along every path.
    tolerance, start
        As in `solve`. Where some row sums to 1, or doubles do not hold what is asked, it ends when the residuals are
        as small as rounding lets them be.
    """
    work = _Residuals(graph, source, each, start)
    parts = max(tolerance * slack(graph, each), _FLOOR)
    size, before = work.renew(), math.inf
    while parts * work.x.sum() < size < before / 2:
        work.push(parts)
        before, size = size, work.renew()
    found: Floats = work.x + work.r  # one power step ahead of x
    return found


def slack(graph: Graph, each: Floats) -> float:
    """Return what the page that gives most of a value of 1 keeps; with the tax convention the tax.

    >>> from evercrawl.importance.offline import Graph
    >>> slack(Graph.of(3, [(0, 1), (0, 2), (1, 0)]), np.array([0.25, 0.75, 1.0]))
    0.25
    """
    return 1 - float(np.max(each * graph.weight, initial=0.0))


def residual(graph: Graph, source: Floats, each: Floats, x: Floats) -> Floats:
    """Return what is still to be pushed, r = source + xM - x, from the links alone; shape (n,).

    However r was damaged or lost, this is what it has to be. The sum of |r|, divided by `slack`, bounds the sum of all
    errors of x (theorem 2 of Andersen, Chung, Lang in another guise: |e| <= |r| (1 + (1 - tau) + (1 - tau)^2 ...)).
    """
    found = graph.pass_on(x, each)
    found += source
    found -= x
    return found


class _Residuals:
    """x and r = source + xM - x."""

    def __init__(self, graph: Graph, source: Floats, each: Floats, start: Floats | None) -> None:
        self._graph, self._source, self._each = graph, _doubles(source), _doubles(each)
        self._whole = float(self._source.sum())
        self.x = np.zeros(graph.pages) if start is None else np.array(start, np.float64)
        self.r = np.empty(0)

    def renew(self) -> float:
        """Work r out from the links; return the sum of |r|."""
        self.r = residual(self._graph, self._source, self._each, self.x)
        return self._withdraw(0.0)

    def push(self, parts: float) -> None:
        """Sweep until the sum of |r| is at most `parts` of the sum of x.

        After each sweep as much of the source is withdrawn as makes the residuals sum to 0, so that they cancel, which
        only scales the solution: it spares more than half of the sweeps. (Under greedy it would stall.)
        """
        size, left, patience = self._withdraw(0.0), 1.0, _PATIENCE
        for _ in range(_SWEEPS):
            self._sweep(_SMALL * size / self._graph.pages)
            part = float(self.r.sum()) / self._whole if patience and self._whole else 0.0
            part = part if part < left else 0.0
            left -= part
            before, size = size, self._withdraw(part)
            patience -= bool(patience) and size >= before
            if size <= parts * self.x.sum():
                break
        self.x /= left

    def _sweep(self, least: float) -> None:
        graph, each = self._graph, pointer(self._each)
        _KERNELS["push"](*graph.columns(), each, least, pointer(self.x), pointer(self.r))

    def _withdraw(self, part: float) -> float:
        size: float = _KERNELS["withdraw"](pointer(self.r), pointer(self._source), self._graph.pages, part)
        return size


def _doubles(numbers: Floats) -> Floats:
    return np.ascontiguousarray(numbers, np.float64)
