"""Cycle: new pages first, then all others in turn; the round robin that serves as the baseline for all policies."""

from typing import ClassVar

import numpy as np

from evercrawl.schedule.abilities import Places
from evercrawl.schedule.base import Context, InvalidatedBy, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

_NEW = 1e12  # seconds: longer than any page has waited


class Cycle(Places, Policy):
    """Visit the page that has waited longest; unvisited pages come before all others.

    New pages of different hosts are equal, whereas breadth-first prefers the one found first. With one host and pages
    of equal importance this is uniform crawling: all pages are visited equally often.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none = np.zeros(3)
    >>> visited_at = np.array([200.0, 100.0, np.nan])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, none, none, none, none, none, none, none)
    >>> Cycle().value(pages, Context(300.0))
    array([1.e+02, 2.e+02, 1.e+12])

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, section 4.
    """

    in_order: ClassVar[bool] = True
    weighs: ClassVar[bool] = False
    invalidated_by: ClassVar[InvalidatedBy] = "nothing"

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the waiting time of each page (s)."""
        return np.where(np.isnan(pages.visited_at), _NEW, context.now - pages.visited_at)

    def place(self, page: Pages, context: Context) -> str:
        """Return the position of the page: before all read pages, or after all unread pages."""
        new = "before all pages that were read"
        return new if np.isnan(page.visited_at[0]) else "after all pages never read"

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the instant of the last visit: the page that has waited longest comes first."""
        return pages.visited_at
