"""The graph of links between a crawl's sites, as last read, and the importance of each site in it."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.importance.sites.sites import SiteLinks, site_importance, within_sites
from evercrawl.model.stored.reader import events
from evercrawl.model.view import View
from evercrawl.model.web.links_away import links_away
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.store.state import VANISHED, State
from evercrawl.types import NO_SLOT, Floats, Ints, Outcome, Slots

OWN: Final = (Outcome.OK, Outcome.TRUNCATED)
"""Outcomes of pages with content of their own."""

HELD: Final = (*OWN, Outcome.DUPLICATE)
"""Outcomes of pages with content."""

_PENDING: Final = 1 << 16  # pages whose links are combined in one batch


class SiteGraph:
    """The graph of sites, by their index in the crawl's state, from the links of read pages.

    Links within a site do not count. An alias (a redirect, a copy) links only to the page it leads to, and a gone
    page links nowhere. Each site with content of its own has the same source: a known but unread front page says
    nothing about the importance of its site, and a mirror has no content of its own. If the crawl trusts some sites,
    only these have a source.

    Parameters
    ----------
    view
        The view of the crawl. Its journal is read once from end to end.

    Attributes
    ----------
    links
        Between the sites.
    importance
        Of each site, shape (sites,); sums to 1, or is 0 if nothing was read.

    Raises
    ------
    StoreError
        The journal is damaged.
    """

    def __init__(self, view: View) -> None:
        state = view.state
        self._view = view
        self.links = site_links(view)
        trusted = state.accounts.sites["trusted"][: len(state.sites)] > 0
        source = (trusted & (read_pages(state, OWN) > 0)).astype(np.float64)
        self.importance = site_importance(self.links, source, tax=view.scheme.tax)

    def pages(self) -> Floats:
        """Return the importance of each known page by site and within its site; shape (known,), 0 for aliases.

        It sums to 1 over the sites that have pages other than aliases.
        """
        view = self._view
        counts = pages_that_count(view.state)
        found = np.zeros(len(counts))
        found[counts] = within_sites(view.importance[counts], site_numbers(view.state)[counts], self.importance)
        return found


def pages_that_count(state: State) -> NDArray[np.bool_]:
    """Return which known pages are not aliases, shape (known,)."""
    rows: Any = state.records.rows[: state.records.count]
    counts = np.ones(state.known.count, np.bool_)
    counts[rows["slot"][rows["alias"] != NO_SLOT]] = False
    return counts


def site_numbers(state: State) -> Ints:
    """Return the index of the site of each known page, shape (known,)."""
    numbers: Ints = state.site_of[state.known.hosts()].astype(np.int64)
    return numbers


def read_pages(state: State, outcomes: tuple[Outcome, ...] = HELD) -> Ints:
    """Return the number of pages of each site with content, or with other given outcomes; shape (sites,)."""
    rows: Any = state.records.rows[: state.records.count]
    hosts = rows["host"][np.isin(rows["outcome"], outcomes)]
    return np.bincount(state.site_of[hosts], minlength=len(state.sites)).astype(np.int64)


def site_links(view: View) -> SiteLinks:
    """Return the links between the sites of a crawl, each with its number of pages."""
    state = view.state
    site, last = site_numbers(state), last_read(state)
    found, read = list[tuple[Ints, Ints]](), np.zeros(len(state.sites), np.int64)
    sources, targets = list[int](), list[Slots]()
    for pointer, _, event in events(view.partition, view.partition.journal.sequence):
        if isinstance(event, Visit) and event.flags & HAS_LINKS and last.get(event.slot) == pointer:
            away, own = links_away(event), int(state.site_of[event.host])
            read[own] += event.alias == NO_SLOT
            if len(away):
                sources.append(own)
                targets.append(away)
        if len(sources) == _PENDING:
            found.append(_pairs(sources, targets, site))
            sources.clear()
            targets.clear()
    found.append(_pairs(sources, targets, site))
    source, target = (np.concatenate(column) for column in zip(*found, strict=True))
    return SiteLinks.of(len(state.sites), source, target, read)


def last_read(state: State) -> dict[int, int]:
    """Return for each page that is not gone the journal pointer of the event with its links."""
    rows: Any = state.records.rows[: state.records.count]
    rows = rows[(rows["event"] != 0) & ((rows["outcome"] != Outcome.GONE) | (rows["misses"] < VANISHED))]
    return dict(zip(rows["slot"].tolist(), rows["event"].tolist(), strict=True))


def _pairs(sources: list[int], targets: list[Slots], site: Ints) -> tuple[Ints, Ints]:
    """Return distinct pairs of a page's site and a site it links to."""
    if not sources:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    page = np.repeat(np.arange(len(sources)), [len(of) for of in targets])
    slots = np.concatenate(targets)
    known = slots < len(site)  # a running crawl may know more by now
    most = int(site.max()) + 1
    page, linked = np.divmod(np.unique(page[known] * most + site[slots[known]]), most)
    return np.array(sources, np.int64)[page], linked
