"""Freshness targets: the worth that visits need, beside importance, to keep some pages as fresh as requested.

Under one price P a page is visited whenever a visit is worth P. A target says that the copies matching a pattern must
be fresh for a share of the time. Maximising the worth kept fresh under that constraint gives a multiplier mu: each of
these copies counts for mu in addition to its worth, the same for all of them. The smallest mu that meets the target
in the long run, by the policy's own intervals at the present price, is recomputed every `AGAIN_S`. If no mu meets it,
because of the budget, the rest of hosts or the minimum time between two visits, the one beyond which nearly nothing
is gained is taken, which leaves the rest to other pages.

References
----------
Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, for visits under a budget; mu is the
Lagrange multiplier of a second constraint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.config.patterns import UrlPattern
from evercrawl.config.targets import Target
from evercrawl.model.rates import NO_COPY
from evercrawl.model.rules.waits import wait_s
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas.index import survival
from evercrawl.schedule.formulas.tolerance import fresh_within, mean_fresh_within
from evercrawl.store.state import State
from evercrawl.types import Floats, Ints, Slots

if TYPE_CHECKING:
    from evercrawl.schedule.abilities import Priced
    from evercrawl.schedule.pages import Pages

AGAIN_S: Final = 60.0
"""How often multipliers are looked for anew."""
ROOM: Final = 0.9
"""Part of the budget, and of the visits of a host, that targets take together at most."""
SAMPLE: Final = 512
"""Copies of a target that stand for all."""
PIECE: Final = 1 << 12  # records whose URLs are matched in one turn
_LOOKED: Final = np.uint16(1 << 15)
_WIDEST: Final = 25.0  # search bounds on the logarithm of mu over the price, on both sides
_TRIES: Final = 20
_LITTLE: Final = 0.005  # of freshness: if a target is out of reach, any larger mu gains less than this
_GAIN: Final = 0.2  # share of the shortfall in freshness (logit) that each correction adds
_MORE: Final = (-0.5, 1.0)  # maximum correction of the planned freshness (logit)
_NEWS: Final = 0.02  # relative change of mu; smaller ones reschedule no page


@dataclass(frozen=True, slots=True)
class Room:
    """The capacity available to visits of pages with targets.

    Attributes
    ----------
    per_s
        Units of the budget per second; infinity if unknown.
    rest_s
        Maps host numbers to the minimum time between two visits, in seconds.
    refresh_after_s
        Minimum time between two visits of a page.
    """

    per_s: float
    rest_s: Callable[[Ints], Floats]
    refresh_after_s: float


@dataclass(frozen=True, slots=True)
class Needed:
    """The requirements of a target, by current beliefs.

    Attributes
    ----------
    target, copies
        The section, and the number of matching copies.
    weight
        mu: the worth added to each copy's importance, in the same unit.
    fresh
        The share fresh in the long run with that mu.
    per_s, visits_per_s
        Units of the budget, and visits, that it takes per second.
    met
        Whether the capacity suffices for the target.
    """

    target: Target
    copies: int
    weight: float
    fresh: float
    per_s: float
    visits_per_s: float
    met: bool


class Targets:
    """Adds to the worth of pages what it takes to meet freshness targets.

    Nothing is stored between runs: everything follows from the settings, the price and the beliefs about the pages.

    Parameters
    ----------
    state
        The known pages.
    targets
        The sections; if several match a page, the one that adds most counts.

    Attributes
    ----------
    wanted
        The requirements of each, in the order of the sections; empty before the price is known.
    """

    def __init__(self, state: State, targets: Sequence[Target] = ()) -> None:
        self._state = state
        self.wanted: tuple[Needed, ...] = ()
        self.targets: tuple[Target, ...] = ()
        self._of: NDArray[np.uint16] = np.zeros(0, np.uint16)  # by slot: targets that apply, and a "matched" bit
        self._patterns = list[UrlPattern]()
        self._weights: Floats = np.zeros(0)
        self._more = list[float]()  # corrections of the plan in logits: visits are later than planned
        self._aside = False
        self._next_at, self._looked = -math.inf, 0
        self.change(targets)

    def change(self, targets: Sequence[Target]) -> None:
        """Apply other sections from now on, to known pages too."""
        if tuple(targets) == self.targets:
            return
        self.targets = tuple(targets)
        self._patterns = [UrlPattern(target.pattern) for target in targets]
        self._of = np.zeros(0, np.uint16)
        self._weights, self.wanted = np.zeros(len(targets)), ()
        self._more = [0.0] * len(targets)
        self._next_at, self._looked = -math.inf, 0

    @property
    def active(self) -> bool:
        """Whether any page counts for more than its importance."""
        return not self._aside and bool(self._weights.any())

    def added(self, slots: Slots) -> Floats:
        """Return the worth added to pages by targets, in units of importance, shape (n,)."""
        found, added = self._matched(slots), np.zeros(len(slots))
        for i, weight in enumerate(self._weights.tolist()):
            np.maximum(added, np.where((found >> np.uint16(i) & np.uint16(1)) != 0, weight, 0.0), out=added)
        return added

    def look(self, pieces: int = 1) -> bool:
        """Match the URLs of a batch of visited pages; return whether all are matched."""
        count = self._state.records.count
        last = min(self._looked + pieces * PIECE, count)
        if self.targets and self._looked < last:
            self._matched(np.ascontiguousarray(self._state.records.rows["slot"][self._looked : last]))
        self._looked = last
        return last >= count

    def turn(self, now: float, policy: Priced, columns: Callable[[Slots], Pages], room: Room) -> bool:
        """Recompute the multipliers if it is time; return whether the worth of pages changed.

        Parameters
        ----------
        now
            The instant, in seconds since the epoch.
        policy
            A policy with a price that has learned nothing about single pages.
        columns
            Maps slots to the policy's columns.
        room
            The capacity.
        """
        if not self.targets or not self.look() or now < self._next_at or not policy.price > 0:
            return False
        self._next_at = now + AGAIN_S
        before = self._weights
        left, found = room.per_s * ROOM, list[Needed]()
        for i in range(len(self.targets)):
            if self.wanted:
                self._correct(i, columns, now)
            one = self._solved(i, policy, columns, replace(room, per_s=left))
            left = max(left - one.per_s, 0.0)
            found.append(one)
        self.wanted = tuple(found)
        self._weights = np.array([one.weight for one in found])
        return bool((np.abs(self._weights - before) > _NEWS * np.maximum(before, 1e-300)).any())

    def copies(self, index: int) -> Slots:
        """Return the slots of the copies that a target matches, among the pages matched so far."""
        slots = np.flatnonzero(self._of >> np.uint16(index) & np.uint16(1)).astype(np.uint32)
        cells = self._state.table.record.take(slots)
        records = self._state.records
        seen = cells < records.count
        rows = records.rows[np.where(seen, cells, 0)]
        held: Slots = slots[seen & (rows["digest"] != 0) & ~np.isin(rows["outcome"], NO_COPY)]
        return held

    def fresh_now(self, index: int, columns: Callable[[Slots], Pages], context: Context, most: int = 1 << 31) -> Floats:
        """Return the probability that a target's copies, or a sample of them, are fresh now, within its tolerance.

        Shape (copies,), or (most,) for a sample.
        """
        pages, within_s = columns(_sampled(self.copies(index), most)), self.targets[index].within
        age_s = np.maximum(context.now - pages.visited_at, 0.0)
        doubt = np.where(age_s > within_s, pages.neg_log_unchanged, 0.0)
        doubt += context.deaths_per_s * np.maximum(age_s - within_s, 0.0)
        return fresh_within(pages.shape, pages.scale_s, age_s, within_s) * np.exp(-doubt)

    def _correct(self, index: int, columns: Callable[[Slots], Pages], now: float) -> None:
        """Adjust the planned freshness by the freshness of copies now; not if the plan is out of reach."""
        before, fresh = self.wanted[index], self.fresh_now(index, columns, Context(now), SAMPLE)
        if len(fresh) and before.met:
            short = _logit(self.targets[index].fresh) - _logit(float(fresh.mean()))
            self._more[index] = min(max(self._more[index] + _GAIN * short, _MORE[0]), _MORE[1])

    def _matched(self, slots: Slots) -> NDArray[np.uint16]:
        if not len(slots):
            return np.zeros(0, np.uint16)
        self._of = grown(self._of, int(slots.max()) + 1)
        new = slots[self._of[slots] == 0]
        for slot, url in zip(new.tolist(), self._state.urls.get_many(new.tolist()) if len(new) else (), strict=True):
            self._of[slot] = _LOOKED | np.uint16(sum(1 << i for i, one in enumerate(self._patterns) if one.search(url)))
        return self._of[slots]

    def _solved(self, index: int, policy: Priced, columns: Callable[[Slots], Pages], room: Room) -> Needed:
        """Return the smallest multiplier that meets a target, or the one beyond which little is gained."""
        target, slots = self.targets[index], self.copies(index)
        if not len(slots):
            return Needed(target, 0, 0.0, 1.0, 0.0, 0.0, met=True)
        some = _sampled(slots, SAMPLE)
        self._aside = True
        try:
            pages = columns(some)
        finally:
            self._aside = False
        pages = replace(pages, visited_at=np.zeros(len(some)), neg_log_unchanged=np.zeros(len(some)))
        rows = self._state.records.rows
        cells, all_cells = self._state.table.record.take(some), self._state.table.record.take(slots)
        hosts = rows["host"][cells]
        _, place = np.unique(hosts, return_inverse=True)
        on_host = np.bincount(rows["host"][all_cells], minlength=int(hosts.max()) + 1)[hosts]
        here = np.bincount(place)[place]
        bounds = _Bounds(
            len(slots) / len(some), place, on_host / here, room.rest_s(hosts.astype(np.int64)),
            wait_s(rows["misses"][cells], room.refresh_after_s), room.per_s,
        )  # fmt: skip

        def at(logarithm: float) -> tuple[float, float, float]:
            weight = policy.price * math.exp(logarithm) if logarithm > -_WIDEST else 0.0
            due = policy.due(replace(pages, importance=pages.importance + weight), Context(0.0))
            return bounds.of(due, pages, target.within)

        low, high = -_WIDEST, _WIDEST
        found = at(low)
        most, goal = at(high)[0], _share(_logit(target.fresh) + self._more[index])
        wish = min(goal, most - _LITTLE)
        if found[0] >= wish:
            return Needed(target, len(slots), 0.0, *found, most >= target.fresh)
        for _ in range(_TRIES):
            middle = (low + high) / 2
            reached = at(middle)
            low, high, found = (low, middle, reached) if reached[0] >= wish else (middle, high, found)
        return Needed(target, len(slots), policy.price * math.exp(high), *at(high), most >= target.fresh)


def _sampled(slots: Slots, most: int) -> Slots:
    return slots[np.linspace(0, len(slots) - 1, most).astype(np.int64)] if len(slots) > most else slots


def _logit(share: float) -> float:
    share = min(max(share, 1e-4), 1 - 1e-4)
    return math.log(share / (1.0 - share))


def _share(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Limits on how often sampled copies may be visited.

    Attributes
    ----------
    times
        Number of copies that each represents.
    place
        Index of each copy's host among those in the sample, shape (n,).
    on_host
        Number of copies on its host that each represents, shape (n,).
    rest_s, wait_s
        Minimum time between two visits of the host, and of the page, shape (n,).
    per_s
        Units of the budget per second.
    """

    times: float
    place: Ints
    on_host: Floats
    rest_s: Floats
    wait_s: Floats
    per_s: float

    def of(self, due_s: Floats, pages: Pages, within_s: float) -> tuple[float, float, float]:
        """Return freshness, budget units and visits per second at intervals, stretched to the capacity."""
        tau = np.maximum(np.maximum(due_s, self.wait_s), 1e-3)
        busy = np.bincount(self.place, self.on_host / tau)[self.place] * self.rest_s
        tau *= np.maximum(busy / ROOM, 1.0)
        spent = self._spent(tau, pages)
        if spent > self.per_s:
            tau *= spent / max(self.per_s, 1e-12)
            spent = self.per_s
        fresh = mean_fresh_within(pages.shape, pages.scale_s, tau, within_s)
        return float(fresh.mean()), spent, float((self.times / tau).sum())

    def _spent(self, tau: Floats, pages: Pages) -> float:
        still = survival(pages.shape, pages.scale_s, tau)
        cost = pages.cost + pages.cost_changed * (1.0 - still)
        return float((self.times * cost / tau).sum())
