"""The compiled loops over a whole graph once more, in plain Python: to be read, and to hold the others against."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.importance.offline import Graph
    from evercrawl.types import Floats


def push(graph: Graph, each: Floats, least: float, x: Floats, r: Floats) -> int:
    """Push every residual of more than `least` once, in the pages' order; return along how many links.

    Examples
    --------
    >>> import numpy as np
    >>> from evercrawl.importance.offline import Graph
    >>> graph, x, r = Graph.of(2, [(0, 1), (1, 0)]), np.zeros(2), np.ones(2)
    >>> push(graph, np.array([0.5, 0.5]), 0.0, x, r), x, r
    (2, array([1. , 1.5]), array([0.75, 0.  ]))
    """
    pushed = 0
    for page in range(graph.pages):
        if abs(r[page]) > least:
            moved, r[page] = r[page], 0.0
            x[page] += moved
            pushed += _pay(graph, page, moved * each[page], r)
    return pushed


def visit(
    graph: Graph, each: Floats, bias: Floats, cash: Floats, history: Floats, clock: Floats, order: Iterable[int]
) -> None:
    """Visit pages as OPIC does, whose virtual page spends what it gets at once, in proportion to `bias`.

    Parameters
    ----------
    graph, each, bias
        The links, what a value of 1 gives to each link of the page, and the virtual page's shares, which sum to 1.
    cash, history
        C, without what the virtual page has spent since the last rebase, and H; both are changed.
    clock
        What the virtual page has spent since then, and G; both are changed.
    order
        Whom to visit.
    """
    for page in order:
        moved = cash[page] + clock[0] * bias[page]
        cash[page] = -clock[0] * bias[page]
        history[page] += moved
        before = cash.sum()
        _pay(graph, page, moved * each[page], cash)
        clock += moved - (cash.sum() - before), moved


def _pay(graph: Graph, page: int, amount: float, to: Floats) -> int:
    row = slice(graph.start[page], graph.start[page + 1])
    for k, target in enumerate(graph.target[row].tolist(), row.start):
        to[target] += amount if k >= graph.leaving[page] else amount * graph.internal
    return int(row.stop - row.start)
