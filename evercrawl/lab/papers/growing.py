"""OPIC on a web that is discovered link by link, or grows, and therefore always has newcomers."""

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
_SOLVED: Final = 1e-6  # tolerance: sum of the errors
_UNSPENT, _CLOCK, _FIRST, _AGES = range(4)
_START: Final = np.finfo(np.float64).tiny  # stands for G = 0 in `born`, where 0 means "not yet known"


class Growing:
    """A greedy crawl from some seeds; a page becomes known at the visit that finds the first link to it.

    Parameters
    ----------
    web, seeds
        The whole web, and the pages that are known at first, which share all cash.
    length
        T of the exponential window that observes the crawl.
    turn
        The order in which pages are added, shape (n,): pages whose number is below `there` exist.
    tax
        Share of each visit's cash that goes to the virtual page, which spends it at once, equally on all known pages.

    Attributes
    ----------
    there
        Number of pages that exist so far (default: all).
    born, mark
        The clock G when each page became known and when it was last visited, shape (n,); 0 for not yet.

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
        """Return the current web; pages that do not exist yet have no links from or to them."""
        web, here = self._web, self._turn < self.there
        kept = here[web.source] & here[web.target]
        return Web.of(web.pages, web.source[kept], web.target[kept])

    @property
    def known(self) -> Ints:
        """The known pages, in the order of their numbers."""
        return np.flatnonzero(self._place >= 0)

    @property
    def cash(self) -> Floats:
        """The cash of each page, shape (n,); 0 for unknown pages."""
        return np.where(self._place >= 0, self._key + self._now[_UNSPENT], 0.0)

    def run(self, visits: int, most: int | None = None) -> int:
        """Make that many visits, or fewer if `most` pages become known; return the number of visits made."""
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
        """Return the cash per unit of G that pages had earned at their first visit, for visits since the last call."""
        found = float(self._now[_FIRST] / max(self._now[_AGES], _START))
        self._now[_FIRST] = self._now[_AGES] = 0.0
        return found

    def seen(self) -> Newcomers:
        """Return the input of the rules for newcomers."""
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
        """Return the estimated importance of each page, given a guess for newcomers; shape (n,).

        It sums to 1, and is 0 for unknown pages.
        """
        found, known = np.zeros(self._web.pages), self.known
        found[known] = self._scheme.shares(*self._of(known), guess=guess)
        return found

    def solved(self) -> Floats:
        """Return the importance of each page by the links of read pages, with a source on each known page; shape (n,).

        It sums to 1, and is 0 for unknown pages.
        """
        web, source = self.now(), np.zeros(self._web.pages)
        source[self.known] = 1.0
        found = solve(known_links(web, np.flatnonzero(self.mark > 0)), self._scheme.tax, source, _SOLVED)
        found = np.where(source > 0, found, 0.0)  # links to pages that were added after the read are not known yet
        shares: Floats = found / found.sum()
        return shares

    def _of(self, known: Ints) -> tuple[Floats, Floats, Floats, float, Floats, Floats]:
        earned = (self.cash - self._put_in)[known]
        return earned, self._history[known], self.mark[known], self.total, self._missing[known, None], self.born[known]
