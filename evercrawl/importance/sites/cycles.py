"""Strongly connected components of a graph, computed with whole arrays."""

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Ints


def cycles(nodes: int, source: Ints, target: Ints) -> Ints:
    """Return the strongly connected component of each node, shape (nodes,): the number of its last member.

    Orzan's colouring: the colour of a node is the largest number of a node from which it can be reached. The nodes of
    one colour from which the node of that number can be reached are its component.

    Examples
    --------
    >>> cycles(5, np.array([0, 1, 2, 2, 3]), np.array([1, 2, 0, 3, 4]))
    array([2, 2, 2, 3, 4])

    References
    ----------
    Orzan (2004). On distributed verification and verified distribution, section 2.6.
    """
    component = np.arange(nodes)
    while len(source):
        on_the_way = _has(nodes, source) & _has(nodes, target)  # other nodes are in no cycle
        kept = on_the_way[source] & on_the_way[target]
        source, target = source[kept], target[kept]
        if not kept.all():
            continue
        colour = _spread(np.arange(nodes), source, target)
        same = colour[source] == colour[target]
        source, target = source[same], target[same]
        inside = on_the_way & (_spread((colour == np.arange(nodes)).astype(np.int64), target, source) > 0)
        component[inside] = colour[inside]
        left = ~inside[source] & ~inside[target]
        source, target = source[left], target[left]
    return component


def _spread(value: Ints, source: Ints, target: Ints) -> Ints:
    """Return for each node the largest value of itself and of all nodes from which it can be reached."""
    while True:
        more = value.copy()
        np.maximum.at(more, target, value[source])
        if np.array_equal(more, value):
            return value
        value = more


def _has(nodes: int, ends: Ints) -> NDArray[np.bool_]:
    there = np.zeros(nodes, np.bool_)
    there[ends] = True
    return there
