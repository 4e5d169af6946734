"""Polls in a replay: their results, and learning from them."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.backtest.calibrations import Calibrations
from evercrawl.lab.backtest.recorded import Recorded
from evercrawl.lab.backtest.shown import SIZE_BYTES, Shown, Shows
from evercrawl.lab.backtest.truth import Truth
from evercrawl.lab.polling.changing import SeenChanges
from evercrawl.lab.polling.polled import HeldColumns
from evercrawl.schedule.abilities import Learns, p_fresh
from evercrawl.schedule.base import Policy
from evercrawl.schedule.pages import Visits
from evercrawl.types import Floats, Ints

_NONE: Final = np.zeros(0, np.int64)


class Polls:
    """Polls recorded pages, and feeds the results to learners.

    Parameters
    ----------
    policy, world, held, pages
        The policy, the world it polls, the policy's inputs, and the recorded versions.
    learns
        Whether the policy learns; otherwise only the times of polls are kept.
    shows
        Observers of facts other than changes.

    Attributes
    ----------
    calibrations
        Calibration, site by site, of the policy's P(fresh) before each poll in the measured part.
    named
        Pages that the last polls discovered.
    """

    def __init__(
        self, policy: Policy, world: Recorded, held: HeldColumns, pages: Truth, *, learns: bool, shows: Shows
    ) -> None:
        self._policy, self._world, self._held, self._pages = policy, world, held, pages
        self._learns, self._shows = learns, shows
        self.named: Ints = _NONE
        self._folder = pages.folder.astype(np.uint64) + np.uint64(1)  # 0 is not a key
        self.calibrations = Calibrations(pages.site.astype(np.int64))

    def make(self, rows: Ints, at: Floats) -> SeenChanges:
        """Poll pages, each at its instant; return the results. A learning policy polls all at one instant."""
        if not self._learns:
            seen = self._world.visit_at(rows, at)
            self._held.visited_at[rows] = at
            return seen
        now = float(at[0])
        interval_s = now - self._held.visited_at[rows]
        later = ~np.isnan(interval_s)
        said = self._said(rows, later, now)
        seen = self._world.visit(rows, now)
        found = self._found(rows, seen, now)
        if now > self._pages.measured_at and later.any() and not self._policy.clairvoyant:
            self.calibrations.add(rows[later], said[later], self._world.fresh[later])
        since_s = np.where(seen.gone, math.nan, self._held.read_before_s(rows, now))  # as a crawl tells its policy
        by_time = self._held.fresh_by_time(rows, since_s)
        age_s, _ = self._held.learn(rows, interval_s, seen, now)
        if isinstance(self._policy, Learns):
            shown = self._shown(rows, seen, np.isnan(since_s) & ~seen.gone, now)
            self._policy.learn(self._visits(rows, since_s, seen, age_s, said, by_time, shown, found, now))
        return seen

    def _found(self, rows: Ints, seen: SeenChanges, now: float) -> Ints:
        """Return the number of pages that each poll discovers, and record facts."""
        linked, _, facts = self._shows
        if facts is not None:
            facts.polled(rows, self._world.held["version"][rows], ~seen.gone, now)
        counts = np.zeros(len(rows), np.int64)
        if linked is not None:
            self.named, counts[~seen.gone] = linked.polled(rows[~seen.gone], now)
        return counts

    def _shown(self, rows: Ints, seen: SeenChanges, first: NDArray[np.bool_], now: float) -> Shown:
        links = self._shows.links
        if links is not None:
            return links.polled(rows, self._world.held["version"][rows], ~seen.gone, first, now)
        return Shown(np.full(len(rows), SIZE_BYTES), np.zeros(len(rows), np.int64), np.zeros(len(rows), np.bool_))

    def _said(self, rows: Ints, later: NDArray[np.bool_], now: float) -> Floats:
        """Return the policy's P(fresh) of copies; nan without a copy, or if it is not needed."""
        said = np.full(len(rows), math.nan)
        asked = isinstance(self._policy, Learns) or now > self._pages.measured_at
        if asked and later.any() and not self._policy.clairvoyant:
            said[later] = p_fresh(self._policy, self._held.columns(rows[later]), self._held.surroundings(now))
        return said

    def _visits(
        self, rows: Ints, interval_s: Floats, seen: SeenChanges, age_s: Floats, said: Floats, by_time: Floats,
        shown: Shown, found: Ints, now: float,
    ) -> Visits:  # fmt: skip
        whole = seen.changed | (np.isnan(interval_s) & ~seen.gone)
        received, site = np.where(whole, shown.size, 0.0), self._pages.site[rows]
        return Visits(
            rows.astype(np.uint32), site, np.full(len(rows), now), interval_s, ~seen.gone, seen.gone,
            seen.changed, age_s, received, shown.size, shown.links, shown.relinked, found,
            self._folder[rows], self._pages.name[rows], said, site, fresh_by_time=by_time,
            kin=self._pages.kin[rows], digest=(self._world.held["state"][rows] + 2).astype(np.uint32),
        )  # fmt: skip
