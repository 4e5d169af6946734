"""The links between the sites of a crawl, as its pages were last read, and how much each site matters by them."""

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

_PENDING: Final = 1 << 16  # pages whose links are put together at a time


class SiteGraph:
    """Sites by their index in the crawl's state, linked as the pages are that were read.

    Links within a site do not count. A page that only leads to another (a redirect, a copy) links to that one alone,
    and one that is gone links nowhere. Each site with content of its own has the same source: that the front page of
    one is known which nobody has read says nothing of how much it matters, and a mirror has nothing of its own. Where
    the crawl trusts some sites, only these have one.

    Parameters
    ----------
    view
        What is believed of the crawl. Its journal is read once from end to end.

    Attributes
    ----------
    links
        Between the sites.
    importance
        Of each site, shape (sites,); it sums to 1, and is 0 where nothing was read at all.

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
        """Return the importance of each known page by site and, inside a site, by page; shape (known,), 0 for aliases.

        It sums to 1 over the sites with pages that count.
        """
        view = self._view
        counts = pages_that_count(view.state)
        found = np.zeros(len(counts))
        found[counts] = within_sites(view.importance[counts], site_numbers(view.state)[counts], self.importance)
        return found


def pages_that_count(state: State) -> NDArray[np.bool_]:
    """Return which known pages are more than aliases of others, shape (known,)."""
    rows: Any = state.records.rows[: state.records.count]
    counts = np.ones(state.known.count, np.bool_)
    counts[rows["slot"][rows["alias"] != NO_SLOT]] = False
    return counts


def site_numbers(state: State) -> Ints:
    """Return the index of the site of each known page, shape (known,)."""
    numbers: Ints = state.site_of[state.known.rows()["host"]].astype(np.int64)
    return numbers


def read_pages(state: State, outcomes: tuple[Outcome, ...] = HELD) -> Ints:
    """Return how many pages of each site hold content, or had another of these outcomes; shape (sites,)."""
    rows: Any = state.records.rows[: state.records.count]
    hosts = rows["host"][np.isin(rows["outcome"], outcomes)]
    return np.bincount(state.site_of[hosts], minlength=len(state.sites)).astype(np.int64)


def site_links(view: View) -> SiteLinks:
    """Return the links between the sites of a crawl, each with the number of pages behind it."""
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
    """Return for each page that is not gone the journal pointer of the event that has its links."""
    rows: Any = state.records.rows[: state.records.count]
    rows = rows[(rows["event"] != 0) & ((rows["outcome"] != Outcome.GONE) | (rows["misses"] < VANISHED))]
    return dict(zip(rows["slot"].tolist(), rows["event"].tolist(), strict=True))


def _pairs(sources: list[int], targets: list[Slots], site: Ints) -> tuple[Ints, Ints]:
    """Return site and linked site for each page and each site that it links to, once."""
    if not sources:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    page = np.repeat(np.arange(len(sources)), [len(of) for of in targets])
    slots = np.concatenate(targets)
    known = slots < len(site)  # the crawl that runs beside may know more by now
    most = int(site.max()) + 1
    page, linked = np.divmod(np.unique(page[known] * most + site[slots[known]]), most)
    return np.array(sources, np.int64)[page], linked
