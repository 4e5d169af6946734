"""Matrices that divide a page's cash among its links, read one row at a time.

Importance is the principal eigenvector of x -> xL. L may be any matrix without negative entries that can be read row by
row. Each row is divided by its sum, so that cash is conserved; the result is the fixpoint of this *normalised* matrix,
which is that of L only if all rows of L have the same sum (`Kleinberg` does not need that).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import NamedTuple


class MatrixRow(NamedTuple):
    """One row of a matrix: positive weights of the links, as parts of `whole`; the virtual page gets the rest."""

    weights: dict[Hashable, float]
    whole: float


class Matrix(ABC):
    """A matrix without negative entries; a row is read when its page is visited."""

    @abstractmethod
    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return the row of a page with the given links."""


class Weighted(Matrix):
    """Weights of links, divided by their sum: the general case.

    Parameters
    ----------
    spare
        Weight of an additional link of each page to the virtual page.

    Examples
    --------
    Links are given with their weights; without weights, each occurrence counts 1:

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
    """Google's matrix: 1 / out for each other page that is linked to, however often.

    >>> Google().row("a", ["b", "c", "a", "b"])
    MatrixRow(weights={'b': 1, 'c': 1}, whole=2)
    """

    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return 1 for each distinct target."""
        return super().row(page, [to for to in dict.fromkeys(links) if to != page])


class Internal(Matrix):
    """A weight below 1 for links within a site, or for any other doubtful links.

    The rest of their cash goes to the virtual page, not to the other links, so a site cannot keep its cash to itself.

    Parameters
    ----------
    doubtful
        Function that returns whether a link from one page to another is doubtful.
    weight
        Weight of a doubtful link, from 0 to 1.

    Examples
    --------
    >>> Internal(lambda page, to: page[0] == to[0], weight=0.1).row("a1", ["a2", "b1"])
    MatrixRow(weights={'a2': 0.1, 'b1': 1}, whole=2)
    """

    def __init__(self, doubtful: Callable[[Hashable, Hashable], bool], weight: float = 0.1) -> None:
        self.doubtful = doubtful
        self.weight = weight

    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return `weight` for doubtful links and 1 for others; `whole` is the number of links."""
        targets = [to for to in dict.fromkeys(links) if to != page]
        weights = {to: self.weight if self.doubtful(page, to) else 1 for to in targets}
        return MatrixRow({to: weight for to, weight in weights.items() if weight}, len(targets))


class Lazy(Matrix):
    """L + I: a page keeps half of what it would give.

    It has the eigenvectors of L, but no period. Iteration over all pages at once needs that; cash moved page by page
    does not. With a tax, a page's links get half as much at every visit, but the virtual page gets the same: a tax of
    tau / (2 - tau) gives the importance that L has with a tax of tau.

    Examples
    --------
    >>> Lazy(Google()).row("a", ["b", "c"])
    MatrixRow(weights={'b': 1, 'c': 1, 'a': 2}, whole=4)
    """

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix

    def row(self, page: Hashable, links: Iterable[Hashable]) -> MatrixRow:
        """Return the row of the wrapped matrix, with as much again for the page itself."""
        weights, whole = self.matrix.row(page, links)
        whole = whole or 1  # without links, half goes to the virtual page
        return MatrixRow({**weights, page: weights.get(page, 0) + whole}, 2 * whole)


def tax_of_small_edges(size: float) -> float:
    """Return the tax that is equivalent to small edges between all pages.

    L + size / n in every entry, with normalised rows, is L with the part size / (1 + size) of all cash handed out
    evenly. So no visit has to follow n links: the virtual page does it at once.

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
