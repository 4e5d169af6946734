"""Which sites an archive should keep, where it cannot keep all: the most importance for its budget."""

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
        By the links from other sites; it sums to 1.
    linking
        How many other sites link to each.
    of_pages
        What the pages of each have together of the importance of pages.
    pages
        Pages known, but for those that are gone or only lead to another.
    size_bytes
        What their bodies take as the site sends them; those never read as much as the others of their site do on the
        mean, or as those of the crawl.
    """

    names: list[str]
    importance: Floats
    linking: Ints
    of_pages: Floats
    pages: Ints
    size_bytes: Floats


@dataclass(frozen=True, slots=True)
class SelectedSite:
    """One site to keep: its rank among all sites, what it is worth, and what it takes; see `SelectableSites`."""

    rank: int
    site: str
    importance: float
    times_mean: float
    linking: int
    pages: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What to keep.

    Attributes
    ----------
    sites
        To keep, the most important first, by what they are chosen by.
    of
        Sites there are.
    importance
        Of the sites to keep, as a share of all.
    by, unit, budget
        One of `MEASURES`, one of `UNITS`, and how many of these there may be.
    spent
        How many of them the sites take.
    """

    sites: list[SelectedSite]
    of: int
    importance: float
    by: str
    unit: str
    budget: int
    spent: int


def sites_of(view: View) -> SelectableSites:
    """Return what there is to choose from.

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
    """Return the sites to keep: each whole or not at all, those first that bring most for what they take.

    Parameters
    ----------
    sites
        What there is.
    budget, unit
        How much may be kept, and of what: one of `UNITS`.
    by
        What they are to bring much of: one of `MEASURES`.
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
    """Return which things to take for the most value within a budget, shape (n,); things without value are left.

    In the order of value for cost, each that still fits; or the most valuable that fits alone, where that is more. So
    there is never less than half of what the best choice brings, and where each takes little of the budget hardly less
    than all of it.

    Parameters
    ----------
    values, costs
        Of each thing, shape (n,); costs are above 0.
    budget
        What may be spent.

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
    """Return pages that there are to keep of each site, and what they take in bytes, shape (sites,) each."""
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
