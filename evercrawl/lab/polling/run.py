"""One run of a policy on changing pages: selection, visits, learning and spending, tick by tick."""

import math
from typing import Final

import numpy as np

from evercrawl.lab.polling.changing import ChangingWorld
from evercrawl.lab.polling.choosing import Capped, Chooser, Exhaustive, ThroughFrontier
from evercrawl.lab.polling.conditions import BEGAN_AT, USUAL, Conditions, Polled
from evercrawl.lab.polling.poisson import Poisson
from evercrawl.lab.polling.polled import HeldColumns
from evercrawl.lab.polling.population import DAY_S, Population
from evercrawl.schedule.abilities import Learns, Plans
from evercrawl.schedule.base import Policy
from evercrawl.schedule.pages import Visits
from evercrawl.types import Ints

_STEP_DAYS: Final = 0.1  # maximum time between two choices
_STEPS: Final = 4  # minimum number of choices per tick
_WARMING: Final = 0.25  # share of these choices before the measured part, which may be less exact
_FINE_CYCLES: Final = 0.5  # cycles before the measured part from which on all choices are made
_KEPT: Final = 2.0  # pages of each kind kept between two looks, per visit
_SPENT: Final = 1e-9
_SIZE_BYTES: Final = 10_000.0


def world_of(pages: Population, budget: float, seed: int, conditions: Conditions, *, clairvoyant: bool) -> Poisson:
    """Return the world of a population under conditions; the events of a cycle are spread over its days."""
    return Poisson(
        pages,
        seed,
        recall=conditions.recall,
        precision=conditions.precision,
        clairvoyant=clairvoyant,
        jumps_a_day=conditions.jumps * budget,
        swaps_a_day=conditions.swaps * budget,
        deaths_a_day=conditions.deaths * budget,
        returns=conditions.returns,
        away_s=conditions.away * DAY_S / budget,
    )


class PollingRun:
    """One run of a policy: its world, its state, and its budget.

    Parameters
    ----------
    policy, pages, budget, seed, conditions
        As for `poll`.
    world
        The world; by default `pages` with random changes.
    """

    def __init__(
        self,
        policy: Policy,
        pages: Population,
        budget: float,
        seed: int = 1,
        conditions: Conditions = USUAL,
        world: ChangingWorld | None = None,
    ) -> None:
        self._policy, self._budget, self._conditions = policy, budget, conditions
        self._pages = len(pages)
        self.world = world or world_of(pages, budget, seed, conditions, clairvoyant=policy.clairvoyant)
        self.cycle_s = DAY_S / budget
        self.held = HeldColumns(self.world, policy, conditions, self.cycle_s, seed)
        self._steps = self._make_steps(conditions, _WARMING)
        self._chooser = self._make_chooser(conditions)
        self._now, self._plan_at = BEGAN_AT, -math.inf
        self._room = 0.0
        self.visits, self.unused = 0, 0.0
        self._gone = np.zeros(3, np.int64)  # visits, those that found a page gone, and found it so again

    def run(self, cycles: float, measured_from: float) -> Polled:
        """Run for some cycles, and measure from cycle `measured_from` on."""
        ticks, first = round(cycles * self._conditions.ticks), round(measured_from * self._conditions.ticks)
        earned, bests, start, began_at = [0.0], list[float](), 0.0, self._now
        self.world.pass_to(self._now)
        for tick in range(ticks):
            if tick == first:
                start, self.unused, began_at = self.world.earned(self._now), 0.0, self._now
                self._gone[:] = 0
            if tick == max(first - round(_FINE_CYCLES * self._conditions.ticks), 0):
                self._steps = self._make_steps(self._conditions)
            self._turn()
            if (tick + 1) % self._conditions.ticks == 0:
                earned.append(self.world.earned(self._now))
                if tick >= first:
                    bests.append(self.world.best(self._budget))
        value = (self.world.earned(self._now) - start) / (self._now - began_at)
        best = float(np.mean(bests)) if bests else self.world.best(self._budget)
        given = (ticks - first) / self._conditions.ticks * self._pages
        by_cycle = tuple(float(each) for each in np.diff(earned) / self.cycle_s)
        left = float(np.mean(~(self.held.visited_at > began_at)))
        gone, again = (self._gone[1:] / max(int(self._gone[0]), 1)).tolist()
        unused, abandoned = self.unused / given, self._abandoned()
        return Polled(value, best, value / best, unused, abandoned, left, by_cycle, self.visits, gone, again)

    def _abandoned(self) -> int:
        """Return the number of pages without a further due time or without any visit."""
        pages = self.held.columns(None)
        visited = ~np.isnan(pages.visited_at)
        due = self._policy.due(pages.take(visited), self.held.surroundings(self._now))
        return int((~visited).sum()) + int((due == np.inf).sum())

    def _make_chooser(self, conditions: Conditions) -> Chooser:
        policy, held, host = self._policy, self.held, self.world.host
        capped = None if conditions.cap_per_day is None else conditions.cap_per_day / DAY_S
        if conditions.frontier and capped is not None:
            return ThroughFrontier(policy, held, host, 1.0 / capped)
        if conditions.frontier:
            return ThroughFrontier(policy, held)
        if capped is not None:
            return Capped(policy, held, host, capped, self.cycle_s / conditions.ticks)
        kept = math.ceil(_KEPT * self._pages / conditions.ticks) if self._make_steps(conditions) > 1 else 0
        return Exhaustive(policy, held, kept)

    def _make_steps(self, conditions: Conditions, share: float = 1.0) -> int:
        visits = max(self._pages // conditions.ticks, 1)
        if conditions.frontier:
            return visits
        if self.world.announces or conditions.cap_per_day is not None:
            return 1
        usual = max(_STEPS, math.ceil(self.cycle_s / conditions.ticks / DAY_S / _STEP_DAYS))
        return min(max(round(share * (conditions.steps or usual)), 1), visits)

    def _turn(self) -> None:
        """Advance by a tick, and spend its share of the budget."""
        began_at, tick_s = self._now, self.cycle_s / self._conditions.ticks
        for step in range(1, self._steps + 1):
            self._now = began_at + tick_s * step / self._steps
            self._room += self._pages / self._conditions.ticks / self._steps
            self.held.at(self._now)
            if step == 1:
                self._look()
            while self._room > _SPENT and self._spend():
                pass
            if self._room >= 1.0:  # the policy wants no more visits: the rest of the budget is lost
                self.unused += self._room
                self._room = 0.0

    def _look(self) -> None:
        """Value all pages, and let the policy plan if a plan is due."""
        self.held.pass_to(self._now)
        if isinstance(self._policy, Plans) and self._now >= self._plan_at:
            seen = ~np.isnan(self.held.visited_at)
            if seen.any():
                known = int(seen.sum())
                context = self.held.surroundings(self._now, known)
                self._plan_at = self._policy.plan(self.held.columns(None).take(seen), len(seen) - known, context)
        self._chooser.look(self._now + self.cycle_s / self._conditions.ticks)

    def _spend(self) -> bool:
        """Visit as many pages as the remaining budget allows; return whether more visits may be possible."""
        costs = self._conditions.cost is not None
        most = max(int(self._room / self.held.usual_cost), 1) if costs else int(self._room + _SPENT)
        if most == 0:
            return False
        rows = self._chooser.choose(self._now, most)
        if len(rows):
            self._room -= self._visit(rows)
            self._chooser.visited(rows, self._now)
        return costs and len(rows) > 0

    def _visit(self, rows: Ints) -> float:
        """Visit pages, learn from the results, and return the cost."""
        self.visits += len(rows)
        interval_s = self._now - self.held.visited_at[rows]
        seen = self.world.visit(rows, self._now)
        again = seen.gone & self.held.missing(rows)
        self._gone += np.array([len(rows), seen.gone.sum(), again.sum()])
        by_time = self.held.fresh_by_time(rows, interval_s)
        age_s, spent = self.held.learn(rows, interval_s, seen, self._now)
        if isinstance(self._policy, Learns):
            no = np.zeros(len(rows), np.bool_)
            none = np.zeros(len(rows), np.int64)
            sized = np.full(len(rows), _SIZE_BYTES)
            site = self.world.host[rows].astype(np.uint32)
            self._policy.learn(
                Visits(
                    rows.astype(np.uint32), site, np.full(len(rows), self._now), interval_s, ~seen.gone, seen.gone,
                    seen.changed, age_s, np.where(seen.changed, sized, 0.0), sized, none, no, none,
                    site.astype(np.uint64) + np.uint64(1), rows.astype(np.uint64) + np.uint64(1), host=site,
                    fresh_by_time=by_time,
                )
            )  # fmt: skip
        return float(spent.sum())
