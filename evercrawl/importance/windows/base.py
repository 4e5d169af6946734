"""What every window promises: what is kept of a page's visits, and what importance follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evercrawl.importance.base import Account
    from evercrawl.types import Floats


class Past(NamedTuple):
    """What a window keeps of a page.

    Attributes
    ----------
    history
        The cash that still counts, in units in which `Window.now` divides by the window's length.
    mark
        The clock G at the last visit.
    kept
        Whatever else, as many numbers as the window's `width`.
    """

    history: float
    mark: float
    kept: tuple[float, ...] = ()


class Window(ABC):
    """What of a page's history still counts.

    Parameters
    ----------
    length
        T, in G-time: in units of all the cash there is. Windows that count measures have no use for it.
    """

    def __init__(self, length: float = 8.0) -> None:
        assert length > 0, "a window without length holds nothing"
        self.length = length

    @property
    def width(self) -> int:
        """How many numbers it keeps of a page beside history and mark."""
        return 0

    @abstractmethod
    def add(self, page: Account, now: float) -> Past:
        """Return what is kept after a visit that moves all of `page.cash`, and with that brings the clock to `now`."""

    @abstractmethod
    def now(self, page: Pasts, cash: Floats, total: float) -> Floats:
        """Return the importance of pages, shape (n,), as shares of all cash a unit of G: H/G, or h/w.

        Parameters
        ----------
        page
            What is kept of each page.
        cash
            Of each page now, shape (n,); where the estimate counts it, as if a visit were made now.
        total
            The clock G.
        """


class Pasts(NamedTuple):
    """What a window keeps of many pages: `Past`, in columns.

    Attributes
    ----------
    history, mark
        Shape (n,); 0 for pages that were never read.
    kept
        Shape (n, width).
    born
        The clock G when each became known, shape (n,); 0 where nobody noted it.
    """

    history: Floats
    mark: Floats
    kept: Floats
    born: Floats
