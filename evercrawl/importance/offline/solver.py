"""Importance from a complete graph of links: residuals are pushed in sweeps until the error is small enough."""

import math
from typing import Final

import numpy as np

from evercrawl.importance.offline.graph import Graph
from evercrawl.importance.offline.residuals import Residuals
from evercrawl.types import Floats

_FLOOR: Final = 2.0**-53  # the precision of doubles


def solve(
    graph: Graph, tax: float = 0.15, bias: Floats | None = None, tolerance: float = 1e-9, start: Floats | None = None
) -> Floats:
    """Return the solution of x = bias + xM, shape (n,), where the virtual page gets the tax.

    Parameters
    ----------
    graph
        The links. A value of 1 gives (1 - tax) / out to each, times its weight.
    tax
        tau, more than 0.
    bias
        Source of each page, not negative, shape (n,); by default 1 / n. Importance is x / sum(x).
    tolerance
        Greatest sum of all errors, in parts of the sum of x.
    start
        Initial x, such as the solution before some links changed.

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
    """Return the solution of x = source + xM, shape (n,), where M[i, j] is `each[i]` for a link from i to j.

    Parameters
    ----------
    graph, source, each
        The links; the source of each page; and what a value of 1 gives to each link (of weight 1) of the page, both of
        shape (n,). The rows of M must sum to less than 1, at least along every path.
    tolerance, start
        As in `solve`. If some row sums to 1, or the tolerance is below the precision of doubles, it ends when the
        residuals are as small as rounding allows.
    """
    work = Residuals(graph, source, each, start)
    parts = max(tolerance * slack(graph, each), _FLOOR)
    size, before = work.renew(), math.inf
    while parts * work.x.sum() < size < before / 2:
        work.push(parts)
        before, size = size, work.renew()
    found: Floats = work.x + work.r  # one power step ahead of x
    return found


def slack(graph: Graph, each: Floats) -> float:
    """Return the least part of its value that a page keeps; with the convention `tax` this is the tax.

    >>> from evercrawl.importance.offline import Graph
    >>> slack(Graph.of(3, [(0, 1), (0, 2), (1, 0)]), np.array([0.25, 0.75, 1.0]))
    0.25
    """
    return 1 - float(np.max(each * graph.weight, initial=0.0))
