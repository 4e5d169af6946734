"""In-degree: how many links lead to a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.importance.offline.graph import Graph, counted

if TYPE_CHECKING:
    from evercrawl.types import Ints


def in_degree(graph: Graph) -> Ints:
    """Return how many links lead to each page, whatever their weight; shape (n,).

    >>> from evercrawl.importance.offline import Graph
    >>> in_degree(Graph.of(3, [(0, 2), (1, 2), (2, 1)]))
    array([0, 1, 2])
    """
    return counted(graph.target, graph.pages)
