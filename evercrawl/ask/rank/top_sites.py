"""The most important sites of a crawl."""

from dataclasses import dataclass

import numpy as np

from evercrawl.ask.rank.top import largest
from evercrawl.model.view import View
from evercrawl.model.web.site_graph import SiteGraph, read_pages, site_numbers
from evercrawl.model.worth.site_weight import FollowedSiteCash
from evercrawl.store.state import State
from evercrawl.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class TopSite:
    """One site (registrable domain) of the list.

    Attributes
    ----------
    rank, site
        Rank, from 1, and registrable domain.
    importance, times_mean
        Importance from the links of other sites, as a share of all sites, and in units of the mean site.
    of_pages
        Total importance of its pages, as a share of all pages; it grows with the size of the site.
    by_opic
        Its share under OPIC on the graph of sites, learned visit by visit.
    linking
        Number of other sites that link to it.
    known, read
        Pages known, and pages whose content is held.
    """

    rank: int
    site: str
    importance: float
    times_mean: float
    of_pages: float
    by_opic: float
    linking: int
    known: int
    read: int


def top_sites(view: View, most: int) -> list[TopSite]:
    """Return the `most` most important sites, in descending order; equal sites in order of discovery.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    state, graph = view.state, SiteGraph(view)
    count, linking = len(state.sites), graph.links.linking
    of_pages = importance_of_pages(view)
    known, read = known_pages(state), read_pages(state)
    by_opic = FollowedSiteCash(view.partition).importance()
    best: list[int] = largest(graph.importance, most).tolist()
    return [
        TopSite(
            rank, state.sites[i], float(graph.importance[i]), float(graph.importance[i]) * count, float(of_pages[i]),
            float(by_opic[i]) if i < len(by_opic) else 0.0,
            int(linking[i]), int(known[i]), int(read[i]),
        )
        for rank, i in enumerate(best, 1)
    ]  # fmt: skip


def importance_of_pages(view: View) -> Floats:
    """Return the total importance of the pages of each site, shape (sites,); it sums to 1."""
    return np.bincount(site_numbers(view.state), view.importance, len(view.state.sites)).astype(np.float64)


def known_pages(state: State) -> Ints:
    """Return the number of known pages of each site, shape (sites,)."""
    return np.bincount(site_numbers(state), minlength=len(state.sites)).astype(np.int64)
