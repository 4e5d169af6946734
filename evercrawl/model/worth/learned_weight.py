"""Learned weight: expected openings of pages, by a regression on the pages whose use was reported.

A page that nobody opened may be unwanted, or may never have been shown. If search results are reported, each page's
*exposure* is known: the usual number of openings at the positions where it was shown. Then the regression is of
openings per unit of exposure, over pages that were shown, so that it learns people's choices and not the search
engine's. Pages that could have been shown but were not get, together, the share of exposure that Good's estimate
leaves to the unseen. If only openings are reported, as in a server log, pages not named count as never opened.

An unread page could not be shown: it is assumed to be shown, once read, as often as read pages are, and to be opened
at most in proportion to its importance. Without that bound, and if openings depend little on importance, an endless
calendar would gain worth the more of it is known.

References
----------
Good (1953). The population frequencies of species and the estimation of population parameters.
McCullagh, Nelder (1989). Generalized Linear Models, on the logarithm of the exposure as an offset.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.model.worth import regression
from evercrawl.model.worth.page_features import NAMES, ReaderExposure, exposure_of, features
from evercrawl.model.worth.weights import FLOOR, MEASURELESS, DemandWeight
from evercrawl.schedule.pages import Pages
from evercrawl.store.partition import Partition
from evercrawl.store.records import media_kind
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats, Ints, Slots

OTHERS: Final = 10_000
"""Pages that nobody named, evenly spread, that stand for all of these in the regression."""
NAMED: Final = 10_000
"""Pages that were named, at most: evenly spread too."""
GROWN: Final = 1.1
"""It is fitted anew when so many times as many questions, known pages, or pages that were read, are there."""
_DEPTH: Final = np.uint32(0xFF)  # of a table cell: page without a record
_NEVER: Final = (-1, 0, 0)
_LEAST: Final = 1e-6  # of the mean importance
_NOTHING: Final = 1e-12  # of it: negligible
_FAR: Final = 30.0  # logarithm of the expectation
_CONSTANT: Final = (0.0, 1e-6)  # mean and precision of the coefficients: nothing is believed of the level,
_OF_IMPORTANCE: Final = (1.0, 4.0)  # openings go with importance
_OF_OTHERS: Final = (0.0, 4.0)  # and with nothing else, until they are seen to


class LearnedWeight(DemandWeight):
    """Expected openings, by Poisson regression on importance, address and kind, shrunk towards a page's own count.

    The prior says that openings are proportional to importance, so a crawl begins with that. A page opened c times,
    with m openings expected from its kind and exposure, counts (k + c) / (k + m) times m, where k is larger the less
    pages deviate from their expectation; a page never shown counts m. All unread pages together share their
    importance, however many there are. A tenth of all worth stays with importance. None of this is stored: the
    regression is refitted from the reported use and the crawl's state.
    """

    def __init__(self, partition: Partition) -> None:
        super().__init__(partition)
        self._state = partition.state
        self._fitted_of = _NEVER  # queries, known pages and read pages at the last fit
        self._theta: Floats = np.zeros(0)
        self._mean = self._spread = self._sum = self._most = 1.0
        self._level: NDArray[np.float32] = np.zeros(0, np.float32)  # by slot: effect of the address; nan: unknown
        self._exposure: ReaderExposure | None = None  # None: not computed since the last new query
        self._plain: Callable[[Slots], Pages] | None = None

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Learn the importance of pages from `plain`."""
        super().begin(plain)
        self._plain = plain

    @property
    def coefficients(self) -> dict[str, float]:
        """Effect of each feature on the logarithm of the expected openings; empty before a fit."""
        return dict(zip(("constant", "importance", *NAMES), self._theta.tolist(), strict=False))

    def demand(self) -> tuple[Floats, float]:
        """Return the openings themselves: the regression distributes them."""
        return self._openings().astype(np.float64), FLOOR

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return the worth of pages, shape (n,)."""
        if self.renew():
            self._exposure = None
        if not self._fitted():
            return importance
        expected = self._expected(slots, self._levels(slots), importance)
        opened = self.counts.of(self._openings(), slots)
        demand = expected * (self._spread + opened) / (self._spread + expected)
        return FLOOR * importance + (1.0 - FLOOR) * self.total * demand / self._sum

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return how often the page was `opened`, and how many openings its kind and exposure made `expected`."""
        opened = {"opened": self.count(self._openings(), slot)}
        if not self._fitted():
            return opened
        slots = np.array([slot], np.uint32)
        return opened | {"expected": float(self._expected(slots, self._levels(slots), np.array([importance]))[0])}

    def _openings(self) -> Ints:
        clicked = self.counts.clicked
        return clicked if clicked.any() else self.counts.shown

    def _expected(self, slots: Slots, levels: Floats, importance: Floats) -> Floats:
        """Return the expected openings of pages, shape (n,)."""
        times = importance / self._mean
        by_importance = self._theta[1] * np.log(np.maximum(times, _LEAST))
        untold = (self._state.table.record.take(slots) >= NO_RECORD) & (self.counts.rows(slots) < 0)
        in_proportion = np.log(np.maximum(times, _NOTHING))
        by_importance = np.where(untold, np.minimum(by_importance, in_proportion), by_importance)
        expected: Floats = self._exposures(slots) * np.exp(
            np.clip(self._theta[0] + by_importance + levels, -_FAR, _FAR)
        )
        return np.minimum(expected, self._most)

    @property
    def _answered(self) -> bool:
        """Whether most openings were of pages in reported search results."""
        clicked = self.counts.clicked
        return 2 * int(clicked[self.counts.shown > 0].sum()) > int(clicked.sum())

    def _exposures(self, slots: Slots) -> Floats:
        """Return the usual openings at the positions of pages, shape (n,); 1 if positions are not reported.

        For pages never shown it is that of `ReaderExposure`.
        """
        if not self._answered:
            return np.ones(len(slots))
        if self._exposure is None:
            self._exposure = exposure_of(self.counts, self._state)
        found, read = self.counts.of(self._exposure.column, slots), self._state.table.record.take(slots) < NO_RECORD
        return np.where(found > 0, found, np.where(read, self._exposure.hidden, self._exposure.mean))

    def _levels(self, slots: Slots) -> Floats:
        """Return the contribution of the addresses of pages, shape (n,)."""
        self._level = grown(self._level, self._state.known.count, np.nan)
        new = slots[np.isnan(self._level[slots])]
        if len(new):
            self._level[new] = self._features(new) @ self._theta[2:]
        return self._level[slots].astype(np.float64)

    def _features(self, slots: Slots) -> Floats:
        cells, records = self._state.table.record.take(slots), self._state.records
        read = cells < NO_RECORD
        rows = records.rows.take(np.where(read, cells, 0))
        depths = np.where(read, rows["depth"], cells & _DEPTH)
        kinds = np.where(read, (rows["flags"] & media_kind.MASK) >> media_kind.SHIFT, media_kind.UNKNOWN)
        return features(self._state.urls.get_many(slots.tolist()), depths.tolist(), kinds.tolist())

    def _fitted(self) -> bool:
        """Refit if due; return whether there is a fit."""
        now = self.counts.questions, self._state.known.count, self._state.records.count
        before = self._fitted_of
        (questions, *_), (questions_before, *_) = now, before
        if questions < questions_before or any(there > GROWN * was for there, was in zip(now, before, strict=True)):
            self._fitted_of, self._exposure = now, None  # the pages that could be shown grow with those read
            self._fit()
        return len(self._theta) > 0

    def _fit(self) -> None:
        named = _some(self.counts.slots(), NAMED)
        opened = self.counts.of(self._openings(), named)
        self._theta = np.zeros(0)
        if self._plain is None or not opened.any():
            return
        others = np.setdiff1d(_spread(self._state.known.count, OTHERS), self.counts.slots())
        slots, unnamed = np.concatenate([named, others]), self._state.known.count - len(self.counts.slots())
        stands = len(self.counts.slots()) / len(named), unnamed / max(len(others), 1)
        times = np.repeat(stands, (len(named), len(others)))
        importance = self._plain(slots).importance
        if not (importance.any() and importance.max() < MEASURELESS):
            self._fitted_of = _NEVER
            return
        known = float(importance[: len(named)].mean()) if len(named) else 0.0
        self._mean = known or float(times @ importance) / float(times.sum())
        rows, exposure = self._rows(slots, importance), self._exposures(slots)
        opened = self.counts.of(self._openings(), slots)
        told = self.counts.of(self.counts.shown, slots) > 0 if self._answered else np.ones(len(slots), np.bool_)
        prior, precision = (np.array(part) for part in zip(*_PRIOR, strict=True))
        self._theta = regression.fit(rows[told], opened[told], times[told], prior, precision, exposure[told])
        self._most = 2.0 * float(opened.max()) + 1.0
        expected = self._expected(slots, rows[:, 2:] @ self._theta[2:], importance)
        self._spread = regression.spread(opened[told], times[told], expected[told])
        self._sum = float(times @ (expected * (self._spread + opened) / (self._spread + expected)))
        self._level = np.full(self._state.known.count, np.nan, np.float32)

    def _rows(self, slots: Slots, importance: Floats) -> Floats:
        levels = np.log(np.maximum(importance / self._mean, _LEAST))
        return np.column_stack([np.ones(len(slots)), levels, self._features(slots)])


_PRIOR: Final[tuple[Any, ...]] = (_CONSTANT, _OF_IMPORTANCE, *[_OF_OTHERS] * len(NAMES))


def _some(slots: Slots, most: int) -> Slots:
    """Return up to `most` items, evenly spread."""
    return slots if len(slots) <= most else slots[_spread(len(slots), most)]


def _spread(count: int, most: int) -> Slots:
    """Return up to `most` of the numbers below `count`, evenly spread."""
    numbers: Slots = np.linspace(0, count - 1, min(count, most)).astype(np.uint32)
    return numbers
