"""A link graph that changes while it is visited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints, Spans

_KERNELS: Final = Library("evercrawl.lab.engine._rows_kernel")
_ROOM: Final = 1 << 16


@dataclass(slots=True)
class LinkRows:
    """Variable-length rows of pages in one array.

    Attributes
    ----------
    first, count, room
        Start, length (-1: never seen) and capacity of each row; shape (n,).
    target
        All rows, with room between them.
    end
        Start of the free part of `target`, shape (1,).

    Examples
    --------
    >>> rows = LinkRows.of(np.array([0, 2, 3]), np.array([5, 6, 7], np.int32))
    >>> rows.make_room(10)
    >>> rows.all(), len(rows.target) >= 13
    (array([5, 6, 7], dtype=int32), True)
    """

    first: Ints
    count: Spans
    room: Spans
    target: Spans
    end: Ints

    @classmethod
    def of(cls, start: Ints, target: Spans) -> LinkRows:
        """Return the rows of a compressed graph, without room."""
        count = np.diff(start).astype(np.int32)
        return cls(start[:-1].copy(), count, count.copy(), target, np.array([len(target)]))

    @classmethod
    def unseen(cls, pages: int) -> LinkRows:
        """Return rows that were never seen."""
        count = np.full(pages, -1, np.int32)
        return cls(np.zeros(pages, np.int64), count, np.zeros(pages, np.int32), np.empty(0, np.int32), np.zeros(1, int))

    def all(self) -> Spans:
        """Return the contents of all rows, concatenated; shape (sum of counts,)."""
        return self.target[self._places(np.maximum(self.count, 0))]

    def make_room(self, least: int) -> None:
        """Compact the rows, and leave room after them: as much as they take, plus `least`."""
        kept, self.room = self.all(), np.maximum(self.count, 0).astype(np.int32)
        self.first = np.cumsum(self.room, dtype=np.int64) - self.room
        self.target = np.empty(2 * len(kept) + least, np.int32)
        self.target[: len(kept)] = kept
        self.end = np.array([len(kept)])

    def arrays(self) -> tuple[Any, int]:
        """Return the arguments for kernels, valid until `make_room`: the arrays' addresses, and `target`'s length."""
        return address_table(self.first, self.count, self.room, self.target, self.end), len(self.target)

    def _places(self, count: Spans) -> Ints:
        after = np.cumsum(count, dtype=np.int64)
        return np.repeat(self.first - (after - count), count) + np.arange(after[-1] if len(after) else 0)


class ChangingWeb:
    """A graph in which some pages at times get twice, or lose half of, their in-links.

    New links are on random pages. A visit sees the links that the page has at that moment.

    Parameters
    ----------
    web
        The initial graph.
    seed
        The random seed of changes.

    Examples
    --------
    >>> from evercrawl.simulate.graphs import Web
    >>> living = ChangingWeb(Web.of(4, np.array([1, 2, 3]), np.array([0, 0, 0])))
    >>> living.change(np.array([0]), np.array([False]))
    >>> living.now().into
    array([2, 0, 0, 0])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section on synthetic data: pages
    whose in-degree is divided or multiplied by two while N pages are crawled.
    """

    def __init__(self, web: Web, seed: int = 0) -> None:
        self._web = web
        self._random = np.random.default_rng((seed, 7))
        self._state = np.array([self._random.integers(1 << 63)], np.uint64)
        self._into: LinkRows | None = None
        self.out = LinkRows.of(web.start, web.target)

    @property
    def pages(self) -> int:
        """Number of pages: n."""
        return self._web.pages

    def some_change(self, count: float) -> None:
        """Change that many random pages on average, in either way with equal probability."""
        number = int(count) + int(self._random.random() < count % 1)
        if number:
            self.change(self._random.integers(self.pages, size=number), self._random.random(number) < 0.5)

    def change(self, pages: Floats | np.ndarray, more: np.ndarray) -> None:
        """Double the links to those of `pages` for which `more` is true, halve those to the others."""
        into = self._grown()
        what, left, done = np.where(more, -1 - pages, pages).astype(np.int64), np.array([-1]), 0
        while True:
            rest = what[done:]
            done += _KERNELS["change"](
                *self.out.arrays(), *into.arrays(), self.pages, pointer(rest), len(rest), pointer(self._state),
                pointer(left),
            )  # fmt: skip
            if done == len(what):
                break
            self.out.make_room(_ROOM)
            into.make_room(_ROOM)

    def now(self) -> Web:
        """Return the present graph."""
        if self._into is None:
            return self._web
        source = np.repeat(np.arange(self.pages, dtype=np.int32), self.out.count)
        return Web.of(self.pages, source, self.out.all(), self._web.site, self._web.root)

    def _grown(self) -> LinkRows:
        """Return the in-links of each page, which only changes need; the given web is not modified."""
        if self._into is None:
            order = np.argsort(self._web.target, kind="stable")
            start = np.concatenate([[0], np.cumsum(self._web.into)])
            self._into = LinkRows.of(start, self._web.source[order])
            self.out.make_room(_ROOM)
            self._into.make_room(_ROOM)
        return self._into
