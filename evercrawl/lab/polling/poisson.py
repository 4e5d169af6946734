"""Pages that change by Poisson processes, with the expected freshness of copies given the visits."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.polling.changing import AnnouncedSignals, ChangingWorld, SeenChanges
from evercrawl.lab.polling.population import DAY_S, Population
from evercrawl.schedule.formulas import allocation
from evercrawl.types import Floats, Ints

_STILL: Final = 1e-300  # stands for a rate of 0, to avoid division by zero


class Poisson(ChangingWorld):
    """Pages that change by Poisson processes; freshness is the *expected* one, given the times of visits.

    Changes are drawn only at visits, so a run of a million visits draws a million numbers. If changes are announced, or
    a clairvoyant policy sees them, the announced ones are drawn as time advances; the others enter by expectation.

    Parameters
    ----------
    pages
        The population.
    seed
        The random seed.
    recall, precision
        Share of changes that are announced, and share of announcements that are correct.
    clairvoyant
        Whether `stale` will be called; then every change is drawn.
    jumps_a_day
        Share of the pages per day whose rate becomes that of a random page.
    swaps_a_day
        Share of the pages per day that swap their importance with another page.
    deaths_a_day
        Share of the pages per day that vanish.
    returns, away_s
        Share of the vanished pages that return, and the mean time until then; the time is exponentially distributed. A
        page that returns has also made the changes of the time of its absence.

    Attributes
    ----------
    alive
        Whether each page exists, shape (n,).
    deaths_per_s
        Share of the pages per second that vanish; may be set during a run.
    """

    def __init__(
        self,
        pages: Population,
        seed: int,
        *,
        recall: float = 0.0,
        precision: float = 1.0,
        clairvoyant: bool = False,
        jumps_a_day: float = 0.0,
        swaps_a_day: float = 0.0,
        deaths_a_day: float = 0.0,
        returns: float = 0.0,
        away_s: float = DAY_S,
    ) -> None:
        self._draw = np.random.default_rng(seed)
        self._fate = np.random.default_rng([seed, 1])  # the same pages vanish whatever is visited
        self._return = np.random.default_rng([seed, 2])  # independent, so that returns do not change who vanishes
        self._returns, self._away_s = returns, away_s
        self._told = 1.0 if clairvoyant else recall
        self._false = recall * (1.0 / precision - 1.0)  # for each change
        self.announces = recall > 0 or clairvoyant
        self._jumps, self._swaps = jumps_a_day / DAY_S, swaps_a_day / DAY_S
        self.deaths_per_s = deaths_a_day / DAY_S
        self.population = pages
        self.weight, self.host = pages.weight.copy(), pages.host
        self.rate_per_s = np.maximum(pages.lam_per_s, _STILL)
        self._fresh = np.zeros(len(pages))  # the probability that the copy was fresh at `_since`; 0 without a copy
        self._since = np.zeros(len(pages))
        self._read_at = np.full(len(pages), math.nan)
        self._changed_at = np.full(len(pages), -math.inf)
        self.alive = np.ones(len(pages), np.bool_)
        self._back_at = np.full(len(pages), math.inf)
        self._counted = np.ones(len(pages), np.bool_)  # alive, or not yet found gone
        self._earned = self._passed = 0.0
        self._now = math.nan

    def visit(self, rows: Ints, now: float) -> SeenChanges:
        """Copy pages, and return the results."""
        self._settle(rows, now)
        alive = self.alive[rows]
        changed = (self._changed_at[rows] > self._read_at[rows]) & alive
        self._fresh[rows], self._counted[rows] = alive, alive
        self._read_at[rows[alive]] = now
        return SeenChanges(changed, now - self._changed_at[rows], ~alive)

    def pass_to(self, now: float) -> AnnouncedSignals | None:
        """Advance the time: let rates and importance drift, and draw the announcements."""
        begun = math.isnan(self._now)
        passed_s, self._now = 0.0 if begun else now - self._now, now
        if begun:
            self._since[:] = now
        signals = self._announce(passed_s) if self.announces else None
        self._drift(passed_s)
        return signals

    def stale(self, now: float) -> NDArray[np.bool_]:
        """Return which copies are stale, shape (n,)."""
        return (self._changed_at > self._read_at) & self.alive

    def earned(self, now: float) -> float:
        """Return the expected integral over time of the fresh share of all weight, in seconds."""
        self._settle(np.arange(len(self.weight)), now)
        return self._earned

    def best(self, budget: float) -> float:
        """Return the optimum for the present rates and weights."""
        if not (self._jumps or self._swaps or self.deaths_per_s):
            return self.population.optimum(budget).value
        alive = self.alive & (self.rate_per_s > _STILL)
        found = allocation.optimum(self.weight[alive], self.rate_per_s[alive], budget / DAY_S * len(self.weight))
        return found.value / float(self.weight[self.alive].sum())

    def _settle(self, rows: Ints, now: float | Floats) -> None:
        """Add the freshness of pages since they were last settled, and draw their last unannounced changes."""
        rate = np.maximum(self.rate_per_s[rows] * (1.0 - self._told), _STILL)
        passed_s = now - self._since[rows]
        back_s = self._draw.standard_exponential(len(rows)) / rate
        self._changed_at[rows] = np.where(back_s < passed_s, now - back_s, self._changed_at[rows])
        gone = -np.expm1(-rate * passed_s)
        worth = self.weight[rows] * self._fresh[rows] * self.alive[rows]
        self._earned += float(np.dot(worth, gone / rate)) / self._all
        self._fresh[rows] *= 1.0 - gone
        self._since[rows] = now

    @property
    def _all(self) -> float:
        """The weight of all pages, including vanished ones whose copies are still shown because no visit followed."""
        if not self.deaths_per_s:
            return float(self.weight.sum())
        return max(float(self.weight[self._counted].sum()), _STILL)

    def _announce(self, passed_s: float) -> AnnouncedSignals:
        """Draw the announced changes of the time that passed, and the false announcements."""
        right = self._draw.poisson(self.rate_per_s * self._told * passed_s)
        rows = np.flatnonzero(right)
        some = right[rows]
        if len(rows):
            first = 1.0 - self._draw.random(len(rows)) ** (1.0 / some)
            last = np.where(some == 1, first, self._draw.random(len(rows)) ** (1.0 / some))
            self._settle(rows, self._now - passed_s * (1.0 - first))
            self._fresh[rows] = 0.0
            self._changed_at[rows] = np.maximum(self._changed_at[rows], self._now - passed_s * (1.0 - last))
        return AnnouncedSignals(right, self._draw.poisson(self.rate_per_s * self._false * passed_s))

    def _drift(self, passed_s: float) -> None:
        for each, change, draw in (
            (self._jumps, self._jump, self._draw), (self._swaps, self._swap, self._draw),
            (self.deaths_per_s, self._die, self._fate),
        ):  # fmt: skip
            if each > 0 and passed_s > 0:
                rows = np.flatnonzero(draw.random(len(self.weight)) < each * passed_s)
                if len(rows):
                    self._settle(rows, self._now)
                    change(rows)
        if self._returns > 0:
            self._revive(np.flatnonzero(self._back_at <= self._now))

    def _jump(self, rows: Ints) -> None:
        others = self._draw.integers(0, len(self.weight), len(rows))
        self.rate_per_s[rows] = np.maximum(self.population.lam_per_s[others], _STILL)

    def _swap(self, rows: Ints) -> None:
        others = np.setdiff1d(self._draw.integers(0, len(self.weight), len(rows)), rows)
        rows = rows[: len(others)]
        self._settle(others, self._now)
        self.weight[rows], self.weight[others] = self.weight[others].copy(), self.weight[rows].copy()

    def _die(self, rows: Ints) -> None:
        if self._returns > 0:
            back = self._return.random(len(rows)) < self._returns
            away_s = self._away_s * self._return.standard_exponential(len(rows))
            self._back_at[rows] = np.where(self.alive[rows] & back, self._now + away_s, self._back_at[rows])
        self.alive[rows] = False

    def _revive(self, rows: Ints) -> None:
        self._settle(rows, self._now)
        self.alive[rows] = self._counted[rows] = True
        self._back_at[rows] = math.inf
