"""Uniform: every page has the same importance."""

import numpy as np

from evercrawl.importance.base import Account, Importance, Links, Transfer
from evercrawl.types import Floats


class Uniform(Importance):
    """Equal importance of all pages, without cash: the baseline for every other scheme.

    Examples
    --------
    >>> Uniform().importance(np.array([0.5, 0.0]), np.zeros(2), np.zeros(2), total=1.0)
    array([1., 1.])
    """

    def visit(self, page: Account, held: Links | None, links: Links, total: float, *, same: bool) -> Transfer:
        """Move nothing."""
        return Transfer(0, page.history, page.mark)

    def remove(self, page: Account, held: Links | None, total: float) -> Transfer:
        """Move nothing."""
        return Transfer(0, 0, page.mark)

    def importance(
        self,
        cash: Floats,
        history: Floats,
        mark: Floats,
        total: float,
        kept: Floats | None = None,
        born: Floats | None = None,
        guess: float | None = None,
    ) -> Floats:
        """Return 1 for each page."""
        return np.ones(cash.shape)
