"""The sites that matter most to a crawl."""

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
        From 1.
    importance, times_mean
        By the links from other sites: the share of what all sites have, and in units of the mean over sites.
    of_pages
        What all its pages have together of the importance of pages: a share that grows with the site.
    by_opic
        The share that OPIC on the graph of sites gave it, visit by visit.
    linking
        How many other sites link to it.
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
    """Return the `most` important sites, the most important first; what matters the same in order of discovery.

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
    """Return what the pages of each site have together, shape (sites,); it sums to 1."""
    return np.bincount(site_numbers(view.state), view.importance, len(view.state.sites)).astype(np.float64)


def known_pages(state: State) -> Ints:
    """Return how many pages of each site are known, shape (sites,)."""
    return np.bincount(site_numbers(state), minlength=len(state.sites)).astype(np.int64)
