"""The interface of windows: the state kept of a page's visits, and the importance that follows from it.

A window divides the cash that still counts by the G-time in which it came. If a page has been known for less than the
window's length, part of its window is missing: either the cash is divided by the known part (the bias correction), or
a prior fills the gap; `evercrawl.importance.newcomers` estimates one for all new pages together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final, Literal, NamedTuple, Self

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.types import Floats

TURN: Final = 2.3
"""G-time of one turn (as many visits as there are pages) in greedy order; in cyclic order 2.0, in random order 1.0.

Regular visits find a page with twice the cash that it has on average, and all cash is 1. Where there are many pages and
only few are ever read, a turn is one of the pages that hold the cash.
"""

FEWEST: Final = 2
"""Least number of measures in a window that counts them: a single one has no beginning."""

LEAST: Final = 2.0**-10
"""Least part of a window to estimate from: cash that came in almost no time says nothing about a rate."""


class Window(ABC):
    """A window over a page's history.

    Parameters
    ----------
    length
        T, in G-time: in units of all the cash there is. Windows that count measures use it only for pages whose
        discovery was not recorded: these are taken to have been known for T before their first visit.
    """

    counts: ClassVar[Literal["cash", "measures", "nothing"]] = "cash"
    """The unit of the window's size: all the cash there is (G-time), measures, or none."""

    exact: ClassVar[bool] = True
    """Whether a steady inflow is estimated without bias, whenever the visits are; else up to one interval too high."""

    def __init__(self, length: float = 8.0) -> None:
        assert length > 0, "a window without length holds nothing"
        self.length = length

    @classmethod
    def sized(cls, size: float) -> Self:
        """Return a window of a size, in the unit that it `counts`."""
        return cls(size)

    def resize(self, length: float) -> None:
        """Set T, in G-time; the state kept of pages is from now on read as that of a window of this length."""
        assert length > 0, "a window without length holds nothing"
        self.length = length

    @property
    def width(self) -> int:
        """How many numbers the window keeps for a page beside history and mark."""
        return 0

    @abstractmethod
    def add(self, page: Account, now: float) -> Past:
        """Return the state after a visit that moves all of `page.cash` and so advances the clock to `now`.

        Initial cash, `page.put_in`, was not earned and counts in no window of finite length.
        """

    @abstractmethod
    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the importance of pages, shape (n,), as shares of all cash per unit of G: H/G, or h/w.

        Parameters
        ----------
        page
            The state kept of each page.
        cash
            Cash of each page now, shape (n,): it counts too, so that waiting for a visit does not lower an estimate.
        total
            The clock G.
        guess
            The prior importance p of a page before it became known, (h + (T - w) p) / T. With None each page is
            estimated from its own cash only, h/w, which is the noisier the shorter a page has been known.
        """

    def shares(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the importance of all pages as shares of 1, shape (n,); arguments as in `now`."""
        return shared(self.now(page, cash, total, guess))

    def join(self, page: Account, other: Account, now: float) -> Past:
        """Return the state of `page` after `other` turned out to be an alias of it: the histories are added.

        No cash is moved: the cash of both keeps waiting as this page's, so it is not counted here. But it came during
        the time since the last visits, and the state is set so that from now on the window may treat it as having come
        at once.

        The missing part of the window is that of the longer past. If both pages have been known for the same time, the
        estimate at `now` is the sum of both; a younger page counts as having earned nothing before it was known.

        Parameters
        ----------
        page, other
            Accounts of both, with their waiting cash. One that has neither history nor cash changes nothing.
        now
            The clock G, not before either mark.
        """
        if not now or not (other.history or other.cash):  # nothing counts before the clock has moved
            return Past(page.history, page.mark, page.kept)
        return self._joined(page, other, now)

    def scaled(self, history: Any, kept: tuple[Any, ...], factor: float) -> dict[str, Any]:
        """Return `history` and `kept`, numbers or columns, with the parts in units of the length times a factor.

        Windows that keep measures, and those without end, have no such parts.
        """
        return {"history": history, "kept": kept}

    @abstractmethod
    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Return the result of `join` for another page that has history or cash."""

    def begun(self, now: float) -> Past:
        """Return the state of a page whose window begins at `now`."""
        return Past(0, now, (0,) * self.width)

    def _before(self, page: Account, now: float) -> Past:
        """Return the state before a visit; an unread page begins when it became known, if that was recorded."""
        if not page.mark:
            return self.begun(page.born or max(now - self.length, 0))
        return Past(page.history, page.mark, page.kept or (0,) * self.width)

    def _visited(self, page: Account, now: float) -> Past:
        """Return the state after a visit at `now`; for a page without history or cash, the initial state."""
        return self.add(page, now) if page.history or page.cash else self.begun(now)

    def _since(self, page: Pasts, total: float) -> Floats:
        """Return the start of each page's current interval, shape (n,); for unread pages as in `_before`."""
        unread = np.where(page.born > 0, page.born, max(total - self.length, 0.0))
        return np.where(page.mark > 0, page.mark, unread)


class Pasts(NamedTuple):
    """The state that a window keeps for many pages: columns of `Past`.

    Attributes
    ----------
    history, mark
        Shape (n,); 0 for unread pages.
    kept
        Shape (n, width).
    born
        The clock G when each became known, shape (n,); 0 if that was not recorded.
    """

    history: Floats
    mark: Floats
    kept: Floats
    born: Floats


def earned(*pages: Account) -> float:
    """Return the total cash of pages, without initial cash.

    >>> from evercrawl.importance.base import Account
    >>> earned(Account(0.5, 0.0), Account(0.5, 0.0, put_in=0.25))
    0.75
    """
    return sum(page.cash - page.put_in for page in pages)


def both(page: Past, other: Past, waits: float) -> Past:
    """Return the pasts of two pages as one, computed as if both had just been visited, less their waiting cash.

    Parameters
    ----------
    page, other
        History and, in `kept`, the missing part of the window.
    waits
        The waiting cash of both, without initial cash.

    Examples
    --------
    >>> both(Past(1.0, 5.0, (0.5,)), Past(0.5, 5.0, (0.75,)), 0.25)
    Past(history=1.25, mark=5.0, kept=(0.5,))
    """
    return Past(page.history + other.history - waits, page.mark, tuple(map(min, page.kept, other.kept)))


def shared(found: Floats) -> Floats:
    """Return non-negative numbers as shares of their sum.

    >>> shared(np.array([1.0, 3.0])), shared(np.zeros(2))
    (array([0.25, 0.75]), array([0., 0.]))
    """
    shares: Floats = found / max(float(found.sum()), np.finfo(np.float64).tiny)
    return shares


def weighed(counted: Floats, seen: Floats, guess: float | None) -> Floats:
    """Return importance from the seen part of a window and, if there is one, a prior for the rest; shape (n,).

    Parameters
    ----------
    counted
        h/T, shape (n,).
    seen
        w/T, the part of the window in which the page was known, 0 to 1, shape (n,).
    guess
        p, or None.

    Examples
    --------
    A quarter of a window in which 0.02 came, with T = 1; then the same with a prior of 0.04:

    >>> weighed(np.array([0.02]), np.array([0.25]), None), weighed(np.array([0.02]), np.array([0.25]), 0.04)
    (array([0.08]), array([0.05]))
    """
    if guess is None:
        return counted / np.maximum(seen, LEAST)
    filled: Floats = counted + (1 - seen) * guess
    return filled
