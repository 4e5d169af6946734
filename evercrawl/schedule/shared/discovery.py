"""The base of discovery policies: unread pages first, in a policy-specific order; read pages wait their turn."""

from abc import abstractmethod
from typing import ClassVar, Final

import numpy as np

from evercrawl.schedule.abilities import Places
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

_READ: Final = float(1 << 33)  # seconds, more than any page has waited; subtracted to rank below all unread pages
_BITS: Final = 1022
_LEAST, _MOST = 2.0**-_BITS, 2.0**_BITS
_TIE: Final = 2.0**-33  # the difference by slots stays below half the difference of two promises


class UnreadFirst(Places, Policy):
    """Visit unread pages in a policy-specific order; if there are none, the page visited longest ago.

    The promise of a page changes with every page read. So many waiting pages are ranked again at each visit: all if
    fewer than `reviews` wait, otherwise each in turn.
    """

    reviews: ClassVar[int] = 64

    @abstractmethod
    def promise(self, pages: Pages) -> Floats:
        """Return the promise of unread pages, shape (n,), above -1e9; the rows of other pages are not used."""

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the promise of unread pages, and for read pages their waiting time minus 2^33 s."""
        waited = context.now - pages.visited_at
        return np.where(np.isnan(waited), self.promise(pages), waited - _READ)

    def place(self, page: Pages, context: Context) -> str:
        """Return the position of the page if it was read: after all unread pages."""
        return "" if np.isnan(page.visited_at[0]) else "after all pages never read"

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the instant of the last visit: the page that has waited longest comes first."""
        return pages.visited_at


def among_equals(worth: Floats) -> Floats:
    """Return numbers from 0 to below 1, shape (n,), that increase with the worth: they order otherwise equal pages.

    Examples
    --------
    >>> among_equals(np.array([1e-300, 1.0, 1.000001, 1e300])).argsort().tolist()
    [0, 1, 2, 3]
    """
    return (np.log2(np.clip(worth, _LEAST, _MOST)) + _BITS) / (2 * _BITS + 1)


def counted(count: Floats | None, pages: Pages) -> Floats:
    """Return an integer count per page as its promise; of equal pages the one found first has the higher promise."""
    assert count is not None, "the caller gathers the columns that the policy needs"
    found: Floats = count - pages.slot * _TIE
    return found
