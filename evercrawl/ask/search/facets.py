"""Facets of search results: how many pages each filter would leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evercrawl.model.view import View
from evercrawl.types import Slots

MOST_SITES: Final = 8
FETCHED_S: Final = (3_600.0, 86_400.0, 7 * 86_400.0, 30 * 86_400.0)
"""Bounds of the age facet, in seconds."""
FRESH: Final = (0.9, 0.5)
"""Bounds of the freshness facet: probabilities that a copy is up to date."""


@dataclass(frozen=True, slots=True)
class SearchFacets:
    """The number of the best pages that each filter would leave.

    Attributes
    ----------
    pages
        Number of pages counted; only the best few hundred are.
    sites, languages
        Name -> number of pages, the most frequent first.
    fetched_within_s, fresh
        Age in seconds, or least probability of being fresh -> number of pages; filters that leave all pages or none
        are omitted.
    """

    pages: int
    sites: dict[str, int]
    languages: dict[str, int]
    fetched_within_s: dict[float, int]
    fresh: dict[float, int]


def facets(view: View, slots: Slots, languages: dict[str, int]) -> SearchFacets:
    """Return the facets of matching pages.

    Parameters
    ----------
    view
        View of the crawl at the instant of the query.
    slots
        The pages, shape (n,); each has been visited.
    languages
        Language tag -> number of the pages in that language.
    """
    rows: Any = view.records(slots)[1]
    sites = [
        (view.state.sites[int(number)], int(count))
        for number, count in zip(*np.unique(view.state.site_of[rows["host"]], return_counts=True), strict=True)
    ]
    seen_at = np.array([view.state.instant(int(ticks)) for ticks in rows["seen"]])
    fresh = view.fresh(view.columns(slots)) if len(slots) else np.zeros(0)
    ages = {within_s: int(np.count_nonzero(seen_at >= view.now - within_s)) for within_s in FETCHED_S}
    likely = {least: int(np.count_nonzero(fresh >= least)) for least in FRESH}
    return SearchFacets(
        len(slots),
        dict(sorted(sites, key=lambda each: (-each[1], each[0]))[:MOST_SITES]),
        dict(sorted(languages.items(), key=lambda each: (-each[1], each[0]))),
        _telling(ages, len(slots)),
        _telling(likely, len(slots)),
    )


def _telling(counts: dict[float, int], pages: int) -> dict[float, int]:
    return {key: count for key, count in counts.items() if 0 < count < pages}
