"""Selection of sites for an archive that cannot keep all: the most importance within a budget."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.ask.rank.top_sites import importance_of_pages
from evercrawl.model.view import View
from evercrawl.model.web.site_graph import OWN, SiteGraph, pages_that_count, site_numbers
from evercrawl.store.state import State
from evercrawl.types import Floats, Ints, Outcome

UNITS: Final = ("sites", "pages", "bytes")
MEASURES: Final = ("importance", "linking", "of_pages")
"""The fields of `SelectableSites` by which they can be chosen."""


@dataclass(frozen=True, slots=True)
class SelectableSites:
    """All sites of a crawl, by their index in its state; shape (sites,) each.

    Attributes
    ----------
    names
        Registrable domains.
    importance
        Importance from the links of other sites; it sums to 1.
    linking
        Number of other sites that link to each.
    of_pages
        Total importance of each site's pages.
    pages
        Number of known pages, without those that are gone or are aliases.
    size_bytes
        Total size of their bodies as sent; unread pages count with the mean of their site, or of the crawl.
    """

    names: list[str]
    importance: Floats
    linking: Ints
    of_pages: Floats
    pages: Ints
    size_bytes: Floats


@dataclass(frozen=True, slots=True)
class SelectedSite:
    """One site to keep: its rank among all sites, its value and its cost; see `SelectableSites`."""

    rank: int
    site: str
    importance: float
    times_mean: float
    linking: int
    pages: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The sites to keep.

    Attributes
    ----------
    sites
        The selected sites, in descending order of the measure `by`.
    of
        Number of all sites.
    importance
        Importance of the selected sites, as a share of all.
    by, unit, budget
        One of `MEASURES`, one of `UNITS`, and the budget in that unit.
    spent
        The part of the budget that the sites take, in that unit.
    """

    sites: list[SelectedSite]
    of: int
    importance: float
    by: str
    unit: str
    budget: int
    spent: int


def sites_of(view: View) -> SelectableSites:
    """Return all sites of a crawl, to select from.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    state, graph = view.state, SiteGraph(view)
    pages, sizes = _extent(state)
    return SelectableSites(
        list(state.sites), graph.importance, graph.links.linking, importance_of_pages(view), pages, sizes
    )


def select(sites: SelectableSites, budget: int, unit: str = "sites", by: str = "importance") -> Selection:
    """Return the sites to keep, each completely or not at all, in the order of value for cost.

    Parameters
    ----------
    sites
        The sites to select from.
    budget, unit
        The budget, and its unit, one of `UNITS`.
    by
        The measure to maximise, one of `MEASURES`.
    """
    values: Floats = np.asarray(getattr(sites, by), np.float64)
    costs = {
        "sites": np.ones(len(sites.names)),
        "pages": np.maximum(sites.pages, 1).astype(np.float64),
        "bytes": np.maximum(sites.size_bytes, 1.0),
    }[unit]
    kept = most_for(values, costs, budget)
    order: list[int] = np.lexsort((-sites.importance, -values)).tolist()
    count = len(order)
    chosen = [
        SelectedSite(
            rank, sites.names[i], float(sites.importance[i]), float(sites.importance[i]) * count, int(sites.linking[i]),
            int(sites.pages[i]), round(float(sites.size_bytes[i])),
        )
        for rank, i in enumerate(order, 1) if kept[i]
    ]  # fmt: skip
    share = float(sites.importance[kept].sum())
    return Selection(chosen, count, share, by, unit, budget, round(float(costs[kept].sum())))


def most_for(values: Floats, costs: Floats, budget: float) -> NDArray[np.bool_]:
    """Return which items to take for the most value within a budget, shape (n,); items without value are not taken.

    Greedy knapsack: in the order of value for cost, each item that still fits; or the most valuable single item that
    fits, if that is more. The result has at least half of the optimal value, and almost all of it if each item takes
    only a small part of the budget.

    Parameters
    ----------
    values, costs
        Value and cost of each item, shape (n,); costs are above 0.
    budget
        The greatest total cost.

    Examples
    --------
    >>> most_for(np.array([6.0, 5.0, 4.0]), np.array([10.0, 5.0, 4.0]), 10.0)
    array([False,  True,  True])
    >>> most_for(np.array([9.0, 1.0]), np.array([10.0, 1.0]), 10.0)
    array([ True, False])

    References
    ----------
    Dantzig (1957). Discrete-variable extremum problems.
    """
    taken = np.zeros(len(values), np.bool_)
    left = budget
    fits = (costs <= budget) & (values > 0)
    for i in np.argsort(-values / costs, kind="stable").tolist():
        if fits[i] and costs[i] <= left:
            taken[i] = True
            left -= float(costs[i])
    alone = int(np.argmax(np.where(fits, values, -1.0))) if fits.any() else 0
    if fits.any() and values[alone] > values[taken].sum():
        taken[:] = False
        taken[alone] = True
    return taken


def _extent(state: State) -> tuple[Ints, Floats]:
    """Return the number of pages to keep of each site, and their size in bytes, shape (sites,) each."""
    count = len(state.sites)
    rows: Any = state.records.rows[: state.records.count]
    there = pages_that_count(state)
    there[rows["slot"][rows["outcome"] == Outcome.GONE]] = False
    pages = np.bincount(site_numbers(state)[there], minlength=count).astype(np.int64)
    held = rows[np.isin(rows["outcome"], OWN)]
    site = state.site_of[held["host"]]
    read = np.bincount(site, minlength=count)
    size = np.bincount(site, held["wire_bytes"].astype(np.float64), count)
    usual = size.sum() / max(int(read.sum()), 1)
    mean = np.where(read > 0, size / np.maximum(read, 1), usual)
    return pages, pages.astype(np.float64) * mean
