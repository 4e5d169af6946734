"""HITS hubs and authorities, and the in-degree.

Good hubs link to good authorities, and good authorities are linked to by good hubs. The in-degree is the number of
links to a page.
"""

import numpy as np

from evercrawl.importance.offline.fixpoint import leap, principal
from evercrawl.importance.offline.graph import Graph, counted
from evercrawl.types import Floats, Ints


def in_degree(graph: Graph) -> Ints:
    """Return the number of links to each page, whatever their weight; shape (n,).

    >>> from evercrawl.importance.offline import Graph
    >>> in_degree(Graph.of(3, [(0, 2), (1, 2), (2, 1)]))
    array([0, 1, 2])
    """
    return counted(graph.target, graph.pages)


def hits(graph: Graph, tolerance: float = 1e-15) -> tuple[Floats, Floats]:
    """Return hub and authority values, each summing to 1, shape (n,); all 0 if there are no links.

    Examples
    --------
    >>> from evercrawl.importance.offline import Graph
    >>> hits(Graph.of(3, [(0, 2), (1, 2)]), 1e-12)
    (array([0.5, 0.5, 0. ]), array([0., 0., 1.]))

    References
    ----------
    Kleinberg (1999). Authoritative Sources in a Hyperlinked Environment.
    """
    if not len(graph.target):
        return np.zeros(graph.pages), np.zeros(graph.pages)
    good, _ = authority(graph, tolerance)
    hubs = graph.pass_back(good)
    hubs /= hubs.sum()
    return hubs, good


def authority(graph: Graph, tolerance: float = 1e-15) -> tuple[Floats, float]:
    """Return Kleinberg's authority values, and the eigenvalue."""
    ones = np.ones(graph.pages)

    def step(x: Floats) -> Floats:
        return graph.pass_on(graph.pass_back(x), ones)

    near = np.abs(leap(step, graph.pages, tolerance))
    return principal(step, graph.pages, tolerance, near)
