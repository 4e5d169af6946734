"""Crawls that read each page once, in different orders, for comparison."""

from typing import Final

import numpy as np

from evercrawl.importance.offline import Graph, solve
from evercrawl.kernels import Library, address_table, pointer
from evercrawl.model.web.known_ranks import TAX, TOLERANCE, following
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

_KERNELS: Final = Library("evercrawl.lab.papers._collect_kernel")
_BREADTH, _IN_DEGREE, _OPIC, _RANK, _PUSH, _FIXED = range(6)
_KINDS: Final = {
    "breadth_first": _BREADTH, "in_degree": _IN_DEGREE, "opic": _OPIC, "pagerank": _RANK, "push": _PUSH,
    "random": _FIXED, "best": _FIXED,
}  # fmt: skip
_TIE: Final = 2.0**-33  # as in schedule.discovery
_SIZE, _KNOWN, _READ, _SOLVED = range(4)
_SOLVED_NOW: Final = ("pagerank", "push")

ORDERS: Final = ("breadth_first", "in_degree", "opic", "pagerank", "larger_sites", "push", "random", "best")
"""The orders of the policies of the same name. `push`, our default, solves the known links with a source on read pages.
`random` and `best`, the page with the highest true importance, are for comparison."""


def collect(web: Web, order: str, seeds: Ints, importance: Floats, seed: int = 0) -> Ints:
    """Return the pages that can be reached from `seeds`, in the order in which a crawl reads them.

    Parameters
    ----------
    web, seeds
        The web, and the pages that are known at first.
    order
        One of `ORDERS`; larger_sites needs a web with sites.
    importance
        The true importance, shape (n,); used only by the order `best`.
    seed
        The seed of the random order.

    Examples
    --------
    Page 0 links to pages 1 and 2, and page 2 to page 1 and page 3:

    >>> from evercrawl.simulate.graphs import Web
    >>> web = Web.of(4, np.array([0, 0, 2, 2]), np.array([1, 2, 1, 3]))
    >>> collect(web, "breadth_first", np.array([0]), np.zeros(4))
    array([0, 1, 2, 3])
    >>> collect(web, "best", np.array([0]), np.array([0.1, 0.2, 0.3, 0.4]))
    array([0, 2, 3, 1])
    """
    if order == "larger_sites":
        return _by_site(web, seeds)
    crawl = Collecting(web, _KINDS[order], seeds)
    if order in ("random", "best"):
        crawl.key[:] = np.random.default_rng((seed, 23)).random(web.pages) if order == "random" else importance
        crawl.rank()
    due = 1
    while order in _SOLVED_NOW and crawl.waiting:
        crawl.run(due)
        crawl.solve(everywhere=order == "pagerank")
        due = following(due)
    crawl.run(web.pages)
    return crawl.order


class Collecting:
    """A crawl by keys: the known unread page with the largest key is read next.

    Parameters
    ----------
    web, kind, seeds
        The web, the kind of key, and the pages known at first.

    Attributes
    ----------
    key
        The key of each page, shape (n,).
    """

    def __init__(self, web: Web, kind: int, seeds: Ints) -> None:
        n, count = web.pages, len(seeds)
        self._web, self._kind = web, kind
        self._page, self._place = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        self._found, self._read = np.full(n, -1), np.zeros(n, np.int32)
        self._state: Ints = np.array([count, count, 0, 0])
        self._spent, self._own = np.zeros(1), 0.0
        self.key: Floats = np.zeros(n)
        self._page[:count], self._place[seeds], self._found[seeds] = seeds, np.arange(count), np.arange(count)
        if kind in (_BREADTH, _IN_DEGREE):
            self.key[seeds] = -_TIE * np.arange(count)
        elif kind == _OPIC:
            self.key[seeds] = 1 / count
        self.rank()

    @property
    def waiting(self) -> int:
        """Number of known unread pages."""
        return int(self._state[_SIZE])

    @property
    def order(self) -> Ints:
        """The pages read so far, in order."""
        return self._read[: self._state[_READ]].astype(np.int64)

    def run(self, upto: int) -> None:
        """Read pages until `upto` pages have been read in all."""
        web, arrays = self._web, (self._page, self._place, self.key, self._found, self._read, self._state, self._spent)
        _KERNELS["collect"](
            address_table(web.start, web.target, *arrays), web.links, web.pages, self._kind, upto, TAX, self._own
        )

    def rank(self) -> None:
        """Reorder the heap after the keys have changed."""
        _KERNELS["heapify"](self._web.pages, *map(pointer, (self._page, self._place, self.key, self._state)))

    def solve(self, *, everywhere: bool) -> None:
        """Set the keys to the importance by known links, with a source on all known (`everywhere`) or on read pages."""
        known, read = self._found >= 0, self.order
        source = np.zeros(self._web.pages)
        source[known if everywhere else read] = 1 / known.sum() if everywhere else 1.0
        self.key = solve(known_links(self._web, read), TAX, source, TOLERANCE)
        if everywhere:
            self._own, self._state[_SOLVED] = 1 / known.sum(), known.sum()
        else:
            self.key[read] = 0.0  # read pages have passed on their cash
        self.rank()


def known_links(web: Web, read: Ints) -> Graph:
    """Return the graph of the links of read pages; all other pages have no links.

    >>> from evercrawl.simulate.graphs import Web
    >>> known_links(Web.of(3, np.array([0, 1, 2]), np.array([1, 2, 0])), np.array([2])).target
    array([0], dtype=uint32)
    """
    out = np.zeros(web.pages, np.int64)
    out[read] = web.out[read]
    start: Ints = np.concatenate([[0], np.cumsum(out)])
    kept = np.zeros(web.pages, np.bool_)
    kept[read] = True
    target = web.target[np.repeat(kept, web.out)].view(np.uint32)
    return Graph(start, target, start[:-1])


def _by_site(web: Web, seeds: Ints) -> Ints:
    assert web.site is not None, "the order larger_sites needs a web with sites"
    n, sites = web.pages, int(web.site.max()) + 1
    top, place = np.arange(sites, dtype=np.int32), np.arange(sites, dtype=np.int32)
    after, read, found = (np.full(n, -1, np.int32) for _ in range(3))
    head, tail, key = np.full(sites, -1, np.int32), np.full(sites, -1, np.int32), np.zeros(sites)
    site, roots, slots = web.site.astype(np.int32), seeds.astype(np.int32), found.astype(np.int64)
    done = _KERNELS["by_site"](
        address_table(web.start, web.target, site, roots), web.links, n, sites, len(roots),
        address_table(top, place, key, head, tail, after, read, slots),
    )  # fmt: skip
    return read[:done].astype(np.int64)
