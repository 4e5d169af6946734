"""Principal eigenvectors of a linear step, by iteration."""

from collections.abc import Callable
from typing import Final

import numpy as np

from evercrawl.importance.offline.graph import Graph
from evercrawl.types import Floats

_STEPS: Final = 100_000
_PATIENCE: Final = 10  # steps without a decrease of the observed error, which then is rounding
_LEAST: Final = 1e-300
_NOTHING: Final = 1e-14  # squared length that counts as 0: the other vectors span this one


def principal(
    step: Callable[[Floats], Floats], pages: int, tolerance: float = 1e-15, start: Floats | None = None
) -> tuple[Floats, float]:
    """Return the principal eigenvector of a linear step, summing to 1, and its eigenvalue.

    Each iteration goes from x to x + step(x), which has the same eigenvectors and also converges on periodic graphs. If
    there is more than one principal eigenvector, the start decides which is returned.

    Parameters
    ----------
    step, pages
        Linear function from values to values, shape (n,), none of them negative; and n.
    tolerance
        Greatest sum of |changes| in the last step, in parts of the sum of x.
    start
        Initial values, shape (n,); by default 1 to n.

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
    """Return approximately the principal eigenvector of a *symmetric* positive semidefinite step, shape (n,).

    Plain iteration needs a number of steps in proportion to 1 / gap, where gap is the one between the two largest
    eigenvalues. This takes the best vector in the span of the last direction, its error and the last change of
    direction, and needs a number in proportion to 1 / sqrt(gap).

    Parameters
    ----------
    step, pages
        As in `principal`.
    tolerance
        Greatest residual, step(x) less its part along x, in parts of the eigenvalue.

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
    rows = [_uneven(pages)]
    rows[0] /= np.sqrt(_product(rows[0], rows[0]))
    images = [step(rows[0])]
    least, waited = np.inf, 0
    while waited < _PATIENCE:
        factor = _product(rows[0], images[0])
        wrong = images[0] - factor * rows[0]
        size = float(np.sqrt(_product(wrong, wrong)))
        if size <= tolerance * factor:
            break
        least, waited = min(size, least), 0 if size < least else waited + 1
        wrong /= size
        rows.insert(1, wrong)
        images.insert(1, step(wrong))
        products = _products(rows, rows)
        best = _best(products, _products(rows, images))
        length = max(float(best[1:] @ products[1:, 1:] @ best[1:]), _LEAST) ** 0.5
        rows, images = (_mixed(vectors, best, length) for vectors in (rows, images))
    return rows[0]


def patched(graph: Graph, each: Floats, part: float) -> tuple[Floats, float]:
    """Return importance if each page also gives `part` of its value to all pages evenly, and the eigenvalue.

    References
    ----------
    Abiteboul, Preda, Cobena (2003), section 2: small links between all pages, in place of a virtual page.
    """
    return principal(lambda x: graph.pass_on(x, each) + part * x.sum() / graph.pages, graph.pages)


def _uneven(pages: int) -> Floats:
    """Return a start vector that is not uniform, since a periodic graph would leave a uniform one unchanged."""
    return np.arange(1.0, pages + 1)


def _best(products: Floats, images: Floats) -> Floats:
    """Return the shares of some vectors in that sum of them which a symmetric step makes longest; shape (vectors,).

    `products` are those of the vectors with each other, `images` those of the vectors with what the step makes of them.
    """
    sizes, axes = np.linalg.eigh(products)
    upright = (axes / np.sqrt(np.maximum(sizes, _NOTHING)))[:, sizes > _NOTHING]
    found: Floats = upright @ np.linalg.eigh(upright.T @ images @ upright)[1][:, -1]
    return found


def _mixed(vectors: list[Floats], shares: Floats, length: float) -> list[Floats]:
    """Return the sum of vectors, each times its share, and that of all but the first, by its length; in their place."""
    mixed, change, *others = vectors
    change *= shares[1]
    for vector, share in zip(others, shares[2:], strict=True):
        vector *= share
        change += vector
    mixed *= shares[0]
    mixed += change
    change /= length
    return [mixed, change]


def _products(vectors: list[Floats], others: list[Floats]) -> Floats:
    """Return the inner product of each with each other, where it does not matter which of the two comes first."""
    found = np.zeros((len(vectors), len(others)))
    for i, vector in enumerate(vectors):
        for j in range(i + 1):
            found[i, j] = found[j, i] = _product(vector, others[j])
    return found


def _product(vector: Floats, other: Floats) -> float:
    """Return the inner product, without threads, which cost more than they bring where other processes run."""
    return float(np.einsum("k,k->", vector, other))
