"""The vectors of RPUC, and the page types derived from them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.shared.checked import update_ratio
from evercrawl.types import Floats, Ints

COMPONENTS = ("retrieval", "pagerank", "update", "click")
"""R, P, U, C: the columns of a vector and of the matrix of weights."""


class Types(NamedTuple):
    """The parameters of the page types.

    Attributes
    ----------
    matrix
        W, shape (types, 4): the weight of each component for a type.
    thresholds
        Minimum of the component of T = W V for a page to belong to the type, shape (types,).
    periods_s
        Time between two visits to a page of a type, shape (types,).
    """

    matrix: Floats
    thresholds: Floats
    periods_s: Floats


def vectors(
    retrieved: ArrayLike, cycles: ArrayLike, rank: ArrayLike, checks: ArrayLike, changes: ArrayLike,
    clicked: ArrayLike, shown: ArrayLike,
) -> Floats:  # fmt: skip
    """Return V = (R, P, U, C) of each page, shape (n, 4).

    Parameters
    ----------
    retrieved, cycles
        Number of search results with the page, in this many cycles since the page was inserted: R is their ratio.
    rank
        P, a PageRank that does not sum to one.
    checks, changes
        Number of checks n, and number of them that found a change x: U = -ln((n - x + 0.5) / (n + 0.5)).
    clicked, shown
        Number of clicks, and number of appearances: C is their ratio.

    Examples
    --------
    >>> vectors(33, 16, 0.5, 10, 4, 8, 20).round(4)
    array([[2.0625, 0.5   , 0.4796, 0.4   ]])

    References
    ----------
    Xiong et al. (2004), the RPUC paper: equations 4 to 9.
    """
    columns = (retrieved, cycles, rank, checks, changes, clicked, shown)
    r, m, p, n, x, c, h = (np.atleast_1d(np.asarray(column, np.float64)) for column in columns)
    return np.stack(np.broadcast_arrays(r / np.maximum(m, 1), p, update_ratio(n, x), c / np.maximum(h, 1)), axis=-1)


def components(matrix: ArrayLike, vector: ArrayLike) -> Floats:
    """Return T = W V of each page, shape (n, types).

    >>> components([[1.0, 0, 0, 0], [0, 0.5, 0.5, 0]], [[2.0, 1.0, 3.0, 0.0]])
    array([[2., 2.]])
    """
    found: Floats = np.asarray(vector, np.float64) @ np.asarray(matrix, np.float64).T
    return found


def primary(scores: ArrayLike) -> Ints:
    """Return the type with the largest component for each page, shape (n,); ties go to the first.

    >>> primary([[0.2, 0.7, 0.7], [0.9, 0.1, 0.1]])
    array([1, 0])
    """
    best: Ints = np.asarray(scores).argmax(axis=-1)
    return best


def queue(scores: Floats, thresholds: Floats, periods_s: Floats) -> Ints:
    """Return the queue of each page, shape (n,): of the types it belongs to, the one with the shortest period.

    A page belongs to every type whose component reaches the type's threshold; a page that belongs to none is in the
    queue of its primary type.

    Examples
    --------
    The first page belongs to both types, the second to the slow one, the third to none and by default to the first:

    >>> scores = np.array([[0.5, 0.9], [0.1, 0.9], [0.1, 0.0]])
    >>> queue(scores, np.array([0.4, 0.4]), np.array([10.0, 40.0]))
    array([0, 1, 0])
    """
    belongs = scores >= thresholds
    shortest = np.where(belongs, periods_s, np.inf).argmin(axis=-1)
    return np.where(belongs.any(axis=-1), shortest, primary(scores))
