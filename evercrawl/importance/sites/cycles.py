"""Which nodes of a graph are led back to: its strongly connected components, in whole arrays."""

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Ints


def cycles(nodes: int, source: Ints, target: Ints) -> Ints:
    """Return the strongly connected component of each node, shape (nodes,): the number of its last member.

    The colours of Orzan: the largest number of those from which a node can be reached is its colour. What leads to the
    node of that number and has its colour is in its component.

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
        on_the_way = _has(nodes, source) & _has(nodes, target)  # others are in no cycle
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
    """Return the largest value among those of each node and of all from which it can be reached."""
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
