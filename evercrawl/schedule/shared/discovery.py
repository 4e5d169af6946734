"""What policies for discovery share: pages never read come first, in whatever order; all others wait their turn."""

from abc import abstractmethod
from typing import ClassVar, Final

import numpy as np

from evercrawl.schedule.abilities import Places
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

_READ: Final = float(1 << 33)  # seconds, more than anybody waited; below the value of any page never read
_BITS: Final = 1022
_LEAST, _MOST = 2.0**-_BITS, 2.0**_BITS
_TIE: Final = 2.0**-33  # a slot counts for less than half of what tells two pages apart


class UnreadFirst(Places, Policy):
    """Visit pages never read in an order of their own; when there is none, the one whose last visit is longest ago.

    What a page promises changes with every page that is read. So of those that wait, many are ranked anew at each
    visit: all where fewer wait than `reviews`, and of more each in its turn.
    """

    reviews: ClassVar[int] = 64

    @abstractmethod
    def promise(self, pages: Pages) -> Floats:
        """Return what pages never read promise, shape (n,), above -1e9; the rows of others are not used."""

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return what pages promise, and for those that were read how long they waited, less 2^33 s."""
        waited = context.now - pages.visited_at
        return np.where(np.isnan(waited), self.promise(pages), waited - _READ)

    def place(self, page: Pages, context: Context) -> str:
        """Return where the page stands, if it was read: after those that were not."""
        return "" if np.isnan(page.visited_at[0]) else "after all pages never read"

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the instant of the last visit: who has waited longest is first."""
        return pages.visited_at


def among_equals(worth: Floats) -> Floats:
    """Return numbers from 0 to below 1, shape (n,), more for pages that are worth more: to order what is equal else.

    Examples
    --------
    >>> among_equals(np.array([1e-300, 1.0, 1.000001, 1e300])).argsort().tolist()
    [0, 1, 2, 3]
    """
    return (np.log2(np.clip(worth, _LEAST, _MOST)) + _BITS) / (2 * _BITS + 1)


def counted(count: Floats | None, pages: Pages) -> Floats:
    """Return a whole number of each page as what it promises; of equal ones the page found first promises more."""
    assert count is not None, "who gathers the columns asks what the policy needs"
    found: Floats = count - pages.slot * _TIE
    return found
