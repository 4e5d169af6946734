"""Tests whether the gaps between a page's changes are random."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.histories.evolution.changed import RecordedChanges
from evercrawl.lab.histories.evolution.gaps import CRITICAL, Gaps, anderson_darling, gaps
from evercrawl.types import Floats, Ints

Flags = NDArray[np.bool_]

LEAST: Final = 10
"""Minimum number of changes of a tested page."""


class Regularity(NamedTuple):
    """Regularity of changes; nan if no page could be tested.

    Attributes
    ----------
    tested
        Number of pages with at least `LEAST` changes. A visited page counts only if most of its changes were found
        after a visit that found none, because gaps are unknown otherwise.
    gap_variation
        Coefficient of variation of a page's gaps, the median over pages: 1 at random moments, 0 for a clock, more for
        bursts.
    rejected
        Share of the pages whose gaps are not exponential, by a test at the 5 % level.
    """

    tested: int
    gap_variation: float
    rejected: float


def regular(changes: RecordedChanges, least: int = LEAST) -> Regularity:
    """Return the regularity of the changes of pages."""
    found = gaps(changes)
    enough = _enough(found, least)
    pages = int(enough.sum())
    if not pages:
        return Regularity(0, math.nan, math.nan)
    kept = enough[found.page]
    place, gap_s = (np.cumsum(enough) - 1)[found.page[kept]], found.gap_s[kept]
    rejected = anderson_darling(place, gap_s, pages) > CRITICAL
    return Regularity(pages, float(np.median(_variation(place, gap_s, pages))), float(rejected.mean()))


def normalised(changes: RecordedChanges, least: int = LEAST) -> Floats:
    """Return the gaps of the tested pages, divided by their page's mean, ascending, for a plot."""
    found = gaps(changes)
    count = np.bincount(found.page)
    mean_s = np.bincount(found.page, found.gap_s) / np.maximum(count, 1)
    return np.sort((found.gap_s / mean_s[found.page])[_enough(found, least)[found.page]])


def _enough(found: Gaps, least: int) -> Flags:
    """Return which pages have enough gaps, most of them with a visit that found no change, shape (pages,)."""
    count = np.bincount(found.page)
    return (count >= least - 1) & (np.bincount(found.page, found.quiet_s > 0) * 2 >= count)


def _variation(page: Ints, gap_s: Floats, pages: int) -> Floats:
    """Return the coefficient of variation of the gaps between changes, for each page."""
    n = np.bincount(page, minlength=pages)
    mean_s = np.bincount(page, gap_s, pages) / n
    squares = np.bincount(page, (gap_s - mean_s[page]) ** 2, pages)
    return np.asarray(np.sqrt(squares / (n - 1)) / mean_s)
