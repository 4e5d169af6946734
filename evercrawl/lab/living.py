"""A web of links that changes while it is visited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.kernels import Library, pointer
from evercrawl.lab.rows import Rows
from evercrawl.simulate.graphs.base import Web

if TYPE_CHECKING:
    from evercrawl.types import Floats

_KERNELS: Final = Library("evercrawl.lab._rows_kernel")
_ROOM: Final = 1 << 16


class LivingWeb:
    """A web some of whose pages get twice, or lose half of, the links to them now and then.

    New links stand on any pages. Whoever visits a page sees the links that stand on it at that moment.

    Parameters
    ----------
    web
        How it is at first.
    seed
        Decides what changes, and how.

    Examples
    --------
    >>> from evercrawl.simulate.graphs import Web
    >>> living = LivingWeb(Web.of(4, np.array([1, 2, 3]), np.array([0, 0, 0])))
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
        self._into: Rows | None = None
        self.out = Rows.of(web.start, web.target)

    @property
    def pages(self) -> int:
        """How many pages there are: n."""
        return self._web.pages

    def some_change(self, count: float) -> None:
        """Let that many pages change on the mean, any ones, each in one of the two ways with equal chances."""
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
                *self.out.pointers(), *into.pointers(), self.pages, pointer(rest), len(rest), pointer(self._state),
                pointer(left),
            )  # fmt: skip
            if done == len(what):
                break
            self.out.make_room(_ROOM)
            into.make_room(_ROOM)

    def now(self) -> Web:
        """Return the web as it is now."""
        if self._into is None:
            return self._web
        source = np.repeat(np.arange(self.pages, dtype=np.int32), self.out.count)
        return Web.of(self.pages, source, self.out.all(), self._web.site, self._web.root)

    def _grown(self) -> Rows:
        """Return the links into each page, which only change asks for; the web given stays as it is."""
        if self._into is None:
            order = np.argsort(self._web.target, kind="stable")
            start = np.concatenate([[0], np.cumsum(self._web.into)])
            self._into = Rows.of(start, self._web.source[order])
            self.out.make_room(_ROOM)
            self._into.make_room(_ROOM)
        return self._into
