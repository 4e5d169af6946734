"""The common interface of engines, which visit pages, and of watchers, which observe the visits."""

from abc import ABC, abstractmethod
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels import pointer
from evercrawl.lab.engine.living import ChangingWeb
from evercrawl.lab.engine.picking import GreedyPicker, Picker
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints, Spans

_AT_ONCE: Final = 1 << 20  # visits that are recorded before watchers see them


class Moves(NamedTuple):
    """The cash moved by some visits.

    Attributes
    ----------
    page
        The pages visited, shape (visits,).
    earned
        The cash that each visit moved, without the page's initial cash.
    clock
        G after the visit.
    """

    page: Spans
    earned: Floats
    clock: Floats


class VisitWatcher(ABC):
    """An observer of OPIC's visits that makes its own estimate of importance: a window."""

    @abstractmethod
    def watch(self, visits: Moves) -> None:
        """Record visits, in order."""

    @abstractmethod
    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the importance of each page up to a factor, from its present cash without the initial cash, and G."""


class Engine(ABC):
    """Visits pages.

    Attributes
    ----------
    web
        The graph, which may change between two calls of `run`.
    picker
        The order.
    visits
        Number of visits so far.
    """

    def __init__(self, web: ChangingWeb | Web, picker: Picker | None = None, tax: float = 0.15) -> None:
        self.web = web if isinstance(web, ChangingWeb) else ChangingWeb(web)
        self.picker = picker or GreedyPicker()
        self.tax = tax
        self.visits = 0
        heaped = self.pages if self.picker.greedy else 0
        self._page, self._place = np.arange(heaped, dtype=np.int32), np.arange(heaped, dtype=np.int32)

    @property
    def pages(self) -> int:
        """Number of pages: n."""
        return self.web.pages

    def run(self, visits: int) -> None:
        """Make the given number of visits."""
        while visits > 0:
            picks = self.picker.next(min(visits, _AT_ONCE), self)
            self._visit(picks)
            self.visits += len(picks)
            visits -= len(picks)

    @abstractmethod
    def estimate(self) -> Floats:
        """Return the estimated importance of each page, up to a factor; shape (n,)."""

    @abstractmethod
    def _visit(self, picks: Ints) -> None:
        """Make the visits."""

    def _heap(self) -> tuple[Any, ...]:
        return pointer(self._page), pointer(self._place)
