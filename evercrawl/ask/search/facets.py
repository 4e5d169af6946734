"""What the pages that answer have in common: by how much each filter would narrow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evercrawl.model.view import View
from evercrawl.types import Slots

MOST_SITES: Final = 8
FETCHED_S: Final = (3_600.0, 86_400.0, 7 * 86_400.0, 30 * 86_400.0)
"""Ages that are told apart, in seconds."""
FRESH: Final = (0.9, 0.5)
"""Probabilities that a copy is the page as it is now that are told apart."""


@dataclass(frozen=True, slots=True)
class SearchFacets:
    """How many of the best pages each filter would leave.

    Attributes
    ----------
    pages
        How many were counted; those beyond the best some hundred are not.
    sites, languages
        Name -> pages, the most frequent first.
    fetched_within_s, fresh
        Age in seconds, or least probability of being fresh -> pages; those that leave all or none are left out.
    """

    pages: int
    sites: dict[str, int]
    languages: dict[str, int]
    fetched_within_s: dict[float, int]
    fresh: dict[float, int]


def facets(view: View, slots: Slots, languages: dict[str, int]) -> SearchFacets:
    """Count the pages that answer.

    Parameters
    ----------
    view
        What is believed of them, at the instant of the question.
    slots
        The pages, shape (n,); each has been visited.
    languages
        Tag -> how many of them are in that language.
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
