"""Which pages are new to a site that had been read, and which only to the crawl.

The first reading of a page is news where its URL became known by a page of its own site that had been read before and
now had this link, or by a sitemap or feed later than `LISTED_S` after the first URLs that these named of its host.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.importance_view import ImportanceView
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.types import NO_SLOT, Flags

LISTED_S: Final = 3600.0
"""How long the first reading of a host's sitemaps and feeds may take."""


class NewPages:
    """Tells which pages are news, by slot."""

    def __init__(self, view: ImportanceView, runs: Runs) -> None:
        found = runs.gathered(("news_first", "news_count", "news_host", "news_source", "news_at"))
        news = self._linked(view, found) | self._listed(found)
        order = np.argsort(found["news_first"][news], kind="stable")
        self._first = found["news_first"][news][order].astype(np.int64)
        self._count = found["news_count"][news][order].astype(np.int64)

    def news(self, slots: NDArray[np.uint32]) -> Flags:
        """Return which pages are new to a site that had been read, shape (n,)."""
        if not len(self._first):
            return np.zeros(len(slots), np.bool_)
        place = np.searchsorted(self._first, slots.astype(np.int64), "right") - 1
        inside: Flags = (place >= 0) & (slots < self._first[place] + self._count[place])
        return inside

    @staticmethod
    def _linked(view: ImportanceView, found: dict[str, NDArray[Any]]) -> Flags:
        """Return which URLs were named by a page of their site."""
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
        """Return which URLs were listed long after the first ones of their host."""
        listed: Flags = found["news_source"] == NO_SLOT
        hosts, at = found["news_host"][listed], found["news_at"][listed]
        _, where = np.unique(hosts, return_inverse=True)
        first_at = np.full(int(where.max(initial=-1)) + 1, np.inf)
        np.minimum.at(first_at, where, at)
        listed[listed] = at > first_at[where] + LISTED_S
        return listed
