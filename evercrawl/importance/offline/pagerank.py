"""PageRank: the stationary distribution of a surfer who follows links and now and then restarts."""

from typing import Literal

import numpy as np

from evercrawl.importance.offline.graph import Graph
from evercrawl.importance.offline.solver import solved
from evercrawl.types import Floats


def damped(graph: Graph, tax: float = 0.15) -> Floats:
    """Return what a value of 1 gives to each link if the virtual page gets the tax; shape (n,).

    >>> from evercrawl.importance.offline import Graph
    >>> damped(Graph.of(3, [(0, 1), (0, 2), (1, 0)]), tax=0.5)
    array([0.25, 0.5 , 0.5 ])
    """
    each: Floats = (1 - tax) / np.maximum(graph.out, 1)
    return each


def linked(graph: Graph) -> Floats:
    """Return what a value of 1 gives to each link if the virtual page is one more link; shape (n,).

    >>> from evercrawl.importance.offline import Graph
    >>> linked(Graph.of(3, [(0, 1), (0, 2), (0, 0), (1, 0)], raw=True))
    array([0.25, 0.5 , 1.  ])
    """
    each: Floats = 1 / (graph.out + 1)
    return each


def importance(graph: Graph, each: Floats, bias: Floats | None = None, tolerance: float = 1e-15) -> Floats:
    """Return importance with a virtual page that spends in proportion to `bias`; sums to 1, shape (n,).

    If each page gives a part of its value to the virtual page, the amount that the virtual page spends does not matter:
    x = bias + xM, up to a factor. Pages without links give it everything.

    Parameters
    ----------
    graph, each
        The links, and what a value of 1 gives to each link of weight 1: `damped` or `linked`, shape (n,).
    bias
        Source of each page, not negative, shape (n,); by default all equal.
    tolerance
        Greatest sum of all errors.

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
        The links, with or without a weight for those within a site.
    tax
        1 - the damping factor; ignored if the convention is `link`.
    bias
        Distribution of restarts, not negative, shape (n,); by default uniform. The surfer also restarts on pages
        without links, and for the part of a link's value that a weight within a site leaves out.
    convention
        `tax`: the surfer restarts with probability `tax`. `link`: a restart is one more link of each page.
    tolerance
        Greatest sum of all errors.

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
