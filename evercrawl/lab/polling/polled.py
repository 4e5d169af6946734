"""The columns of polled pages, as policies see them."""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.comebacks import scale_s
from evercrawl.change.deaths import RETURNS
from evercrawl.change.vanishing import VanishingRates
from evercrawl.lab.polling.beliefs import AnnouncementTrust, PollingBeliefs
from evercrawl.lab.polling.changing import ChangingWorld, SeenChanges
from evercrawl.lab.polling.conditions import Conditions
from evercrawl.schedule.base import Policy, Surroundings
from evercrawl.schedule.formulas.index import survival
from evercrawl.schedule.pages import Facts, Pages
from evercrawl.types import Floats, Ints, Slots

_RETRIEVED: Final = 10.0  # search results per cycle that show a page of average importance
_CLICKED: Final = 0.3  # share of these in which the page is clicked
_CHANGED_COST: Final = 0.5  # assumed share of changed pages in the estimate of a visit's cost


class HeldColumns:
    """The columns of all pages, kept up to date.

    Parameters
    ----------
    world, policy, conditions, cycle_s
        As in `polling`.
    seed
        Decides which pages disclose the time of their last change.

    Attributes
    ----------
    visited_at
        Time of each page's last visit, nan before the first, shape (n,); written in place.
    beliefs
        The posteriors of the rates.
    usual_cost
        Approximate cost of a visit.
    surroundings
        The policies' inputs besides columns.
    facts
        Features of pages and their URLs; zeros unless the caller replaces them.
    comebacks
        The learned rate at which vanished pages return.
    """

    def __init__(self, world: ChangingWorld, policy: Policy, conditions: Conditions, cycle_s: float, seed: int) -> None:
        n = len(world.weight)
        self._world, self._policy, self._cycle_s = world, policy, cycle_s
        self.visited_at = np.full(n, math.nan)
        known = getattr(world, "rate_per_s", None) if conditions.known else None
        self.beliefs = PollingBeliefs(
            world.host, known, forget=conditions.forget, cycle_s=cycle_s, by_host=conditions.by_host
        )
        self._dated = np.random.default_rng([seed, 1]).random(n) < conditions.dated
        self._trust = AnnouncementTrust(world.host)
        self._slot = np.arange(n, dtype=np.uint32)
        self._site = world.host.astype(np.uint32)
        self._cost = np.ones(n) if conditions.cost is None else conditions.cost
        self._cost_changed = np.zeros(n) if conditions.cost_changed is None else conditions.cost_changed
        self._mean = float(world.weight.mean())
        self._began_at = self._now = math.nan
        self._found_at = np.full(n, math.nan)
        self.usual_cost = float((self._cost + _CHANGED_COST * self._cost_changed).mean())
        self._misses = np.zeros(n)
        self._deaths_per_s = conditions.deaths / cycle_s
        self._read_at = np.full(n, math.nan)  # the last visit at which the page existed
        self._vanishing, self._known = VanishingRates(), conditions.known
        self.comebacks, self._awaits = self._vanishing.comebacks, policy.awaits and conditions.told_deaths
        self._vanish = conditions.deaths > 0 or conditions.recorded_deaths
        self._told_deaths = self._vanish and conditions.told_deaths
        self._returns_per_s = conditions.returns / (conditions.away * cycle_s)
        self.surroundings = Surroundings()
        self.facts = Facts(*(np.zeros(n) for _ in range(8)))

    def pass_to(self, now: float) -> None:
        """Advance the time to `now`, and update every column."""
        if math.isnan(self._began_at):
            self._began_at = now
            self._found_at[:] = now
        self._now = now
        signals = self._world.pass_to(now)
        if self._policy.clairvoyant:
            self._trust.neg_log_unchanged[:] = np.where(self._world.stale(now), math.inf, 0.0)
        elif signals is not None:
            self._trust.announce((signals.right + signals.wrong) * ~np.isnan(self.visited_at), now)
        self.beliefs.refresh()
        if self._told_deaths:
            self.surroundings.deaths_per_s = self._deaths_per_s if self._known else self._vanishing.deaths.per_s

    def at(self, now: float) -> None:
        """Set the time to `now`, between two looks at all pages."""
        self._now = now

    def missing(self, rows: Ints) -> NDArray[np.bool_]:
        """Return which of the given pages were gone at their last visit, shape (n,)."""
        return np.asarray(self._misses[rows] > 0)

    def found(self, rows: Ints, now: float) -> None:
        """Record when pages are discovered."""
        self._found_at[rows] = now

    def drop(self, rows: Ints) -> None:
        """Count pages that were found gone as unread; if they are read again, they show whether they have changed."""
        self.visited_at[rows] = math.nan
        self._misses[rows] = 0

    def read_before_s(self, rows: Ints, now: float) -> Floats:
        """Return the time since pages were last read, shape (n,); nan for never."""
        since_s: Floats = now - self._read_at[rows]
        return since_s

    def columns(self, slots: Slots | Ints | None) -> Pages:
        """Return the policy's columns of some pages, or of all (None)."""
        rows: Any = slice(None) if slots is None else slots
        weight, visited_at = self._world.weight[rows], self.visited_at[rows]
        comeback_scale_s = self._comeback_scale_s(rows) if self._awaits and self._vanish else None
        if self._vanish and not self._awaits:
            weight = weight * RETURNS ** self._misses[rows]
        cash = weight * (self._now - np.fmax(visited_at, self._began_at - self._cycle_s))
        return Pages(
            self._slot[rows], visited_at, weight, cash, self.beliefs.shape[rows], self.beliefs.scale_s[rows],
            self._cost[rows], self._cost_changed[rows], self._trust.neg_log_unchanged[rows], **self._extra(rows),
            announced_share=self._trust.announced_share(rows), found_at=self._found_at[rows],
            comeback_scale_s=comeback_scale_s,
        )  # fmt: skip

    def _comeback_scale_s(self, rows: Any) -> Floats | None:
        """Return the scale of the time until vanished pages return, 0 for others; None if no page is gone."""
        gone = self._misses[rows] > 0
        if not gone.any():
            return None
        usual_s = scale_s(self._returns_per_s) if self._known else self.comebacks.scale_s
        return np.where(gone, usual_s + self._gone_s(rows), 0.0)

    def _gone_s(self, rows: Any) -> Floats:
        """Return the time from the last read (or the discovery) of pages to their last visit."""
        read_at = self._read_at[rows]
        gone_s: Floats = self.visited_at[rows] - np.where(np.isnan(read_at), self._found_at[rows], read_at)
        return gone_s

    def fresh_by_time(self, rows: Ints, interval_s: Floats) -> Floats:
        """Return the probability that copies of that age are fresh, by the posteriors of rates alone; nan for none."""
        return survival(self.beliefs.shape[rows], self.beliefs.scale_s[rows], interval_s)

    def learn(self, rows: Ints, interval_s: Floats, seen: SeenChanges, now: float) -> tuple[Floats, Floats]:
        """Learn from visits; return the ages of changes, nan if undisclosed, and the cost of each visit.

        For a new page it is the age of its content. Rates are learned from the time since a page was last there, so a
        page that has returned also shows whether it has changed.
        """
        read, new = ~seen.gone, np.isnan(interval_s)
        dated = (seen.changed | (new & read & np.isfinite(seen.age_s))) & self._dated[rows]
        age_s = np.where(dated, seen.age_s, math.nan)
        since_s = np.where(read, now - self._read_at[rows], math.nan)
        later = ~np.isnan(since_s)
        self._learn_rates(rows[later], since_s[later], seen.changed[later], age_s[later], now)
        told = ~np.isnan(self._trust.announced_s(rows, now))
        self._trust.visited(rows)
        age_s[told] = math.nan  # after an announcement, the age of the change says nothing about the rate
        missing_s = np.where(self.missing(rows), self._gone_s(rows), math.nan)
        watched_s = np.where(new, math.nan, now - self._read_at[rows])  # a page that was dropped was not there
        self._vanishing.learn_many(self._world.host[rows], watched_s, missing_s, interval_s, seen.gone)
        self._misses[rows] = np.where(seen.gone, self._misses[rows] + 1, 0)
        self.visited_at[rows] = now
        self._read_at[rows[read]] = now
        return age_s, self._cost[rows] + self._cost_changed[rows] * (seen.changed | new)

    def _learn_rates(self, rows: Ints, since_s: Floats, changed: NDArray[np.bool_], age_s: Floats, now: float) -> None:
        """Learn from visits to pages that existed `since_s` ago."""
        seen = self._trust.intervals(rows, since_s, changed, age_s, now)
        if not self._policy.clairvoyant:
            self._trust.learn(rows, since_s, changed, self.beliefs, now)
        self.beliefs.learn(rows, since_s, changed, seen)

    def _extra(self, rows: Any) -> dict[str, Any]:
        """Return the additional columns that the policy needs."""
        return {name: MADE_UP[name](self, rows) for name in sorted(self._policy.needs)}

    # Columns on demand: links, searches and clicks in proportion to importance

    def in_links(self, rows: Any) -> Floats:
        """Return the in-degree, and the rank, of pages."""
        return np.asarray(self._world.weight[rows])

    def backlog(self, rows: Any) -> Floats:
        """Return the number of unread pages on the pages' hosts."""
        hosts = self._world.host
        unread = np.bincount(hosts[np.isnan(self.visited_at)], minlength=int(hosts.max()) + 1)
        return np.asarray(unread[hosts[rows]].astype(np.float64))

    def site(self, rows: Any) -> Slots:
        """Return the pages' host numbers; each host is a site."""
        return np.asarray(self._site[rows])

    def shown(self, rows: Any) -> Floats:
        """Return the number of search results that showed the pages."""
        weight, passed_s = self._world.weight[rows], self._now - self._began_at
        return np.asarray(_RETRIEVED * weight / self._mean * passed_s / self._cycle_s)

    def clicked(self, rows: Any) -> Floats:
        """Return the number of clicks on the pages in search results."""
        return _CLICKED * self.shown(rows)

    def facts_of(self, rows: Any) -> Facts:
        """Return features of the pages and their URLs."""
        return self.facts.take(rows)


MADE_UP: Final[dict[str, Callable[[HeldColumns, Any], Any]]] = {
    "in_links": HeldColumns.in_links,
    "rank": HeldColumns.in_links,
    "backlog": HeldColumns.backlog,
    "host_backlog": HeldColumns.backlog,
    "site": HeldColumns.site,
    "host": HeldColumns.site,
    "retrieved": HeldColumns.shown,
    "clicked": HeldColumns.clicked,
    "facts": HeldColumns.facts_of,
}
"""The function that simulates each on-demand column of `Pages`."""
