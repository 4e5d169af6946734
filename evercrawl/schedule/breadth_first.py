"""Breadth first: in the order of discovery, and then again in the order of the last visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.schedule.base import Policy

if TYPE_CHECKING:
    from evercrawl.schedule.base import Pages
    from evercrawl.types import Floats

_NEW = float(1 << 33)


class BreadthFirst(Policy):
    """Visit pages in the order in which they were found; when none is new, the one whose last visit is longest ago.

    Examples
    --------
    Slot 7 was never visited; of the other two, slot 3 was visited first.

    >>> from evercrawl.schedule import Pages
    >>> pages = Pages(np.array([5, 3, 7], np.uint32), np.array([200.0, 100.0, np.nan]), np.zeros(3))
    >>> BreadthFirst().value(pages, now=300.0).argsort()[::-1]
    array([2, 1, 0])

    References
    ----------
    Najork, Wiener (2001). Breadth-first crawling yields high-quality pages.
    """

    def value(self, pages: Pages, now: float) -> Floats:
        """Return a rank: new pages by smaller slot, then visited ones by the time they have waited (s)."""
        waited = now - pages.visited_at
        return np.where(np.isnan(waited), _NEW - pages.slot, waited - _NEW)
