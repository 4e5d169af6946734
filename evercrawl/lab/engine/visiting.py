"""Who visits, and who looks on: what every way to work out importance visit by visit has in common."""

from abc import ABC, abstractmethod
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels import pointer
from evercrawl.lab.engine.living import ChangingWeb
from evercrawl.lab.engine.picking import GreedyPicker, Picker
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints, Spans

_AT_ONCE: Final = 1 << 20  # visits that are noted before they are looked at


class Moves(NamedTuple):
    """What some visits moved.

    Attributes
    ----------
    page
        Which, shape (visits,).
    earned
        The cash that it moved, without what it was given to begin with.
    clock
        G after the visit.
    """

    page: Spans
    earned: Floats
    clock: Floats


class VisitWatcher(ABC):
    """Somebody who looks on at the visits of OPIC, and thinks for himself of what importance follows: a window."""

    @abstractmethod
    def watch(self, visits: Moves) -> None:
        """Take in some visits, in the order in which they were made."""

    @abstractmethod
    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the importance of each page, up to a factor, from the cash it has now without its first, and G."""


class Engine(ABC):
    """Somebody who visits pages.

    Attributes
    ----------
    web
        The web, which may change between two calls of `run`.
    picker
        The order.
    visits
        How many there were.
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
        """How many pages there are: n."""
        return self.web.pages

    def run(self, visits: int) -> None:
        """Visit as many pages."""
        while visits > 0:
            picks = self.picker.next(min(visits, _AT_ONCE), self)
            self._visit(picks)
            self.visits += len(picks)
            visits -= len(picks)

    @abstractmethod
    def estimate(self) -> Floats:
        """Return the importance of each page as it is thought to be, up to a factor; shape (n,)."""

    @abstractmethod
    def _visit(self, picks: Ints) -> None:
        """Make the visits."""

    def _heap(self) -> tuple[Any, ...]:
        return pointer(self._page), pointer(self._place)
