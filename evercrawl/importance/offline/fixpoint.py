"""Directions that a linear step keeps, by iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.importance.offline.graph import Graph
    from evercrawl.types import Floats

_STEPS: Final = 100_000
_PATIENCE: Final = 10  # steps in which the error that can be seen does not get less, for it is rounding
_LEAST: Final = 1e-300
_NOTHING: Final = 1e-14  # what is left of the square of a vector's length where others span it


def principal(
    step: Callable[[Floats], Floats], pages: int, tolerance: float = 1e-15, start: Floats | None = None
) -> tuple[Floats, float]:
    """Return the direction that a linear step keeps, summing to 1, and its eigenvalue.

    The step is taken from x to x + step(x), which has the same direction and settles on graphs with a period too. Where
    there is more than one such direction, the one that the start leads to.

    Parameters
    ----------
    step, pages
        From values to values, shape (n,), none of them negative; and n.
    tolerance
        Of the sum of |changes| in one step, in parts of the sum of x.
    start
        Where to begin, shape (n,); by default 1 to n.

    Examples
    --------
    >>> principal(lambda x: x[::-1] * 3.0, 2)
    (array([0.5, 0.5]), 3.0)
    """
    value = _uneven(pages) if start is None else np.array(start, np.float64)
    value /= value.sum()
    for _ in range(_STEPS):
        before, value = value, value + step(value)
        value /= value.sum()
        if np.abs(value - before).sum() <= tolerance:
            break
    return value, float(step(value).sum())


def leap(step: Callable[[Floats], Floats], pages: int, tolerance: float = 1e-15) -> Floats:
    """Return nearly the direction that a *symmetric* step without negative eigenvalues keeps, shape (n,).

    Plain iteration needs a number of steps in proportion to 1 / gap, between the largest eigenvalue and the next; this
    takes the best of what the last direction, its error and the last change of direction span, and needs 1 / sqrt(gap).

    Parameters
    ----------
    step, pages
        As in `principal`.
    tolerance
        Of the error that can be seen, step(x) less its part along x, in parts of the eigenvalue.

    Examples
    --------
    >>> found = leap(lambda x: x * np.array([2.0, 3.0, 1.0]), 3)
    >>> np.abs(found).round(12)
    array([0., 1., 0.])

    References
    ----------
    Knyazev (2001). Toward the Optimal Preconditioned Eigensolver: Locally Optimal Block Preconditioned Conjugate
    Gradient, section 2; of one vector, not preconditioned.
    """
    basis = _uneven(pages)[None]
    basis /= _length(basis[0])
    image = step(basis[0])[None]
    least, waited = np.inf, 0
    while waited < _PATIENCE:
        factor = float(_products(basis[:1], image[:1])[0, 0])
        wrong = image[0] - factor * basis[0]
        size = _length(wrong)
        if size <= tolerance * factor:
            break
        least, waited = min(size, least), 0 if size < least else waited + 1
        wrong /= size
        rows, images = np.vstack([basis[:1], wrong, basis[1:]]), np.vstack([image[:1], step(wrong), image[1:]])
        products = _products(rows, rows)
        best = _best(products, _products(rows, images))[None]
        both = np.vstack([best, np.concatenate([[[0.0]], best[:, 1:]], 1)])  # the direction, and its last change
        lengths = np.einsum("ij,jk,ik->i", both, products, both)
        both /= np.sqrt(np.maximum(lengths, _LEAST))[:, None]
        basis, image = _mixed(both, rows), _mixed(both, images)
    found: Floats = basis[0]
    return found


def patched(graph: Graph, each: Floats, part: float) -> tuple[Floats, float]:
    """Return importance where each page also gives `part` of its value to all pages evenly, and the eigenvalue.

    References
    ----------
    Abiteboul, Preda, Cobena (2003), section 2: small links between all pages, in place of a virtual page.
    """
    return principal(lambda x: graph.pass_on(x, each) + part * x.sum() / graph.pages, graph.pages)


def _uneven(pages: int) -> Floats:
    """Return a vector to start from: not the uniform one, which a period would leave as it is."""
    return np.arange(1.0, pages + 1)


def _best(products: Floats, images: Floats) -> Floats:
    """Return the shares of some vectors in that sum of them which a symmetric step makes longest; shape (vectors,).

    `products` are those of the vectors with each other, `images` those of the vectors with what the step makes of them.
    """
    sizes, axes = np.linalg.eigh(products)
    upright = (axes / np.sqrt(np.maximum(sizes, _NOTHING)))[:, sizes > _NOTHING]
    across = upright.T @ images @ upright
    found: Floats = upright @ np.linalg.eigh((across + across.T) / 2)[1][:, -1]
    return found


# Threads of BLAS cost more than they bring where other processes run, so it is left alone


def _length(row: Floats) -> float:
    return float(np.sqrt(np.einsum("k,k->", row, row)))


def _products(rows: Floats, others: Floats) -> Floats:
    """Return the inner product of each row with each other."""
    found: Floats = np.array([[np.einsum("k,k->", row, other) for other in others] for row in rows])
    return found.reshape(len(rows), len(others))


def _mixed(shares: Floats, rows: Floats) -> Floats:
    """Return sums of rows, each times its share."""
    found = np.zeros((len(shares), rows.shape[1]))
    for to, some in zip(found, shares, strict=True):
        for share, row in zip(some, rows, strict=True):
            to += share * row
    return found
