"""Traps: greedy crawls of a web with an endless site, by distribution of the virtual page's cash."""

from heapq import heappop, heappush
from typing import Final, Literal, TypeAlias

import numpy as np

from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

TAX: Final = 0.15
NEW_LINKS: Final = 20
"""New URLs on each page of the trap."""

Spends: TypeAlias = Literal["known", "site", "read", "push"]
"""How the virtual page spends. `known`: equally on all known URLs. `site`: per site, within a site on all known URLs.
`read`: per site, within a site on read pages and the root. `push`: the same, as the constant source of push, which
never spends again."""

_NOBODY: Final = 0  # the group of pages that get nothing from the virtual page
_EMPTY: Final = -np.inf


class Trapped:
    """A greedy crawl of a web with a trap, from the roots of all sites.

    The trap is a site of its own. Some pages of the web link to its first page, and each of its pages links to 20 new
    ones.

    Parameters
    ----------
    web
        The honest web, with sites.
    doors
        Pages that link to the trap.
    spends
        How the virtual page spends.

    Attributes
    ----------
    visits, fallen
        Number of visits, and of those to the trap.
    known
        Number of known URLs.

    Examples
    --------
    >>> from evercrawl.simulate.graphs import sites
    >>> crawl = Trapped(sites(200, 1), np.array([3]), "read")
    >>> crawl.run(400)
    >>> crawl.visits, crawl.fallen < 40
    (400, True)
    """

    def __init__(self, web: Web, doors: Ints, spends: Spends) -> None:
        assert web.site is not None, "the roots are of sites"
        assert web.root is not None, "the roots are of sites"
        self._web, self._spends = web, spends
        self._doors = set(doors.tolist())
        self._site: list[int] = (web.site + 1).tolist()
        self._trap = len(web.root) + 1
        groups = 2 if spends == "known" else self._trap + 1
        self._group: dict[int, int] = {}  # of each known page
        self._key: dict[int, float] = {}  # cash of each known page, minus `_given` of its group
        self._given: Floats = np.zeros(groups)
        self._count: Floats = np.zeros(groups)
        self._top: Floats = np.full(groups, _EMPTY)
        self._low: Floats = np.full(groups, -_EMPTY)
        self._heaps: list[list[tuple[float, int]]] = [[] for _ in range(groups)]
        self._debts: list[list[tuple[float, int]]] = [[] for _ in range(groups)]  # under push, cash may be negative
        self._moved: Floats = np.zeros(web.pages)  # H (under push: x) of the honest pages
        self._next = web.pages  # the next new URL of the trap
        self.visits = self.fallen = 0
        for root in web.root.tolist():
            self._meet(root, 1 / len(web.root) if spends != "push" else 0.0, root=True)

    @property
    def known(self) -> int:
        """Number of known URLs."""
        return len(self._group)

    def left(self) -> float:
        """Return the unsettled cash, debts included, as a share of all initial cash; always 1 except under push."""
        count = len(self._key)
        key = np.fromiter(self._key.values(), np.float64, count)
        group = np.fromiter((self._group[page] for page in self._key), np.int64, count)
        sources = float((self._count[1:] > 0).sum()) if self._spends == "push" else 1.0
        return float(np.abs(key + self._given[group]).sum()) / max(sources, 1.0)

    def estimate(self) -> Floats:
        """Return the estimated importance of the honest pages up to a factor, shape (n,): cash passed on and held."""
        has = np.zeros(self._web.pages)
        for page, cash in self.cash().items():
            if page < self._web.pages:
                has[page] = cash
        found: Floats = np.maximum(self._moved + has, 0.0)
        return found

    def cash(self) -> dict[int, float]:
        """Return the cash of each known page, debts included; pages of the trap are numbered after those of the web."""
        return {page: key + float(self._given[self._group[page]]) for page, key in self._key.items()}

    def run(self, visits: int) -> None:
        """Visit the page with most cash, that many times; under push, the page with the largest cash or debt."""
        for _ in range(visits):
            self._visit(self.richest())

    def richest(self) -> int:
        """Return the page that is visited next: that with most cash, or under push that with the largest debt."""
        rich = self._top + self._given
        group = int(np.argmax(rich))
        if self._spends == "push":
            poor = self._low + self._given
            lowest = int(np.argmin(poor))
            if -poor[lowest] > rich[group]:
                return self._debts[lowest][0][1]
        return self._heaps[group][0][1]

    def _visit(self, page: int) -> None:
        self.visits += 1
        self.fallen += page >= self._web.pages
        self._join(page)
        group = self._group[page]
        cash = self._key[page] + float(self._given[group])
        self._put(page, group, -float(self._given[group]))
        if page < self._web.pages:
            self._moved[page] += cash
        links = self._links(page)
        share = (1 - TAX) * cash / max(len(links), 1)
        for target in links:
            self._gain(target, share)
        if self._spends != "push":
            self._spend(cash - share * len(links))

    def _links(self, page: int) -> list[int]:
        if page >= self._web.pages:
            first, self._next = self._next, self._next + NEW_LINKS
            return list(range(first, self._next))
        links: list[int] = self._web.target[self._web.start[page] : self._web.start[page + 1]].tolist()
        if page not in self._doors:
            return links
        if self._next == self._web.pages:
            self._next += 1  # the first page of the trap
        return [*links, self._web.pages]

    def _gain(self, page: int, amount: float) -> None:
        if page in self._group:
            self._put(page, self._group[page], self._key[page] + amount)
        else:
            self._meet(page, amount, root=page == self._web.pages)

    def _meet(self, page: int, cash: float, *, root: bool) -> None:
        """Make a page known."""
        self._group[page] = _NOBODY
        self._put(page, _NOBODY, cash)
        if root or self._spends in ("known", "site"):
            self._join(page)

    def _join(self, page: int) -> None:
        """Let the virtual page spend on a page from now on."""
        if self._group[page] != _NOBODY:
            return
        cash = self._key[page]
        group = 1 if self._spends == "known" else self._site[page] if page < self._web.pages else self._trap
        self._group[page] = group
        self._count[group] += 1
        count = float(self._count[group])
        if self._spends == "push":  # one more page shares the source of the site
            self._given[group] -= 1 / (count - 1) - 1 / count if count > 1 else 0.0
            cash += 1 / count
        self._clean(_NOBODY)
        self._put(page, group, cash - float(self._given[group]))

    def _spend(self, amount: float) -> None:
        there = self._count > 0
        self._given[there] += amount / there.sum() / self._count[there]

    def _put(self, page: int, group: int, key: float) -> None:
        self._key[page] = key
        heappush(self._heaps[group], (-key, page))
        if self._spends == "push":
            heappush(self._debts[group], (key, page))
        self._clean(group)

    def _clean(self, group: int) -> None:
        """Drop outdated entries from the top of a group's heaps."""
        rich, poor = self._heaps[group], self._debts[group]
        while rich and not self._stands(rich[0][1], group, -rich[0][0]):
            heappop(rich)
        while poor and not self._stands(poor[0][1], group, poor[0][0]):
            heappop(poor)
        self._top[group] = -rich[0][0] if rich else _EMPTY
        self._low[group] = poor[0][0] if poor else -_EMPTY

    def _stands(self, page: int, group: int, key: float) -> bool:
        return self._group[page] == group and self._key[page] == key
