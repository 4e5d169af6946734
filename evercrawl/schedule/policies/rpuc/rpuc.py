"""RPUC: page types by retrievals, PageRank, updates and clicks; one queue with its own period per type."""

import math
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.abilities import Follows, Learns, Plans, Resumes, Tabulates, Tunable
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import USE_HALF_LIFE_S, Pages, Visits
from evercrawl.schedule.policies.rpuc.options import RpucOptions
from evercrawl.schedule.policies.rpuc.scale import Scale
from evercrawl.schedule.policies.rpuc.types import COMPONENTS, Types, components, queue, vectors
from evercrawl.schedule.shared.capacity import Capacity
from evercrawl.schedule.shared.checked import Checked
from evercrawl.schedule.shared.pacing import Turns
from evercrawl.types import Floats, Ints, Slots

_ROUND: Final = 4  # plans per round
_SAMPLE: Final = 20_000  # number of pages to which types are fitted
_HALF: Final = 0.5  # changes per round assumed of pages before their first check
_LATELY_S: Final = USE_HALF_LIFE_S / math.log(2.0)
_FAINT: Final = 1e-9  # minimum weight of a page, in units of the mean
_DEAD, _NOT_YET = -2.0, -1.0


class Rpuc(Learns, Plans, Tunable, Follows, Resumes, Tabulates, Policy):
    """Visit the pages of each type once per period; of overdue pages, first the most overdue relative to its period.

    A page has a vector V of four numbers: R, the number of search results in which it appears per cycle; P, its
    importance; U, its rate of change; C, the share of its appearances in which it is clicked. A matrix maps V (scaled,
    because the four numbers have different units) to one score per type. The page belongs to every type whose threshold
    its score reaches; the shortest period of these types applies. Pages that are gone are removed.

    The paper leaves matrix, thresholds and periods open. Here they are fitted a few times per round, to the measured
    changes of the pages and to the visits that the crawl makes. With given periods no page is visited before its time;
    otherwise the whole budget is spent.

    Parameters
    ----------
    types
        Number of types. With a `matrix`, it is the number of its rows; otherwise, if `periods` are given, their number.
    matrix
        W: one row per type, separated by semicolons, such as "0,.75,.25,0; 0,.5,.5,0" for two types. A row has four
        weights, separated by commas: of R (how often a page appears in answers per cycle), P (its importance), U (its
        rate of change) and C (the share of its appearances in which it is opened). Empty: fitted.
    thresholds
        One threshold per type, separated by commas, such as "0.8, 0.4": a page belongs to a type if the sum of the
        row's weights times the page's components reaches it. They need a `matrix`. Empty: fitted; with a given matrix
        of n types, 1/n of the pages pass the threshold of the type with the shortest period (of the first type, if no
        periods are given), 2/n that of the next, and so on.
    periods
        One period per type, separated by commas, such as "1d, 4d, 16d"; in any order if the matrix is fitted. Empty:
        fitted.
    scale
        Scale on which components are added up: log, the logarithm of the component divided by its usual value; or rank,
        the share of pages that have less.
    validity
        Request that checks whether a copy is current: get, a conditional request that returns the page if it changed;
        or head, a HEAD request first.
    demand
        Share of a page's worth that comes from how often it is shown in answers and opened, once there is such data;
        the rest is importance.
    drop_after
        Consecutive visits that find a page gone after which it is removed; at most 6, because then the crawl itself
        gives it up.
    new_share
        Share of the visits for unvisited pages, while there are any.

    Examples
    --------
    The types are given: the important page has a period of an hour, the other one of a day, and both were visited when
    the crawl began, two hours ago.

    >>> from evercrawl.schedule import Context, Pages
    >>> rows, zero, one = np.arange(2, dtype=np.uint32), np.zeros(2), np.ones(2)
    >>> pages = Pages(rows, zero, np.array([9.0, 1.0]), one, one, one, one, zero, zero)
    >>> policy = Rpuc(matrix="0,1,0,0; 0,0,0,0", thresholds="0.5,0", periods="1h,1d", scale="rank")
    >>> next_at = policy.plan(pages, 0, Context(7200.0))
    >>> policy.value(pages, Context(7200.0)) >= policy.min_value
    array([ True, False])

    References
    ----------
    Xiong et al. (2004), the RPUC paper: equations 2 to 10. Its importance is a PageRank that does not sum to one; here
    the crawl's own measure of importance replaces it.
    """

    reviews: ClassVar[int] = 16
    needs: ClassVar[frozenset[str]] = frozenset({"retrieved", "clicked"})
    min_value: float = _NOT_YET + 0.5

    __signature__: ClassVar = signature(RpucOptions)

    def __init__(self, **given: float | str) -> None:
        self._options = RpucOptions(**given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        self.freshness_check = self._options.validity
        self._checked, self._capacity, self._turns = Checked(), Capacity(), Turns(self._options.new_share)
        self._capacity.begin(0.0)
        self._scale: Scale | None = None
        self._types: Types | None = None
        self._round_s = 1.0
        self._queues: tuple[Slots, Ints] = np.zeros(0, np.uint32), np.zeros(0, np.int64)

    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Set new values; matrix, thresholds and periods apply from the next plan on."""
        self._options = replace(self._options, **options)  # type: ignore[arg-type]
        self._turns.share, self.freshness_check = self._options.new_share, self._options.validity

    def learn(self, visits: Visits) -> None:
        """Count the visits that found pages changed, and gone."""
        self._capacity.told(visits.at)
        self._checked.learn(visits)

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Fit the types to the measurements; return the time of the next plan, a quarter of a round later."""
        if not len(pages.slot):
            return context.now + 1.0
        per_s = self._capacity.per_s
        self._round_s = len(pages.slot) / per_s
        rows = self._checked.take(pages.slot)
        there = np.flatnonzero(rows["misses"] < self._options.drop_after)
        if len(there):
            part = there[:: max(1, len(there) // _SAMPLE)]
            share = 1.0 - self._options.new_share * (unread > 0)
            self._fit(pages.take(part), max(share, 0.01) * per_s * len(part) / len(there), context.now)
        self._queues = pages.slot, self._queue(pages, rows, context.now)
        return context.now + self._round_s / _ROUND

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return how late each page is for its period, new pages in turn; below `min_value` if it is not due."""
        rows, at, period_s = self._due(pages, context.now)
        new = np.isnan(pages.visited_at)
        late = np.where(new, 1.0 / (1.0 + pages.slot), np.maximum(context.now - at, 0.0) / period_s)
        early = (late < 1.0) & ~new & (self._options.periods != "")
        value = np.where(early, _NOT_YET, self._turns.order(late, new))
        return np.where(rows["misses"] >= self._options.drop_after, _DEAD, value)

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when the period of each page is over; infinity for removed pages."""
        rows, at, period_s = self._due(pages, context.now)
        return np.where(rows["misses"] >= self._options.drop_after, np.inf, at + period_s)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Measure the visits per second, and count the turns of new and visited pages."""
        self._capacity.made(len(values), context.now)
        self._turns.made(len(values), new)

    def notes(self) -> dict[str, float]:
        """Return the visits per second, once known."""
        return {"rpuc_per_s": self._capacity.per_s} if self._capacity.known else {}

    def resume(self, notes: dict[str, float]) -> None:
        """Resume with the visits per second of an earlier run; the types are fitted again."""
        self._capacity.resume(notes.get("rpuc_per_s", 0.0))

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the types, the queue of each page, the target list of changed pages, and the removed pages.

        Returns
        -------
        targets
            The target list: the pages whose last check found them changed, the latest first.

            slot : page
                The page.
            changed_at : instant
                Time of the visit that found the page changed.
        removed
            The pages that are given up because `drop_after` consecutive visits found them gone.

            slot : page
                The page.
            at : instant
                When the page was last requested.
            times : visits
                Consecutive visits that found the page gone.
        queues
            The pages that had been read when types were last fitted.

            slot : page
                The page.
            type : number
                Type whose queue the page is in, as in `types`.
        types
            The types of pages, once they are given or fitted.

            type : number
                Number of the type, from 0.
            pages : pages
                Pages in its queue.
            period_s : seconds
                Time between two visits of a page of this type.
            threshold : of the sum
                Minimum sum of a page of this type: the four weights, each times the page's component on the `scale`.
            retrieval : weight
                Weight of R, how often a page appears in answers per cycle.
            pagerank : weight
                Weight of P, a page's importance.
            update : weight
                Weight of U, a page's rate of change.
            click : weight
                Weight of C, the share of a page's appearances in which it is opened.
        """
        slots, rows = self._checked.all()
        targets, gone = rows["recent"] & 1 > 0, rows["misses"] >= self._options.drop_after
        latest = np.flatnonzero(targets)[np.argsort(-rows["changed_at"][targets], kind="stable")]
        found: dict[str, dict[str, NDArray[Any]]] = {
            "targets": {"slot": slots[latest], "changed_at": rows["changed_at"][latest]},
            "removed": {"slot": slots[gone], "at": rows["at"][gone], "times": rows["misses"][gone]},
            "queues": {"slot": self._queues[0], "type": self._queues[1]},
        }
        return found | ({} if self._types is None else {"types": self._table_of_types(self._types)})

    def _table_of_types(self, types: Types) -> dict[str, NDArray[Any]]:
        count = len(types.periods_s)
        return {
            "type": np.arange(count),
            "pages": np.bincount(self._queues[1], minlength=count),
            "period_s": types.periods_s,
            "threshold": types.thresholds,
            **{name: types.matrix[:, i] for i, name in enumerate(COMPONENTS)},
        }

    # Vectors and types

    def _vectors(self, pages: Pages, rows: NDArray[Any], now: float) -> Floats:
        """Return V; U is per second with half a change per round added, so that few early checks count little."""
        checks, none = rows["checks"], np.zeros(len(pages.slot))
        retrieved = none if pages.retrieved is None else pages.retrieved
        clicked = none if pages.clicked is None else pages.clicked
        age_s = np.where(rows["first_at"] > 0, now - rows["first_at"], self._round_s)
        cycles = (
            _LATELY_S * -np.expm1(-age_s / _LATELY_S) / self._round_s
        )  # the weight of cycles decays as that of retrievals does
        found = vectors(retrieved, cycles, pages.importance, checks, rows["changes"], clicked, retrieved)
        found[:, 2] = (found[:, 2] * checks + _HALF) / (rows["watched_s"] + self._round_s)
        return found

    def _fit(self, pages: Pages, budget_per_s: float, now: float) -> None:
        """Fit the parameters that are not given to a sample of pages and its part of the visits per second."""
        rows = self._checked.take(pages.slot)
        found = self._vectors(pages, rows, now)
        self._scale = Scale(found, self._options.scale)
        followed = found[:, 0] * found[:, 3]  # clicks per cycle; without any clicks, appearances count
        asked = followed if followed.any() else found[:, 0]
        part = self._options.demand if asked.any() else 0.0
        weight = _FAINT + (1.0 - part) * _shares(pages.importance) + part * _shares(asked)
        self._types = self._options.types_of(self._scale(found), weight, found[:, 2], budget_per_s)

    def _queue(self, pages: Pages, rows: NDArray[Any], now: float) -> Ints:
        """Return the type whose period applies to each page, shape (n,)."""
        if self._scale is None or self._types is None:
            return np.zeros(len(pages.slot), np.int64)
        scores = components(self._types.matrix, self._scale(self._vectors(pages, rows, now)))
        return queue(scores, self._types.thresholds, self._types.periods_s)

    def _due(self, pages: Pages, now: float) -> tuple[NDArray[Any], Floats, Floats]:
        """Return the rows of pages, the time of each page's last request, and its period."""
        rows = self._checked.take(pages.slot)
        at: Floats = np.fmax(rows["at"], pages.visited_at)
        periods_s = np.full(1, self._round_s) if self._types is None else self._types.periods_s
        period_s = periods_s[self._queue(pages, rows, now)]
        return rows, at, period_s * np.exp2(np.minimum(rows["misses"], 30))


def _shares(worth: Floats) -> Floats:
    """Return the worth of each page relative to the mean."""
    found: Floats = worth / max(float(worth.mean()), 1e-300)
    return found
