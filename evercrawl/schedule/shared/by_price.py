"""The base of policies that visit pages worth a price: how the price is learned and applied."""

import math
from copy import copy
from typing import Any, ClassVar, Final, Self

import numpy as np

from evercrawl.kernels import Library, pointer
from evercrawl.schedule.abilities import Assessed, Assesses, Follows, Predicts, Priced, Resumes, assessed
from evercrawl.schedule.base import Context, InvalidatedBy
from evercrawl.schedule.clocks.clocks import Clocks
from evercrawl.schedule.formulas.index import HARMONIC, NEVER_S
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.parameters import Share, bounded
from evercrawl.schedule.shared._price_layout import BEYOND, TERMS, THETA, WEIGHED
from evercrawl.schedule.shared.pacing import MeasuredPace
from evercrawl.types import Floats

_KERNELS: Final = Library("evercrawl.schedule.policies.price._kernel")
CLOSE: Final = 0.03  # size of a Newton step, as a fraction of the age, after which the error is about its square
_STEP: Final = 0.005  # eta: learning rate of the price per visit, after the first hundred or so
_SURPRISE: Final = 3.0  # maximum deviation of one visit that counts, in logarithms
_LEAST: Final = 1e-300
_NEW_HARMONIC: Final = 0.05  # minimum harmonic weight of new pages: patience is finite, so they need it to be read
_PATIENCE_CYCLES: Final = 20.0
_PATIENCE_S: Final = (1.0, 3e8)  # from a second, less than any politeness delay, to ten years
_LONGING: Final = 0.1  # additional worth of a usual page per cycle, as a fraction of the price
_FIRST_VISITS: Final = 100  # number of visits before the price and the length of a cycle are known
_WEIGHED_PAGES: Final = 1000.0
_RESUMED_VISITS: Final = 20  # weight of an earlier run's price, in visits: page weights may have changed since


class ByPrice(Assesses, Predicts, Priced, Follows, Resumes):
    """Visit the page with the highest worth per unit of the budget, and learn the price of a unit from the visits.

    A page falls due when a visit is worth the price. The price follows the values of the visits made: if they exceed
    it, it rises, fewer pages fall due, and the budget goes to those that need it most. New pages compete with the
    worth that a first visit would have after a wait of `patience`.

    Parameters
    ----------
    harmonic, close
        As for `Price`.
    clocks
        Clocks that measure the age of copies; by default age is elapsed time.
    longs
        Whether age alone has a worth, unless `harmonic` is 0.

    Attributes
    ----------
    price
        P, in importance times seconds per unit of the budget; nan before the first visit.
    patience
        H, in seconds: twenty times the time needed to visit all read pages once. Unread pages are not counted, because
        the URLs of a calendar are endless. H is at most the mean lifetime of pages. A new page that has waited longer
        than H counts with its actual waiting time, so that every page is read some day, even on a host that allows
        fewer visits than would be worth the price.
    clocks
        The clocks that measure the ages of copies.
    weight_ratio
        Mean ratio of weight to cost of recently seen pages, shape (1,).
    """

    awaits: ClassVar[bool] = True
    invalidated_by: ClassVar[InvalidatedBy] = "batches"
    _given: ClassVar[float] = 1e6
    """Rates with a larger shape were given, in seconds, and not learned."""

    @bounded
    def __init__(
        self, harmonic: Share = HARMONIC, close: Share = CLOSE, clocks: Clocks | None = None, *, longs: bool = True
    ) -> None:
        self._harmonic = harmonic
        self._new_harmonic = max(harmonic, _NEW_HARMONIC) if harmonic > 0 else 0.0
        self._close = close
        self.price = math.nan
        self.patience = _PATIENCE_S[0]
        self._visits = 0
        self._pace, self._known = MeasuredPace(), 0
        self._terms = np.zeros(TERMS)
        self._terms[THETA:WEIGHED] = self._harmonic, self._new_harmonic, NEVER_S, self._given, _WEIGHED_PAGES
        self.weight_ratio = self._terms[WEIGHED:]
        self._longs = harmonic > 0 and longs
        self.clocks = clocks or Clocks()

    def at_price(self, price: float) -> Self:
        """Return the same policy with another price."""
        other = copy(self)
        other.price = price
        return other

    def assess(self, pages: Pages, context: Context, valued: int, due_from: int) -> Assessed:
        """Return the worth and freshness of the first pages, and the due times of the last."""
        if not valued or math.isnan(self.price):
            return assessed(self, pages, context, valued, due_from)
        return self._assess(pages, context, valued, due_from, fresh=True)

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the worth I of a visit to each page per unit of the budget."""
        n = len(pages.slot)
        return self._assess(pages, context, n, n).values

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when a visit to each page will be worth the price; infinity if it never will."""
        if math.isnan(self.price) and len(pages.slot):
            self.price = max(float(np.median(self.value(pages, context))), _LEAST)
        return self._assess(pages, context, 0, 0).due

    def fresh(self, pages: Pages, context: Context) -> Floats:
        """Return the probability that each copy is fresh, by its exposure, calibrated by observations (`Exposure`)."""
        out = np.empty(len(pages.slot))
        _KERNELS["fresh"](*_columns(pages), self._told(context), self.clocks.words(pages.rows), pointer(out))
        return out

    def _assess(self, pages: Pages, context: Context, valued: int, due_from: int, *, fresh: bool = False) -> Assessed:
        """Return values and due times, and freshness on request; update the usual weight of pages.

        Each second of age adds to the worth of a copy, whatever the posterior of its changes: a page of usual weight
        and cost gains a tenth of the price per cycle. Thus pages that are believed never to change are still checked.
        With given rates, which need no checks, nothing is added.
        """
        longing = self._longs and self._visits >= _FIRST_VISITS
        wanted = _LONGING * self.price / self._pace.cycle_s(self._known) if longing else 0.0
        ends = valued + len(pages.slot) - due_from
        claimed = valued if fresh else 0
        out = np.empty(ends + claimed)
        _KERNELS["assess"](
            *_columns(pages),
            self._told(context, wanted),
            self.clocks.words(pages.rows),
            valued,
            due_from,
            claimed,
            pointer(out),
        )
        return Assessed(out[:valued], out[valued:ends], out[ends:])

    def _told(self, context: Context, wanted: float = 0.0) -> Any:
        """Return the numbers passed to the kernels besides pages and clocks; `_price_layout` names them."""
        self._terms[:THETA] = context.now, self.price, self.patience, context.deaths_per_s, wanted, self._close
        return pointer(self._terms)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Update the price by the worth of the visits, and the patience by the length of a cycle."""
        made = len(values)
        values = np.ascontiguousarray(values[values < BEYOND])
        if len(values):
            price = self.price if self._visits else max(float(values[0]), _LEAST)
            self.price = _KERNELS["follow"](pointer(values), len(values), price, self._visits, _STEP, _SURPRISE)
            self._visits += len(values)
        self._known = context.known
        self._pace.made(made, context.now)
        lasts_s = 1.0 / context.deaths_per_s if context.deaths_per_s > 0 else _PATIENCE_S[1]
        most_s = min(max(lasts_s, _PATIENCE_S[0]), _PATIENCE_S[1])
        self.patience = min(max(_PATIENCE_CYCLES * self._pace.cycle_s(context.known), _PATIENCE_S[0]), most_s)

    def notes(self) -> dict[str, float]:
        """Return the price and the patience; nothing before the first visit."""
        return {} if math.isnan(self.price) else {"price": self.price, "patience_s": self.patience}

    def resume(self, notes: dict[str, float]) -> None:
        """Resume with the stored price and patience."""
        if notes.get("price", 0.0) > 0:
            self.price, self._visits = notes["price"], _RESUMED_VISITS
        self.patience = notes.get("patience_s", self.patience)


def _columns(pages: Pages) -> tuple[Any, Any, int, int]:
    """Return rows, contiguous columns, the number of pages, and the columns present, as in `_price_layout`."""
    behind = (pages.announced_share, pages.host_price_ratio, pages.found_at, pages.comeback_scale_s, pages.owed)
    columns = (
        pages.visited_at, pages.importance, pages.shape, pages.scale_s, pages.cost, pages.cost_changed,
        pages.neg_log_unchanged, *(column for column in behind if column is not None),
    )  # fmt: skip
    given = sum(1 << k for k, column in enumerate(behind) if column is not None)
    whole = np.concatenate(columns, dtype=np.float64)
    rows = np.ascontiguousarray(pages.rows, np.uint32)
    assert len(whole) == len(columns) * len(rows), "all columns have the same length"
    return pointer(rows), pointer(whole), len(rows), given
