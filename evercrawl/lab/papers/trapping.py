"""Traps: greedy crawls of a web with a site of endless pages, by distribution of the virtual page's cash."""

from heapq import heappop, heappush
from typing import Final, Literal, TypeAlias

import numpy as np

from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

TAX: Final = 0.15
NEW_LINKS: Final = 20
"""New URLs on each page of the trap."""

Spends: TypeAlias = Literal["known", "site", "read", "push"]
"""On whom: all URLs known alike; all sites, and on each all URLs known; all sites, and on each the pages read and the
root; the last too, but as the constant source of push, that spends nothing anew."""

_NOBODY: Final = 0  # the group of pages for which the virtual page has nothing
_EMPTY: Final = -np.inf


class Trapped:
    """A greedy crawl of a web with a trap, from the roots of all sites on.

    The trap is a site of its own. Its first page is linked to by some pages of the web, and each of its pages links to
    20 that nobody saw before.

    Parameters
    ----------
    web
        The honest web, with sites.
    doors
        Pages that link to the trap.
    spends
        On whom the virtual page spends.

    Attributes
    ----------
    visits, fallen
        How many there were, and how many of them in the trap.
    known
        How many URLs are known.

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
        self._group: dict[int, int] = {}  # by page, where it is known
        self._key: dict[int, float] = {}  # its cash without what its group was given since
        self._given: Floats = np.zeros(groups)
        self._count: Floats = np.zeros(groups)
        self._top: Floats = np.full(groups, _EMPTY)
        self._low: Floats = np.full(groups, -_EMPTY)
        self._heaps: list[list[tuple[float, int]]] = [[] for _ in range(groups)]
        self._debts: list[list[tuple[float, int]]] = [[] for _ in range(groups)]  # under push, cash may be owed
        self._moved: Floats = np.zeros(web.pages)  # H, under push x, of the honest pages
        self._next = web.pages  # the URL that the trap makes up next
        self.visits = self.fallen = 0
        for root in web.root.tolist():
            self._meet(root, 1 / len(web.root) if spends != "push" else 0.0, root=True)

    @property
    def known(self) -> int:
        """How many URLs are known."""
        return len(self._group)

    def left(self) -> float:
        """Return how much there is to be passed on, debts too, in parts of all there was: 1, but under push."""
        count = len(self._key)
        key = np.fromiter(self._key.values(), np.float64, count)
        group = np.fromiter((self._group[page] for page in self._key), np.int64, count)
        sources = float((self._count[1:] > 0).sum()) if self._spends == "push" else 1.0
        return float(np.abs(key + self._given[group]).sum()) / max(sources, 1.0)

    def estimate(self) -> Floats:
        """Return what is thought of the honest pages, shape (n,): what they moved and have to move; up to a factor."""
        has = np.zeros(self._web.pages)
        for page, cash in self.cash().items():
            if page < self._web.pages:
                has[page] = cash
        found: Floats = np.maximum(self._moved + has, 0.0)
        return found

    def cash(self) -> dict[int, float]:
        """Return what each known page has to pass on, debts too; those of the trap come after all of the web."""
        return {page: key + float(self._given[self._group[page]]) for page, key in self._key.items()}

    def run(self, visits: int) -> None:
        """Visit the page with most to pass on, again and again; under push that may be a debt."""
        for _ in range(visits):
            self._visit(self.richest())

    def richest(self) -> int:
        """Return the page that is visited next: who has most to pass on, and under push who owes most."""
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
        """Let a page become known."""
        self._group[page] = _NOBODY
        self._put(page, _NOBODY, cash)
        if root or self._spends in ("known", "site"):
            self._join(page)

    def _join(self, page: int) -> None:
        """Let a page get of the virtual page's cash from now on."""
        if self._group[page] != _NOBODY:
            return
        cash = self._key[page]
        group = 1 if self._spends == "known" else self._site[page] if page < self._web.pages else self._trap
        self._group[page] = group
        self._count[group] += 1
        count = float(self._count[group])
        if self._spends == "push":  # the source of the site is shared with one page more
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
        """Drop what is out of date from the top of a group's heaps."""
        rich, poor = self._heaps[group], self._debts[group]
        while rich and not self._stands(rich[0][1], group, -rich[0][0]):
            heappop(rich)
        while poor and not self._stands(poor[0][1], group, poor[0][0]):
            heappop(poor)
        self._top[group] = -rich[0][0] if rich else _EMPTY
        self._low[group] = poor[0][0] if poor else -_EMPTY

    def _stands(self, page: int, group: int, key: float) -> bool:
        return self._group[page] == group and self._key[page] == key
