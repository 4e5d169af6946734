"""Importance worked out at once from all links: the yardstick for what is learned visit by visit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evercrawl.types import Floats, Ints

_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class Graph:
    """Pages 0 to n - 1 and their links.

    Attributes
    ----------
    pages
        n.
    source, target
        Of each link, shape (links,); one that stands there twice counts twice.
    out
        Links of each page, shape (n,).
    """

    pages: int
    source: Ints
    target: Ints
    out: Ints

    @classmethod
    def of(cls, pages: int, links: Iterable[tuple[int, int]], *, raw: bool = False) -> Graph:
        """Return the graph of some links; unless `raw`, without those to the page itself, and each once."""
        chosen = list(links) if raw else sorted({(source, target) for source, target in links if source != target})
        source, target = np.array(chosen, np.int64).reshape(-1, 2).T
        return cls(pages, source, target, np.bincount(source, minlength=pages))

    def pass_on(self, value: Floats, each: Floats) -> Floats:
        """Return what the pages get if each gives its value, times `each`, to each of its links; shape (n,)."""
        given = (value * each)[self.source]
        return np.bincount(self.target, given, self.pages).astype(np.float64)

    def pass_back(self, value: Floats) -> Floats:
        """Return the sum of the values of the pages that each page links to; shape (n,)."""
        return np.bincount(self.source, value[self.target], self.pages).astype(np.float64)


def solved(graph: Graph, source: Floats, each: Floats, tolerance: float = 1e-15) -> Floats:
    """Return the x for which x = source + xM, shape (n,), M[i, j] being `each[i]` for a link from i to j.

    Parameters
    ----------
    graph, source, each
        The links, what each page has of its own, and what a value of 1 gives to each link of the page; all of shape
        (n,). The rows of M have to sum to less than 1, at least along every path.
    tolerance
        Of the sum of |changes| in one step, in parts of the sum of x.
    """
    return _settled(lambda x: source + graph.pass_on(x, each), source, tolerance)


def damped(graph: Graph, tax: float = 0.15) -> Floats:
    """Return what a value of 1 gives to each link where the virtual page gets the tax; shape (n,).

    >>> damped(Graph.of(3, [(0, 1), (0, 2), (1, 0)]), tax=0.5)
    array([0.25, 0.5 , 0.5 ])
    """
    each: Floats = (1 - tax) / np.maximum(graph.out, 1)
    return each


def importance(graph: Graph, each: Floats, bias: Floats | None = None) -> Floats:
    """Return importance with a virtual page, which spends in proportion to `bias`; sums to 1, shape (n,).

    Where each page gives a part of what it has to the virtual page, it does not matter how much that page has to
    spend: x = bias + xM, up to a factor.

    Examples
    --------
    >>> star = Graph.of(3, [(1, 0), (2, 0)])
    >>> importance(star, damped(star, tax=0.5))
    array([0.5 , 0.25, 0.25])
    """
    found = solved(graph, np.full(graph.pages, 1 / graph.pages) if bias is None else bias, each)
    found /= found.sum()
    return found


def principal(step: Callable[[Floats], Floats], pages: int, tolerance: float = 1e-15) -> tuple[Floats, float]:
    """Return the direction that a linear step keeps, summing to 1, and its eigenvalue.

    The step is taken from x to x + step(x), which has the same direction and settles on graphs with a period too. Where
    there is more than one such direction, the one that the start leads to.

    Examples
    --------
    >>> principal(lambda x: x[::-1] * 3.0, 2)
    (array([0.5, 0.5]), 3.0)
    """
    start = np.arange(1.0, pages + 1)  # not the uniform vector, which a period would leave as it is

    def shifted(x: Floats) -> Floats:
        moved: Floats = x + step(x)
        moved /= moved.sum()
        return moved

    found = _settled(shifted, start / start.sum(), tolerance)
    return found, float(step(found).sum())


def patched(graph: Graph, each: Floats, part: float) -> tuple[Floats, float]:
    """Return importance where each page also gives `part` of its value to all pages evenly, and the eigenvalue.

    References
    ----------
    Abiteboul, Preda, Cobena (2003), section 2: small links between all pages, in place of a virtual page.
    """
    return principal(lambda x: graph.pass_on(x, each) + part * x.sum() / graph.pages, graph.pages)


def authority(graph: Graph) -> tuple[Floats, float]:
    """Return Kleinberg's authorities, and the eigenvalue: what the pages get that link to pages which get much."""
    ones = np.ones(graph.pages)
    return principal(lambda x: graph.pass_on(graph.pass_back(x), ones), graph.pages)


def _settled(step: Callable[[Floats], Floats], value: Floats, tolerance: float) -> Floats:
    for _ in range(_STEPS):
        value, before = step(value), value
        if np.abs(value - before).sum() <= tolerance * np.abs(value).sum():
            break
    return value
