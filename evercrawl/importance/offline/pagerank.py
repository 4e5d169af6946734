"""PageRank: what a surfer comes to who follows links, and now and then begins anew."""

from typing import Literal

import numpy as np

from evercrawl.importance.offline.graph import Graph
from evercrawl.importance.offline.solver import solved
from evercrawl.types import Floats


def damped(graph: Graph, tax: float = 0.15) -> Floats:
    """Return what a value of 1 gives to each link where the virtual page gets the tax; shape (n,).

    >>> from evercrawl.importance.offline import Graph
    >>> damped(Graph.of(3, [(0, 1), (0, 2), (1, 0)]), tax=0.5)
    array([0.25, 0.5 , 0.5 ])
    """
    each: Floats = (1 - tax) / np.maximum(graph.out, 1)
    return each


def linked(graph: Graph) -> Floats:
    """Return what a value of 1 gives to each link where the virtual page is one link more; shape (n,).

    >>> from evercrawl.importance.offline import Graph
    >>> linked(Graph.of(3, [(0, 1), (0, 2), (0, 0), (1, 0)], raw=True))
    array([0.25, 0.5 , 1.  ])
    """
    each: Floats = 1 / (graph.out + 1)
    return each


def importance(graph: Graph, each: Floats, bias: Floats | None = None, tolerance: float = 1e-15) -> Floats:
    """Return importance with a virtual page, which spends in proportion to `bias`; sums to 1, shape (n,).

    Where each page gives a part of what it has to the virtual page, it does not matter how much that page has to
    spend: x = bias + xM, up to a factor. Pages without links give it all.

    Parameters
    ----------
    graph, each
        The links, and what a value of 1 gives to each link of weight 1: `damped` or `linked`, shape (n,).
    bias
        Not negative, shape (n,); by default all equal.
    tolerance
        Of the sum of all errors.

    Examples
    --------
    >>> from evercrawl.importance.offline import Graph
    >>> star = Graph.of(3, [(1, 0), (2, 0)])
    >>> importance(star, damped(star, tax=0.5))
    array([0.5 , 0.25, 0.25])
    """
    found = solved(graph, np.full(graph.pages, 1 / graph.pages) if bias is None else bias, each, tolerance)
    found /= found.sum()
    return found


def pagerank(
    graph: Graph,
    tax: float = 0.15,
    bias: Floats | None = None,
    convention: Literal["tax", "link"] = "tax",
    tolerance: float = 1e-12,
) -> Floats:
    """Return PageRank, which sums to 1; shape (n,).

    Parameters
    ----------
    graph
        The links, with weights of those within a site or without.
    tax
        1 - the damping factor; of no account where the convention is `link`.
    bias
        Where the surfer begins anew, not negative, shape (n,); by default anywhere. He does so on pages without links
        too, and where the weight of a link within a site holds him back.
    convention
        `tax`: he begins anew with probability `tax`. `link`: he takes that for one link more of each page.
    tolerance
        Of the sum of all errors.

    Examples
    --------
    >>> from evercrawl.importance.offline import Graph
    >>> pagerank(Graph.of(2, [(0, 1)]), tax=0.5)
    array([0.4, 0.6])
    >>> pagerank(Graph.of(2, [(0, 1)]), convention="link")
    array([0.4, 0.6])

    References
    ----------
    Page, Brin, Motwani, Winograd (1999). The PageRank Citation Ranking. The convention `link`: Abiteboul, Preda,
    Cobena (2003), section 2.
    """
    return importance(graph, damped(graph, tax) if convention == "tax" else linked(graph), bias, tolerance)
