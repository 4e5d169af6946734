"""Pages that are new on their site, as opposed to new to the crawl only.

A page is new on its site if its URL became known from a page of the same site that had been read before without this
link, or from a sitemap or feed more than `LISTED_S` after the first URLs that these listed for its host.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.importance_view import ImportanceView
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.types import NO_SLOT, Flags

LISTED_S: Final = 3600.0
"""Time allowed for the first reading of a host's sitemaps and feeds."""


class NewPages:
    """A classifier of pages, by slot, as new on their site."""

    def __init__(self, view: ImportanceView, runs: Runs) -> None:
        found = runs.gathered(("news_first", "news_count", "news_host", "news_source", "news_at"))
        news = self._linked(view, found) | self._listed(found)
        order = np.argsort(found["news_first"][news], kind="stable")
        self._first = found["news_first"][news][order].astype(np.int64)
        self._count = found["news_count"][news][order].astype(np.int64)

    def news(self, slots: NDArray[np.uint32]) -> Flags:
        """Return which pages are new on their site, shape (n,)."""
        if not len(self._first):
            return np.zeros(len(slots), np.bool_)
        place = np.searchsorted(self._first, slots.astype(np.int64), "right") - 1
        inside: Flags = (place >= 0) & (slots < self._first[place] + self._count[place])
        return inside

    @staticmethod
    def _linked(view: ImportanceView, found: dict[str, NDArray[Any]]) -> Flags:
        """Return which URLs became known from a page of their site."""
        linked: Flags = found["news_source"] != NO_SLOT
        site_of = np.array(view.state.site_of[: len(view.state.hosts)])
        hosts, sources = found["news_host"][linked], found["news_source"][linked]
        known = (hosts < len(site_of)) & (sources < len(site_of))
        same = np.zeros(len(hosts), np.bool_)
        same[known] = site_of[hosts[known].astype(np.int64)] == site_of[sources[known].astype(np.int64)]
        linked[linked] = same
        return linked

    @staticmethod
    def _listed(found: dict[str, NDArray[Any]]) -> Flags:
        """Return which URLs were listed more than `LISTED_S` after the first ones of their host."""
        listed: Flags = found["news_source"] == NO_SLOT
        hosts, at = found["news_host"][listed], found["news_at"][listed]
        _, where = np.unique(hosts, return_inverse=True)
        first_at = np.full(int(where.max(initial=-1)) + 1, np.inf)
        np.minimum.at(first_at, where, at)
        listed[listed] = at > first_at[where] + LISTED_S
        return listed
