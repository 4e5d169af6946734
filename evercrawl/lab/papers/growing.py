"""OPIC on a web that is discovered link by link, or grows, so that there are always newcomers."""

from typing import Final

import numpy as np

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.newcomers import Newcomers, introduced
from evercrawl.importance.offline import solve
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.kernels import Library, address_table
from evercrawl.lab.papers.collecting import known_links
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

_KERNELS: Final = Library("evercrawl.lab.papers._growth_kernel")
_SOLVED: Final = 1e-6  # sum of the errors
_UNSPENT, _CLOCK, _FIRST, _AGES = range(4)
_START: Final = np.finfo(np.float64).tiny  # of what is known from G = 0 on, which would say that nobody noted it


class Growing:
    """Greedy visits from some seeds on; a page is known from the visit on that finds the first link to it.

    Parameters
    ----------
    web, seeds
        The whole web, and the pages that are known at first, which share all cash.
    length
        T of the exponential window that looks on.
    turn
        Pages come into being in this order, shape (n,): those whose number is below `there` are there.
    tax
        What goes to the virtual page of each visit's cash; it spends it at once, on all known pages alike.

    Attributes
    ----------
    there
        How many pages there are so far: all of them, where nobody says otherwise.
    born, mark
        The clock G when each page became known and when it was visited last, shape (n,); 0 for not yet.

    Examples
    --------
    >>> from evercrawl.simulate.graphs import Web
    >>> growing = Growing(Web.of(3, np.array([0, 1, 2]), np.array([1, 2, 0])), np.array([0]), 4.0, tax=0.5)
    >>> growing.run(1), growing.known.tolist(), growing.cash[:2].tolist()
    (1, [0, 1], [0.25, 0.75])
    """

    def __init__(self, web: Web, seeds: Ints, length: float, turn: Ints | None = None, tax: float = 0.15) -> None:
        n, count = web.pages, len(seeds)
        self._turn = np.zeros(n, np.int32) if turn is None else turn.astype(np.int32)
        self.there = n
        self._web, self._scheme = web, AOPIC(tax, window=Exponential(length))
        self._page, self._place = np.zeros(n, np.int32), np.full(n, -1, np.int32)
        self._key, self._put_in, self._history = np.zeros(n), np.zeros(n), np.zeros(n)
        self._missing, self.mark, self.born = np.ones(n), np.zeros(n), np.zeros(n)
        self._count, self._now = np.array([count]), np.zeros(4)
        self._page[:count], self._place[seeds] = seeds, np.arange(count)
        self._key[seeds] = self._put_in[seeds] = 1 / count
        self.born[seeds] = _START

    @property
    def total(self) -> float:
        """The clock G."""
        return float(self._now[_CLOCK])

    @property
    def length(self) -> float:
        """The window's T."""
        return self._scheme.window.length

    def now(self) -> Web:
        """Return the web as it is now; pages that are not there yet link nowhere, and nothing links to them."""
        web, here = self._web, self._turn < self.there
        kept = here[web.source] & here[web.target]
        return Web.of(web.pages, web.source[kept], web.target[kept])

    @property
    def known(self) -> Ints:
        """The pages that are known, in the order of their numbers."""
        return np.flatnonzero(self._place >= 0)

    @property
    def cash(self) -> Floats:
        """What each page has, shape (n,); 0 for those not known."""
        return np.where(self._place >= 0, self._key + self._now[_UNSPENT], 0.0)

    def run(self, visits: int, most: int | None = None) -> int:
        """Visit as often, or until `most` pages are known; return how often that was."""
        arrays = (
            self._page, self._place, self._key, self._put_in, self._history, self._missing, self.mark, self.born,
            self._count, self._now,
        )  # fmt: skip
        web, most = self._web, most or self._web.pages + 1
        done: int = _KERNELS["visit"](
            address_table(web.start, web.target, self._turn), web.links, web.pages, self.there, address_table(*arrays),
            visits, most, self._scheme.tax, self.length,
        )  # fmt: skip
        return done

    def newcomers(self) -> Ints:
        """Return the pages that became known within the last window, after the window was first full."""
        return np.flatnonzero((self._place >= 0) & (self.born > max(self.total - self.length, _START)))

    def at_first_visits(self) -> float:
        """Return what pages visited for the first time since one last asked had earned until then, a unit of G."""
        found = float(self._now[_FIRST] / max(self._now[_AGES], _START))
        self._now[_FIRST] = self._now[_AGES] = 0.0
        return found

    def seen(self) -> Newcomers:
        """Return what the rules ask for."""
        known = self.known
        unread = known[self.mark[known] == 0]
        alone = self._scheme.importance(*self._of(known))
        return Newcomers(
            cash=float((self.cash - self._put_in)[unread].sum()),
            ages=float((self.total - self.born[unread]).sum()),
            introduced=introduced(alone, self.born[known], self.total, self.length),
            pages=len(known),
        )

    def shares(self, guess: float | None) -> Floats:
        """Return the importance of each page as it is thought to be with a guess at newcomers, shape (n,).

        It sums to 1, and is 0 for pages that are not known.
        """
        found, known = np.zeros(self._web.pages), self.known
        found[known] = self._scheme.shares(*self._of(known), guess=guess)
        return found

    def solved(self) -> Floats:
        """Return the importance of each page by the links of the pages read, every page known having a source; (n,).

        It sums to 1, and is 0 for pages that are not known.
        """
        web, source = self.now(), np.zeros(self._web.pages)
        source[self.known] = 1.0
        found = solve(known_links(web, np.flatnonzero(self.mark > 0)), self._scheme.tax, source, _SOLVED)
        found = np.where(source > 0, found, 0.0)  # what came into being since a page was read nobody has seen yet
        shares: Floats = found / found.sum()
        return shares

    def _of(self, known: Ints) -> tuple[Floats, Floats, Floats, float, Floats, Floats]:
        earned = (self.cash - self._put_in)[known]
        return earned, self._history[known], self.mark[known], self.total, self._missing[known, None], self.born[known]
