"""Random: any page, as likely as any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.schedule.base import Policy

if TYPE_CHECKING:
    from evercrawl.schedule.base import Pages
    from evercrawl.types import Floats, Keys


class Random(Policy):
    """Visit pages by lot; every visit of a page is a new draw, and a seed draws the same again.

    Parameters
    ----------
    seed
        Another seed, other lots.

    Examples
    --------
    >>> from evercrawl.schedule import Pages
    >>> none = np.zeros(4)
    >>> pages = Pages(np.arange(4, dtype=np.uint32), none, none, none, none, none, none, none, none)
    >>> bool((Random(1).value(pages, 0.0) == Random(1).value(pages, 9.0)).all())
    True
    >>> bool((Random(1).value(pages, 0.0) == Random(2).value(pages, 0.0)).any())
    False
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = np.uint64(seed & 0xFFFFFFFFFFFFFFFF)

    def value(self, pages: Pages, now: float) -> Floats:
        """Return a number from 0 to 1 that depends on seed, page and last visit only."""
        last = np.where(np.isnan(pages.visited_at), -1.0, pages.visited_at).view(np.uint64)
        bits = _mixed(_mixed(pages.slot.astype(np.uint64) ^ self._seed) ^ last)
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(bits: Keys) -> Keys:
    """Return well spread bits (the finalizer of splitmix64)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
