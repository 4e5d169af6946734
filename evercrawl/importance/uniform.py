"""Uniform: every page matters the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.importance.base import Importance

if TYPE_CHECKING:
    from evercrawl.types import Floats


class Uniform(Importance):
    """One share for each known page; the yardstick that every other scheme has to beat.

    Examples
    --------
    >>> Uniform().importance(np.array([0.5, 0.0]), known=4)
    array([0.25, 0.25])
    """

    def importance(self, cash: Floats, known: int) -> Floats:
        """Return 1 / known for each page."""
        return np.full(cash.shape, 1.0 / max(known, 1))
