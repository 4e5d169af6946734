"""Recorded pages as a world in which a policy can poll."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.lab.backtest._replay_layout import HELD, NEVER
from evercrawl.lab.backtest.announced import Announced
from evercrawl.lab.backtest.truth import Truth
from evercrawl.lab.polling.changing import AnnouncedSignals, ChangingWorld, SeenChanges
from evercrawl.types import Floats, Ints

_KERNELS: Final = Library("evercrawl.lab.backtest._replay_kernel")


class Recorded(ChangingWorld):
    """Pages of a history, and the freshness of copies taken of them.

    Parameters
    ----------
    pages
        Their recorded versions.
    weight
        Importance of each page, shape (pages,).
    announced
        The announcements of changes; None if none are announced.

    Attributes
    ----------
    held
        The copy and the counters of each page, dtype `HELD`, shape (pages,).
    fresh
        Which former copies equalled their pages at the last visits, shape (visits,).
    """

    def __init__(self, pages: Truth, weight: Floats, announced: Announced | None = None) -> None:
        self._pages, self._announced = pages, announced
        self.announces = announced is not None
        self.weight, self.host = weight, pages.site.astype(np.int64)
        self.held = np.zeros(len(pages), HELD)
        self.held["version"], self.held["state"], self.held["read"] = -1, NEVER, NEVER
        self.held["settled_at"], self.held["stale_at"], self.held["seen_at"] = pages.start, math.inf, math.nan
        self.fresh = np.zeros(0, np.bool_)
        self._columns = address_table(pages.first, pages.at, pages.state, pages.simhash, pages.modified_at)
        self._numbers = len(pages.at), len(pages), pointer(self.held)

    @property
    def counted(self) -> NDArray[Any]:
        """The counters of each page: `held`."""
        return self.held

    def visit(self, rows: Ints, now: float) -> SeenChanges:
        """Copy pages, and return the results; `fresh` says which former copies were fresh."""
        return self.visit_at(rows, np.full(len(rows), now))

    def visit_at(self, rows: Ints, at: Floats) -> SeenChanges:
        """Copy distinct pages, each at its own instant after its last visit; return the results."""
        changed, gone, fresh = (np.empty(len(rows), np.bool_) for _ in range(3))
        age_s, rows = np.empty(len(rows)), np.ascontiguousarray(rows, np.int64)
        _KERNELS["poll"](
            pointer(rows), pointer(at), len(rows), self._pages.measured_at, self._columns, *self._numbers,
            address_table(changed, gone, fresh, age_s),
        )  # fmt: skip
        self.fresh = fresh
        return SeenChanges(changed, age_s, gone)

    def pass_to(self, now: float) -> AnnouncedSignals | None:
        """Advance the time; return the announcements."""
        return None if self._announced is None else self._announced.pass_to(now)

    def stale(self, now: float) -> NDArray[np.bool_]:
        """Return which copies differ from their pages."""
        out = np.empty(len(self._pages), np.bool_)
        _KERNELS["stale"](now, self._columns, *self._numbers, pointer(out))
        return out

    def settle(self, now: float) -> None:
        """Update the counters of all pages to `now`."""
        _KERNELS["settle"](now, self._pages.measured_at, self._columns, *self._numbers)

    def earned(self, now: float) -> float:
        """Return the integral so far of the weight of fresh copies over that of existing pages; nan without any."""
        self.settle(now)
        alive, fresh = (float(np.dot(self.weight, self.held[name])) for name in ("alive_s", "fresh_s"))
        return fresh / alive if alive else math.nan

    def best(self, budget: float) -> float:
        """Return nan: the value of the best schedule is unknown."""
        return math.nan
