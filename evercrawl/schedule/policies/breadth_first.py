"""Breadth first: new pages in the order of discovery, then visited pages in the order of their last visit."""

from typing import ClassVar

import numpy as np

from evercrawl.schedule.abilities import Places
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

_NEW = float(1 << 33)


class BreadthFirst(Places, Policy):
    """Visit pages in the order in which they were found; when none is new, the one whose last visit is longest ago.

    Examples
    --------
    Slot 7 was never visited; of the other two, slot 3 was visited first.

    >>> from evercrawl.schedule import Context, Pages
    >>> none = np.zeros(3)
    >>> visited_at = np.array([200.0, 100.0, np.nan])
    >>> pages = Pages(np.array([5, 3, 7], np.uint32), visited_at, none, none, none, none, none, none, none)
    >>> BreadthFirst().value(pages, Context(300.0)).argsort()[::-1]
    array([2, 1, 0])

    References
    ----------
    Najork, Wiener (2001). Breadth-first crawling yields high-quality pages.
    """

    in_order: ClassVar[bool] = True
    weighs: ClassVar[bool] = False

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return a rank: new pages by smaller slot, then visited pages by waiting time (s)."""
        waited = context.now - pages.visited_at
        return np.where(np.isnan(waited), _NEW - pages.slot, waited - _NEW)

    def place(self, page: Pages, context: Context) -> str:
        """Return the position of the page: before all read pages, or after all unread pages."""
        new = "before all pages that were read, in the order of discovery"
        return new if np.isnan(page.visited_at[0]) else "after all pages never read"

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the instant of the last visit: the page that has waited longest comes first."""
        return pages.visited_at
