"""OPIC and push on link graphs, at millions of visits per second."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.lab.engine.living import ChangingWeb, LinkRows
from evercrawl.lab.engine.picking import Picker
from evercrawl.lab.engine.visiting import Engine, Moves, VisitWatcher
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

__all__ = ["Engine", "Moves", "OpicEngine", "PushEngine", "VisitWatcher"]

_OPIC: Final = Library("evercrawl.lab.engine._opic_kernel")
_PUSH: Final = Library("evercrawl.lab.engine._push_kernel")
_ROOM: Final = 1 << 16


class OpicEngine(Engine):
    """OPIC with a scalar virtual page, whose spending is implicit in every page's cash.

    Parameters
    ----------
    web, picker, tax
        The graph, the order (greedy by default), and the share of each visit's cash that goes to the virtual page.
    watchers
        The watchers.
    given
        Initial cash C0 of each page, shape (n,), summing to 1; by default 1 / n.
    link
        Whether every page has one more link, to the virtual page; `tax` must then be 0.

    Examples
    --------
    Two pages that link to each other, visited in turn:

    >>> from evercrawl.simulate.graphs import Web
    >>> from evercrawl.lab.engine.picking import CyclePicker
    >>> opic = OpicEngine(Web.of(2, np.array([0, 1]), np.array([1, 0])), CyclePicker(), tax=0.5)
    >>> opic.run(2)
    >>> opic.total, float(opic.cash.sum())
    (1.375, 1.0)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """

    def __init__(
        self,
        web: ChangingWeb | Web,
        picker: Picker | None = None,
        tax: float = 0.15,
        watchers: Sequence[VisitWatcher] = (),
        *,
        given: Floats | None = None,
        link: bool = False,
    ) -> None:
        assert not (link and tax), "with a link to the virtual page, the tax must be 0"
        super().__init__(web, picker, tax)
        self.watchers = watchers
        self.history = np.zeros(self.pages)
        self.given = np.full(self.pages, 1 / self.pages) if given is None else given
        self._key, self._put_in = self.given.copy(), self.given.copy()
        self._state = np.zeros(2)
        self._link = int(link)

    @property
    def total(self) -> float:
        """The clock G: all cash moved so far."""
        return float(self._state[1])

    @property
    def cash(self) -> Floats:
        """The cash of each page, shape (n,), including its share of the virtual page's."""
        cash: Floats = self._key + self._state[0]
        return cash

    @property
    def earned(self) -> Floats:
        """The cash of each page without its initial cash, shape (n,)."""
        earned: Floats = self.cash - self._put_in
        return earned

    def estimate(self) -> Floats:
        """Return H + C - C0: the history after one more power iteration, if links stay the same."""
        ahead: Floats = self.history + self.cash - self.given
        return ahead

    def paper(self) -> Floats:
        """Return H + C, which the paper calls slightly better than the history."""
        both: Floats = self.history + self.cash
        return both

    def _visit(self, picks: Ints) -> None:
        count = len(picks)
        self._rebase()
        made = Moves(np.empty(count, np.int32), np.empty(count), np.empty(count))
        _OPIC["visit"](
            *self.web.out.arrays(), self.pages,
            address_table(self._key, self.history, self._put_in, self._state, self._page, self._place),
            len(self._page) > 0, pointer(picks), count, self.tax, self._link, address_table(*made),
        )  # fmt: skip
        for watcher in self.watchers:
            watcher.watch(made)

    def _rebase(self) -> None:
        """Add what the virtual page has spent to the keys, before these lose precision."""
        if self._state[0] * self.pages > 1:
            self._key += self._state[0]
            self._state[0] = 0.0


class PushEngine(Engine):
    """The residual push, for graphs whose links may change between visits.

    Parameters
    ----------
    web, picker, tax
        The graph, the order (greedy by |r| by default), and the tax.

    Attributes
    ----------
    value, residual
        x and r of each page, shape (n,): x + r = 1/n + xM along the known links.
    known
        The links of each page at its last visit.

    References
    ----------
    Andersen, Chung, Lang (2006). Local graph partitioning using PageRank vectors. Hong (2012). D-iteration.
    """

    def __init__(self, web: ChangingWeb | Web, picker: Picker | None = None, tax: float = 0.15) -> None:
        super().__init__(web, picker, tax)
        self.value = np.zeros(self.pages)
        self.residual = np.full(self.pages, 1 / self.pages)
        self.known = LinkRows.unseen(self.pages)
        self._size = self.residual.copy() if self.picker.greedy else np.empty(0)

    def estimate(self) -> Floats:
        """Return x + r, which is one step ahead of x."""
        ahead: Floats = np.maximum(self.value + self.residual, 0.0)
        return ahead

    def settle(self, pushes: int) -> None:
        """Push residuals along known links, without visits."""
        picks = self.picker.next(pushes, self)
        _PUSH["settle"](*self.known.arrays(), self.pages, *self._numbers(), pointer(picks), len(picks), self.tax)

    def _visit(self, picks: Ints) -> None:
        done = 0
        while True:
            rest = picks[done:]
            done += _PUSH["visit"](
                *self.web.out.arrays(), *self.known.arrays(), self.pages, *self._numbers(), pointer(rest),
                len(rest), self.tax,
            )  # fmt: skip
            if done == len(picks):
                break
            self.known.make_room(max(_ROOM, self.pages))

    def _numbers(self) -> tuple[Any, ...]:
        arrays = self.value, self.residual, self._size, self._page, self._place
        return address_table(*arrays), int(len(self._page) > 0)
