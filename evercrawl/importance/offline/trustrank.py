"""TrustRank: PageRank of a surfer who always restarts on trusted pages."""

import numpy as np
from numpy.typing import NDArray

from evercrawl.importance.offline.graph import Graph
from evercrawl.importance.offline.pagerank import pagerank
from evercrawl.types import Floats, Ints


def trustrank(graph: Graph, trusted: NDArray[np.integer], tax: float = 0.15, tolerance: float = 1e-12) -> Floats:
    """Return trust, which sums to 1; shape (n,). Pages that cannot be reached from trusted ones have none.

    Parameters
    ----------
    graph, tax, tolerance
        As in `pagerank`.
    trusted
        Numbers of the trusted pages, at least one; all equally trusted.

    Examples
    --------
    >>> from evercrawl.importance.offline import Graph
    >>> trustrank(Graph.of(4, [(0, 1), (2, 3), (3, 2)]), np.array([0]), tax=0.5)
    array([0.66666667, 0.33333333, 0.        , 0.        ])

    References
    ----------
    Gyongyi, Garcia-Molina, Pedersen (2004). Combating Web Spam with TrustRank, section 4.
    """
    bias = np.zeros(graph.pages)
    bias[trusted] = 1 / len(np.unique(trusted))
    return pagerank(graph, tax, bias, tolerance=tolerance)


def good_seeds(graph: Graph, count: int, tax: float = 0.15) -> Ints:
    """Return the pages from which most pages can be reached soon, best first, shape (count,), to be reviewed by hand.

    The measure is PageRank with all links reversed; of equal pages the one with the lower number comes first.

    >>> from evercrawl.importance.offline import Graph
    >>> good_seeds(Graph.of(4, [(3, 0), (3, 1), (0, 2)]), 2)
    array([3, 0])

    References
    ----------
    Gyongyi, Garcia-Molina, Pedersen (2004), section 4.3.1: inverse PageRank.
    """
    reach = pagerank(graph.reversed(), tax)
    return np.argsort(-reach, kind="stable")[:count]
