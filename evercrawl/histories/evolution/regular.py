"""Whether the gaps between a page's changes are those of random moments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evercrawl.histories.evolution.exponential import CRITICAL, anderson_darling

if TYPE_CHECKING:
    from evercrawl.histories.evolution.changed import Changes
    from evercrawl.types import Floats, Ints

LEAST: Final = 10
"""Changes that a page must have shown to be tested."""


class Regular(NamedTuple):
    """How regular changes are; nan where no page could be tested.

    Attributes
    ----------
    tested
        Pages with `LEAST` changes or more.
    gap_variation
        Standard deviation of a page's gaps over their mean: 1 at random moments, 0 for a clock, more where changes come
        in bursts. The median over the pages.
    rejected
        Share of the pages whose gaps are no exponential ones, by a test that is wrong in 5 % of the pages that do
        change at random.
    """

    tested: int
    gap_variation: float
    rejected: float


def regular(changes: Changes, least: int = LEAST) -> Regular:
    """Return how regular the changes of some pages are."""
    page, gap_s = gaps(changes)
    _, number, count = np.unique(page, return_inverse=True, return_counts=True)
    enough = count >= least - 1
    kept = enough[number]
    pages = int(enough.sum())
    if not pages:
        return Regular(0, math.nan, math.nan)
    place = (np.cumsum(enough) - 1)[number[kept]]
    variation = _variation(place, gap_s[kept], pages)
    rejected = anderson_darling(place, gap_s[kept], pages) > CRITICAL
    return Regular(pages, float(np.median(variation)), float(rejected.mean()))


def gaps(changes: Changes) -> tuple[Ints, Floats]:
    """Return page and length of every gap between two changes in one life of a page; changes at one instant are one."""
    gap_s = np.diff(changes.at)
    within = (np.diff(changes.life) == 0) & (gap_s > 0)
    return changes.page[1:][within], gap_s[within]


def normalised(changes: Changes, least: int = LEAST) -> Floats:
    """Return the gaps of the pages that are tested, each over its page's mean, ascending: what a plot shows."""
    page, gap_s = gaps(changes)
    _, number, count = np.unique(page, return_inverse=True, return_counts=True)
    mean_s = np.bincount(number, gap_s, len(count)) / np.maximum(count, 1)
    return np.sort((gap_s / mean_s[number])[(count >= least - 1)[number]])


def _variation(page: Ints, gap_s: Floats, pages: int) -> Floats:
    """Return what `change.bursts.burstiness` says of each page, for many at once."""
    n = np.bincount(page, minlength=pages)
    mean_s = np.bincount(page, gap_s, pages) / n
    squares = np.bincount(page, (gap_s - mean_s[page]) ** 2, pages)
    return np.asarray(np.sqrt(squares / (n - 1)) / mean_s)
