"""Price: the visit that is worth most per unit of the budget, new pages and old ones under one price."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from evercrawl.kernels import Library, pointer
from evercrawl.schedule.base import Assessed, Policy
from evercrawl.schedule.clocks.clocks import PARTS, Clocks
from evercrawl.schedule.formulas.index import HARMONIC, NEVER_S
from evercrawl.schedule.parameters import one_of, within
from evercrawl.schedule.shared.pacing import Pace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.schedule.base import InvalidatedBy, Pages, Visits
    from evercrawl.schedule.clocks.trust import Trust
    from evercrawl.types import Floats

_KERNELS: Final = Library("evercrawl.schedule.policies.price._kernel")
_CLOSE: Final = 0.03  # a step of Newton's, as a part of the age, after which the error is about its square
_STEP: Final = 0.005  # eta: how much of a visit's surprise the price takes in, once some hundred were seen
_SURPRISE: Final = 3.0  # at most, in the logarithm
_LEAST: Final = 1e-300
_NEW_HARMONIC: Final = 0.05  # of new pages: the patience with them has an end, so that they need more of it to be read
_PATIENCE_CYCLES: Final = 20.0
_PATIENCE_S: Final = (1.0, 3e8)  # a second, less than any politeness, to ten years
_LONGING: Final = 0.1  # of the price, by which a usual page is worth more a cycle
_PARTS: Final = (*PARTS, "age")
_FIRST_VISITS: Final = 100  # before that nobody knows the price, nor how long a cycle is
_WEIGHED_PAGES: Final = 1000.0
_NONE: Final = np.zeros(0)
_RESUMED_VISITS: Final = 20  # what an earlier run's price is worth, in visits: weights may be others by now


class Price(Policy):
    """Visit the page whose visit is worth most per unit of the budget; learn from that what a unit is worth.

    A page falls due when a visit is worth the price. The price follows the values of the visits that are made: where
    they are worth more, it rises, fewer pages fall due, and the budget goes to those that need it most. New pages
    compete with what their visit would be worth if they had been left alone for `patience`.

    The age of a copy is told by the clock of its folder, which runs fast while pages around it change (see `clocks`),
    on sites where that has foretold changes better than time; elsewhere in seconds, by the Gamma belief of its rate.
    A copy is no good either once its page has vanished, so the rate at which pages do is added to that of changes.
    Of a page that was found gone its return is awaited, in place of a change, by the belief of how fast pages come back
    (see `change.comebacks`).

    Parameters
    ----------
    harmonic
        theta, the part of the harmonic index: with more of it pages that change too often are visited more. Unless it
        is 0, it is at least 0.05 for new pages, so that none is left unread.
    close
        When a due time is close enough: the last step of the search, as a part of the age.
    without
        Parts that are left out, to see what they are good for, such as `burst,cohorts`: `exposure`, all that is told
        but by time; `clock`, the clocks of sites and folders; `burst`, the page's own; `cohorts`, pages that changed
        with it; `siblings`, those of its name; `mates`, that one page stands for its folder; and `age`, that age alone
        is worth something.

    Raises
    ------
    ConfigError
        Where there is no such part, or a number is not from 0 to 1.

    Attributes
    ----------
    price
        P, in importance times seconds per unit of the budget; nan before the first visit.
    patience
        H, in seconds: twenty times as long as it takes to visit all pages once that were read. Those that were not
        do not count, for there is no end to the URLs of a calendar. It is no longer than pages last on the mean. A page
        that has waited for longer was left alone for so long indeed: even where a host allows fewer visits than would
        be worth the price, each of its pages is read some day.

    Examples
    --------
    The page that changes about once a day is worth more than the one that hardly ever changes, an hour after a visit;
    a month after, it is the other way round, for the former has changed again anyway.

    >>> from evercrawl.schedule import Pages
    >>> day, one, none = 86400.0, np.ones(2), np.zeros(2)
    >>> pages = Pages(np.arange(2, dtype=np.uint32), none, one, none, 50 * one, day * np.array([50.0, 5000.0]),
    ...               one, none, none)
    >>> policy = Price()
    >>> policy.value(pages, now=3600.0).argsort()[::-1], policy.value(pages, now=30 * day).argsort()[::-1]
    (array([0, 1]), array([1, 0]))

    References
    ----------
    See `index` and `clocks`; and Busa-Fekete et al. (2025), Cho, Garcia-Molina (2003), for what the price is in the
    optimum.
    """

    learns: ClassVar[bool] = True
    places: ClassVar[bool] = True
    awaits: ClassVar[bool] = True
    invalidated_by: ClassVar[InvalidatedBy] = "batches"
    _given: ClassVar[float] = 1e6
    """Rates of a larger shape were given, in seconds, and not learned."""

    def __init__(self, harmonic: float = HARMONIC, close: float = _CLOSE, without: str = "") -> None:
        left_out = frozenset(one_of("price: without", part.strip(), _PARTS) for part in without.split(",") if part)
        self._harmonic = within("price: harmonic", harmonic, 0, 1)
        self._new_harmonic = max(harmonic, _NEW_HARMONIC) if harmonic > 0 else 0.0
        self._close = within("price: close", close, 0, 1)
        self.price = math.nan
        self.patience = _PATIENCE_S[0]
        self._visits = 0
        self._pace, self._known = Pace(), 0
        self._weighed = np.zeros(1)  # importance over cost of the pages that were seen of late, on the mean
        self._longs = harmonic > 0 and "age" not in left_out
        self._clocks = Clocks(without=left_out - {"age"})

    def assess(self, pages: Pages, now: float, valued: int, due_from: int) -> Assessed:
        """Return what visits to the first pages are worth, how fresh these are, and when the last fall due."""
        if not valued or math.isnan(self.price):
            return super().assess(pages, now, valued, due_from)
        return self._assess(pages, now, valued, due_from, fresh=True)

    def value(self, pages: Pages, now: float) -> Floats:
        """Return the worth of a visit per unit of the budget, I, of each page."""
        n = len(pages.slot)
        return self._assess(pages, now, n, n).values

    def due(self, pages: Pages, now: float) -> Floats:
        """Return when a visit to each will be worth the price; infinity where it never will."""
        if math.isnan(self.price) and len(pages.slot):
            self.price = max(float(np.median(self.value(pages, now))), _LEAST)
        return self._assess(pages, now, 0, 0).due

    def fresh(self, pages: Pages, now: float) -> Floats:
        """Return the probability that each copy is fresh, by its exposure, made true by what was seen (`Exposure`)."""
        out = np.empty(len(pages.slot))
        _KERNELS["fresh"](
            *_columns(pages), now, self._given, self.deaths_per_s, *self._clocks.pointers(), pointer(out)
        )  # fmt: skip
        return out

    def _assess(self, pages: Pages, now: float, valued: int, due_from: int, *, fresh: bool = False) -> Assessed:
        """Return values and due times, freshness too if asked, and note what pages weigh.

        A second's age adds something to the worth of a copy, whatever is believed of its changes: a page that weighs
        and costs what others do gains a tenth of the price a cycle by it, so that of pages that are thought never to
        change each is looked at all the same. Where rates are given and need no looking, nothing.
        """
        longing = self._longs and self._visits >= _FIRST_VISITS
        wanted = _LONGING * self.price / self._pace.cycle_s(self._known) if longing else 0.0
        values, due = np.empty(valued), np.empty(len(pages.slot) - due_from)
        dear, found, back = (
            _NONE if column is None else np.ascontiguousarray(column, np.float64)
            for column in (pages.host_price_ratio, pages.found_at, pages.comeback_scale_s)
        )
        likely = np.empty(valued if fresh else 0)
        _KERNELS["assess"](
            *_columns(pages), now, self.price, self.patience, self._harmonic, self._new_harmonic, NEVER_S, self._close,
            self._given, self.deaths_per_s, wanted, _WEIGHED_PAGES, pointer(self._weighed), pointer(dear), len(dear),
            pointer(found), len(found), pointer(back), len(back), *self._clocks.pointers(), pointer(values), valued,
            pointer(due), due_from, pointer(likely), len(likely),
        )  # fmt: skip
        return Assessed(values, due, likely)

    def learn(self, visits: Visits) -> None:
        """Let the clocks of folders learn."""
        self._clocks.learn(visits)

    def wants_rescan(self, now: float) -> bool:
        """Return whether pages changed in a batch, so that others of their folders are worth a visit sooner."""
        return self._clocks.jumped(now)

    def trust(self, slot: int) -> Trust | None:
        """Return whether the clocks of a page's site are believed, rather than time; None of a page not seen yet."""
        return self._clocks.trust(slot)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the clocks have learned."""
        return self._clocks.state()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on with what the clocks had learned."""
        self._clocks.restore(state)

    def chosen(self, values: Floats, now: float, known: int, new: int = 0) -> None:
        """Let the price follow what visits are worth, and patience how long a cycle is."""
        if len(values):
            price = self.price if self._visits else max(float(values[0]), _LEAST)
            self.price = _KERNELS["follow"](pointer(values), len(values), price, self._visits, _STEP, _SURPRISE)
            self._visits += len(values)
        self._known = known
        self._pace.made(len(values), now)
        lasts_s = 1.0 / self.deaths_per_s if self.deaths_per_s > 0 else _PATIENCE_S[1]
        most_s = min(max(lasts_s, _PATIENCE_S[0]), _PATIENCE_S[1])
        self.patience = min(max(_PATIENCE_CYCLES * self._pace.cycle_s(known), _PATIENCE_S[0]), most_s)

    @property
    def typical_value(self) -> float:
        """The price."""
        return self.price

    def notes(self) -> dict[str, float]:
        """Return the price and the patience; nothing before the first visit."""
        return {} if math.isnan(self.price) else {"price": self.price, "patience_s": self.patience}

    def resume(self, notes: dict[str, float]) -> None:
        """Go on with the price and the patience there were."""
        if notes.get("price", 0.0) > 0:
            self.price, self._visits = notes["price"], _RESUMED_VISITS
        self.patience = notes.get("patience_s", self.patience)


def _columns(pages: Pages) -> tuple[Any, Any, int, Any, int]:
    """Return the columns that the kernels take, in one piece but for the slots, and how long they are; and recall."""
    columns = (
        pages.visited_at, pages.importance, pages.shape, pages.scale_s, pages.cost, pages.cost_changed,
        pages.neg_log_unchanged,
    )  # fmt: skip
    whole = np.concatenate(columns, dtype=np.float64)
    heard = whole[:0] if pages.announced_share is None else np.ascontiguousarray(pages.announced_share, np.float64)
    slots = np.ascontiguousarray(pages.slot, np.uint32)
    return pointer(slots), pointer(whole), len(slots), pointer(heard), len(heard)
