"""Directions that a linear step keeps, by plain iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.importance.offline.graph import Graph
    from evercrawl.types import Floats

_STEPS: Final = 100_000


def principal(step: Callable[[Floats], Floats], pages: int, tolerance: float = 1e-15) -> tuple[Floats, float]:
    """Return the direction that a linear step keeps, summing to 1, and its eigenvalue.

    The step is taken from x to x + step(x), which has the same direction and settles on graphs with a period too. Where
    there is more than one such direction, the one that the start leads to.

    Parameters
    ----------
    step, pages
        From values to values, shape (n,), none of them negative; and n.
    tolerance
        Of the sum of |changes| in one step, in parts of the sum of x.

    Examples
    --------
    >>> principal(lambda x: x[::-1] * 3.0, 2)
    (array([0.5, 0.5]), 3.0)
    """
    value = np.arange(1.0, pages + 1)  # not the uniform vector, which a period would leave as it is
    value /= value.sum()
    for _ in range(_STEPS):
        before, value = value, value + step(value)
        value /= value.sum()
        if np.abs(value - before).sum() <= tolerance:
            break
    return value, float(step(value).sum())


def patched(graph: Graph, each: Floats, part: float) -> tuple[Floats, float]:
    """Return importance where each page also gives `part` of its value to all pages evenly, and the eigenvalue.

    References
    ----------
    Abiteboul, Preda, Cobena (2003), section 2: small links between all pages, in place of a virtual page.
    """
    return principal(lambda x: graph.pass_on(x, each) + part * x.sum() / graph.pages, graph.pages)
