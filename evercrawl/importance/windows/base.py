"""What every window promises: what is kept of a page's visits, and what importance follows from it.

A window divides what counts of a page's cash by the G-time in which it came. Where a page has not been known for that
long, part of its window is missing: either the rest is divided by what there is of the window (the bias correction), or
a guess fills the gap, as `evercrawl.importance.newcomers` makes one for all newcomers together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final, Literal, NamedTuple, Self

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.types import Floats

TURN: Final = 2.3
"""G-time of one turn, as many visits as there are pages, in greedy order; in cycle it is 2.0, at random 1.0.

Regular visits find a page with twice the cash that it has on average, and all cash is 1. Where pages are many and few
of them are ever read, a turn is that of the pages that hold the cash.
"""

FEWEST: Final = 2
"""The fewest measures of a window that counts them: one has no beginning."""

LEAST: Final = 2.0**-10
"""The least part of a window that an estimate is made from: what came in no time at all says nothing of a rate."""


class Window(ABC):
    """What of a page's history still counts.

    Parameters
    ----------
    length
        T, in G-time: in units of all the cash there is. Windows that count measures have no use for it, except that a
        page of which nobody noted when it became known is taken to have been there for T before its first visit.
    """

    counts: ClassVar[Literal["cash", "measures", "nothing"]] = "cash"
    """What its size is a number of: units of all the cash there is (G-time), measures, or it has none."""

    exact: ClassVar[bool] = True
    """Whether a steady inflow is estimated as what it is, whenever the visits are; else up to one interval too high."""

    def __init__(self, length: float = 8.0) -> None:
        assert length > 0, "a window without length holds nothing"
        self.length = length

    @classmethod
    def sized(cls, size: float) -> Self:
        """Return a window of a size, in the unit that it `counts`."""
        return cls(size)

    def resize(self, length: float) -> None:
        """Set T, in G-time, from now on; what is kept of pages by then is taken for that of a window of this length."""
        assert length > 0, "a window without length holds nothing"
        self.length = length

    @property
    def width(self) -> int:
        """How many numbers it keeps of a page beside history and mark."""
        return 0

    @abstractmethod
    def add(self, page: Account, now: float) -> Past:
        """Return what is kept after a visit that moves all of `page.cash`, and with that brings the clock to `now`.

        What of the cash was put in rather than earned, `page.put_in`, counts in no window that has an end.
        """

    @abstractmethod
    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the importance of pages, shape (n,), as shares of all cash a unit of G: H/G, or h/w.

        Parameters
        ----------
        page
            What is kept of each page.
        cash
            Of each page now, shape (n,): it counts as well, so that a page that waits is not thought less of.
        total
            The clock G.
        guess
            The importance p that a page is thought to have had before it became known, (h + (T - w) p) / T. Without one
            each page is judged by itself, h/w, which makes a young one as uncertain as its window is short.
        """

    def shares(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the importance of all the pages that there are as shares of 1, shape (n,); arguments as of `now`."""
        return shared(self.now(page, cash, total, guess))

    def join(self, page: Account, other: Account, now: float) -> Past:
        """Return what is kept of a page that another turned out to be: its history counts as this one's.

        Nothing is moved: the cash of both waits on as this one's, so it is left out here, but for one thing. It came in
        all the time since the last visits; what is kept is such that from now on the window may take it to have come
        at once.

        What is missing of the window is what is missing of the longer past. Where both pages have been known for as
        long, the estimate at `now` is the sum of both; where one is younger, it earned nothing before it was known.

        Parameters
        ----------
        page, other
            With the cash that waits. One that has neither history nor cash changes nothing.
        now
            The clock G, not before either mark.
        """
        if not now or not (other.history or other.cash):  # nothing counts before the clock has moved
            return Past(page.history, page.mark, page.kept)
        return self._joined(page, other, now)

    def scaled(self, history: Any, kept: tuple[Any, ...], factor: float) -> dict[str, Any]:
        """Return `history` and `kept`, numbers or columns, with what is held in units of the length times a factor.

        Windows that keep measures hold nothing so; nor do those that have no end.
        """
        return {"history": history, "kept": kept}

    @abstractmethod
    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Return what `join` does, of pages of which the other has something."""

    def begun(self, now: float) -> Past:
        """Return what is kept of a page of which nothing counts that was before `now`."""
        return Past(0, now, (0,) * self.width)

    def _before(self, page: Account, now: float) -> Past:
        """Return what was kept before a visit; a page never read begins when it became known, if anybody noted that."""
        if not page.mark:
            return self.begun(page.born or max(now - self.length, 0))
        return Past(page.history, page.mark, page.kept or (0,) * self.width)

    def _visited(self, page: Account, now: float) -> Past:
        """Return what would be kept after a visit; of a page that has nothing, what is kept of one that begins."""
        return self.add(page, now) if page.history or page.cash else self.begun(now)

    def _since(self, page: Pasts, total: float) -> Floats:
        """Return when the interval began that each page is in, shape (n,); of pages never read as `_before` has it."""
        unread = np.where(page.born > 0, page.born, max(total - self.length, 0.0))
        return np.where(page.mark > 0, page.mark, unread)


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


def earned(*pages: Account) -> float:
    """Return the cash that pages have, without what was put in.

    >>> from evercrawl.importance.base import Account
    >>> earned(Account(0.5, 0.0), Account(0.5, 0.0, put_in=0.25))
    0.75
    """
    return sum(page.cash - page.put_in for page in pages)


def both(page: Past, other: Past, waits: float) -> Past:
    """Return the pasts of two pages as one, just after visits that in truth moved nothing of the cash, which waits.

    Parameters
    ----------
    page, other
        History and, as what else is kept, what is missing of the window.
    waits
        The cash, without what was put in.

    Examples
    --------
    >>> both(Past(1.0, 5.0, (0.5,)), Past(0.5, 5.0, (0.75,)), 0.25)
    Past(history=1.25, mark=5.0, kept=(0.5,))
    """
    return Past(page.history + other.history - waits, page.mark, tuple(map(min, page.kept, other.kept)))


def shared(found: Floats) -> Floats:
    """Return numbers that are not negative as shares of their sum.

    >>> shared(np.array([1.0, 3.0])), shared(np.zeros(2))
    (array([0.25, 0.75]), array([0., 0.]))
    """
    shares: Floats = found / max(float(found.sum()), np.finfo(np.float64).tiny)
    return shares


def weighed(counted: Floats, seen: Floats, guess: float | None) -> Floats:
    """Return importance from what was seen of a window, and a guess at the rest where there is one; shape (n,).

    Parameters
    ----------
    counted
        h/T, shape (n,).
    seen
        w/T, the part of the window in which the page was there, 0 to 1, shape (n,).
    guess
        p, or None.

    Examples
    --------
    A quarter of a window in which 0.02 came, T being 1; then the same where pages are thought to have had 0.04 before:

    >>> weighed(np.array([0.02]), np.array([0.25]), None), weighed(np.array([0.02]), np.array([0.25]), 0.04)
    (array([0.08]), array([0.05]))
    """
    if guess is None:
        return counted / np.maximum(seen, LEAST)
    filled: Floats = counted + (1 - seen) * guess
    return filled
