"""Which part of a page's cash each of its links gets: the rows of a matrix, read one at a time.

Importance is the direction that x -> xL keeps. Any matrix without negative entries will do that can be read row by row.
A row is divided by its sum, so that cash is neither made nor lost; what is computed is the fixpoint of the matrix so
*normalised*, which is that of L itself only where all rows of L have the same sum (`Kleinberg` does without).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import NamedTuple


class MatrixRow(NamedTuple):
    """What a page gives of `whole` to whom: numbers above 0; the virtual page gets what is left."""

    weights: dict[Hashable, float]
    whole: float


class Matrix(ABC):
    """A matrix without negative entries, whose row is read when its page is visited."""

    @abstractmethod
    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return the row of a page that has these links."""


class Weighted(Matrix):
    """Links as heavy as they are said to be, divided by their sum: the general case.

    Parameters
    ----------
    spare
        Weight of the link to the virtual page that each page has besides.

    Examples
    --------
    Links are given with their weights; without, each time that one stands there counts 1:

    >>> Weighted().row("a", {"b": 3, "c": 1, "d": 0})
    MatrixRow(weights={'b': 3, 'c': 1}, whole=4)
    >>> Weighted(spare=1).row("a", ["b", "c", "b"])
    MatrixRow(weights={'b': 2, 'c': 1}, whole=4)
    """

    def __init__(self, spare: float = 0) -> None:
        self.spare = spare

    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return the weights above 0, and their sum."""
        weights = _weights(links)
        assert all(weight >= 0 for weight in weights.values()), "a link cannot take cash away"
        return MatrixRow({to: weight for to, weight in weights.items() if weight}, sum(weights.values()) + self.spare)


class Google(Weighted):
    """1 / out for each other page that is linked to, however often.

    >>> Google().row("a", ["b", "c", "a", "b"])
    MatrixRow(weights={'b': 1, 'c': 1}, whole=2)
    """

    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return 1 for each."""
        return super().row(page, [to for to in dict.fromkeys(links) if to != page])


class Internal(Matrix):
    """Links within a site, or whichever links are doubtful, at a weight below 1.

    What they do not get goes to the virtual page, not to the other links: so a site cannot keep cash to itself.

    Parameters
    ----------
    doubtful
        Whether a link from one page to another is.
    weight
        Of such a link, from 0 to 1.

    Examples
    --------
    >>> Internal(lambda page, to: page[0] == to[0], weight=0.1).row("a1", ["a2", "b1"])
    MatrixRow(weights={'a2': 0.1, 'b1': 1}, whole=2)
    """

    def __init__(self, doubtful: Callable[[Hashable, Hashable], bool], weight: float = 0.1) -> None:
        self.doubtful = doubtful
        self.weight = weight

    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return `weight` for doubtful links, 1 for others, of as many as there are."""
        targets = [to for to in dict.fromkeys(links) if to != page]
        weights = {to: self.weight if self.doubtful(page, to) else 1 for to in targets}
        return MatrixRow({to: weight for to, weight in weights.items() if weight}, len(targets))


class Lazy(Matrix):
    """L + I: half of what a page would give stays with it.

    It has the vectors of L, and no period. Cash moved page by page has no need of that; iteration all at once has.
    With a tax a page's links get half as much for every visit, but the virtual page does not: the tax that leaves
    importance as a tax of tau has it is tau / (2 - tau).

    Examples
    --------
    >>> Lazy(Google()).row("a", ["b", "c"])
    MatrixRow(weights={'b': 1, 'c': 1, 'a': 2}, whole=4)
    """

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix

    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return the other's row, and as much again to the page itself."""
        weights, whole = self.matrix.row(page, links)
        whole = whole or 1  # without links, half goes to the virtual page
        return MatrixRow({**weights, page: weights.get(page, 0) + whole}, 2 * whole)


def tax_of_small_edges(size: float) -> float:
    """Return the tax that does what small edges between all pages do.

    L + size / n everywhere, its rows divided by their sums, is L with the part size / (1 + size) of all cash handed out
    evenly. So nobody has to visit n links a page: the virtual page does it, at once.

    >>> tax_of_small_edges(0.25)
    0.2

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 2; it uses 0.2.
    """
    return size / (1 + size)


def _weights(links: Iterable[Hashable]) -> dict[Hashable, float]:
    if isinstance(links, Mapping):
        return dict(links)  # pyright: ignore
    weights: dict[Hashable, float] = {}
    for to in links:
        weights[to] = weights.get(to, 0) + 1
    return weights
