"""Memory items of a state, shared by running crawls and by queries."""

from evercrawl.change.prior import SitePriors
from evercrawl.model.footprint import HOST, PAGE, URL, MemoryItem
from evercrawl.store.state import State


def state_items(state: State, priors: SitePriors | None = None) -> list[MemoryItem]:
    """Return the memory items of a state and of its sites' beliefs."""
    known, pages, hosts, sites = state.known.count, state.records.count, len(state.hosts), len(state.sites)
    items = [
        MemoryItem("table", URL, known, state.table.nbytes + known * (state.born.itemsize if len(state.born) else 0)),
        MemoryItem("records", PAGE, pages, state.records.nbytes),
        MemoryItem("contents by digest", PAGE, pages, state.originals.nbytes),
        MemoryItem("names of hosts and sites", HOST, hosts, state.hosts.nbytes + state.sites.nbytes),
        MemoryItem("sites of hosts", HOST, hosts, hosts * state.site_of.itemsize),
        MemoryItem("accounts of sites", HOST, sites, state.accounts.nbytes),
    ]
    return items if priors is None else [*items, MemoryItem("priors of sites", HOST, sites, priors.nbytes)]
