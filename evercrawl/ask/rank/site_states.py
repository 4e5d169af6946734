"""State of each site: freshness of its copies, rate of change, failures and waiting hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evercrawl.change.gamma import rate
from evercrawl.model.rules.waits import silent_until
from evercrawl.model.view import View
from evercrawl.store.state import State
from evercrawl.types import Flags, Floats, Outcome, Slots

DAY_S: Final = 86_400.0
_SUMS: Final = 6


@dataclass(frozen=True, slots=True)
class SiteState:
    """One site.

    Attributes
    ----------
    site
        Registrable domain.
    fresh
        Mean probability that a copy is up to date, weighted by importance; None if no copy is held.
    changes_per_day
        Estimated total number of changes per day of its copies.
    visited, errors
        Visited pages, and those of them whose last visit failed.
    hosts, away
        Known hosts, and those of them that are not requested now.
    """

    site: str
    fresh: float | None
    changes_per_day: float
    visited: int
    errors: int
    hosts: int
    away: int


def of_site(state: State, hosts: Slots, site: str) -> Flags:
    """Return which hosts, given by number, belong to a site, shape (n,); a host's name selects that host."""
    of = state.site_of[np.arange(len(state.hosts))].astype(np.int64)
    number = state.sites.find(site)
    wanted = of == number if number is not None else np.zeros(len(of), np.bool_)
    if (host := state.hosts.find(site)) is not None:
        wanted[host] = True
    return wanted[hosts]


def site_states(view: View) -> dict[str, SiteState]:
    """Return the state of each site, by name, in one pass over all visited pages."""
    state = view.state
    count = len(state.sites)
    site_of = state.site_of[np.arange(len(state.hosts))].astype(np.int64)
    sums = np.zeros((_SUMS, count))
    for slots in view.pieces():
        seen, rows = view.records(slots)
        slots, rows = slots[seen], rows[seen]
        if not len(slots):
            continue
        pages = view.columns(slots)
        fresh, importance = view.fresh(pages), view.importance[slots]
        held: Any = ~np.isnan(fresh)
        sites = site_of[rows["host"]]
        failed = rows["outcome"] == Outcome.ERROR
        changing = np.where(held, rate(pages.shape, pages.scale_s), 0.0)
        columns: tuple[Floats, ...] = (
            np.where(held, importance * np.where(held, fresh, 0.0), 0.0), np.where(held, importance, 0.0), changing,
            np.ones(len(slots)), failed.astype(np.float64), held.astype(np.float64),
        )  # fmt: skip
        for i, column in enumerate(columns):
            sums[i] += np.bincount(sites, column, count)[:count]
    hosts = np.bincount(site_of, minlength=count)
    left = {number for number, until in (silent_until(state) | dict(state.away.items())).items() if until > view.now}
    away = np.bincount(site_of[sorted(left)], minlength=count) if left else np.zeros(count, np.int64)
    fresh, weight, rates, visited, errors, held_pages = sums
    return {
        state.sites[i]: SiteState(
            state.sites[i], float(fresh[i] / weight[i]) if held_pages[i] and weight[i] else None,
            float(rates[i] * DAY_S), int(visited[i]), int(errors[i]), int(hosts[i]), int(away[i]),
        )
        for i in range(count)
    }  # fmt: skip
