"""Rates of change from counts alone: the two estimators of Chile's crawler for its formula (26).

A page had N visits after the first, of which X found a change. If every change was dated, T is the sum over visits of
the time for which the content found had been unchanged, at most the interval, and the rate is X' / T. Otherwise S is
the sum of the intervals, and the rate is -ln(1 - X / N) N / S. Neither is defined for a page that changed at every
visit or at none; the posterior mean replaces it.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.types import Floats

CERTAIN: Final = 1e9
"""A posterior with a shape above this is treated as a known rate."""
_ROW: Final = [("visits", "f4"), ("changes", "f4"), ("undated", "f4"), ("span_s", "f8"), ("unchanged_s", "f8")]


def by_dates(visits: ArrayLike, changes: ArrayLike, unchanged_s: ArrayLike) -> Floats:
    """Return X' / T, X' = (X - 1) - X / (N ln(1 - X / N)), per second; nan where X is 0 or N.

    Examples
    --------
    Four changes in ten visits, 23.5 s in total without one: a little less than 4 / 23.5.

    >>> by_dates(10, 4, 23.5).round(4).item(), round(4 / 23.5, 4)
    (0.161, 0.1702)

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating Frequency of Change, section 5. The survey's (27), and the crawler's own
    source, also divide by the time since the first visit, so that the result is not a rate.
    """
    n, x, t = (np.asarray(each, np.float64) for each in (visits, changes, unchanged_s))
    told = (x > 0) & (x < n) & (t > 0)
    n, x, t = np.where(told, n, 2.0), np.where(told, x, 1.0), np.where(told, t, 1.0)
    return np.where(told, ((x - 1) - x / (n * np.log1p(-x / n))) / t, np.nan)


def by_counts(visits: ArrayLike, changes: ArrayLike, span_s: ArrayLike) -> Floats:
    """Return -ln(1 - X / N) N / S, per second; nan where X is 0 or N.

    Examples
    --------
    Half of the visits found a change: half of such pages stay unchanged for an interval.

    >>> by_counts(10, 5, 100.0).round(4).item(), round(np.log(2).item() / 10, 4)
    (0.0693, 0.0693)
    """
    n, x, s = (np.asarray(each, np.float64) for each in (visits, changes, span_s))
    told = (x > 0) & (x < n) & (s > 0)
    n, x, s = np.where(told, n, 2.0), np.where(told, x, 1.0), np.where(told, s, 1.0)
    return np.where(told, -np.log1p(-x / n) * n / s, np.nan)


class ChileCounts:
    """Counts of visits and changes per page, 28 bytes each; the state is a fold over the visits."""

    def __init__(self) -> None:
        self._kept = Rows(_ROW)

    def learn(self, visits: Visits) -> None:
        """Count visits; first and failed visits to a page carry no information about change."""
        told = visits.take(visits.read & ~np.isnan(visits.interval_s))
        if not len(told):
            return
        rows = self._kept.upto(int(told.slot.max()) + 1)
        interval_s = np.maximum(told.interval_s, 0.0)
        dated = told.changed & ~np.isnan(told.age_s)
        rows["visits"][told.slot] += 1
        rows["changes"][told.slot] += told.changed
        rows["undated"][told.slot] += told.changed & ~dated
        rows["span_s"][told.slot] += interval_s
        rows["unchanged_s"][told.slot] += np.where(dated, np.clip(told.age_s, 0.0, interval_s), interval_s)

    def rates(self, pages: Pages) -> Floats:
        """Return the rate of change of each page, per second, shape (n,)."""
        rows = self._kept.take(pages.slot)
        dated = by_dates(rows["visits"], rows["changes"], rows["unchanged_s"])
        counted = by_counts(rows["visits"], rows["changes"], rows["span_s"])
        own = np.where(rows["undated"] == 0, dated, counted)
        believed = pages.shape / pages.scale_s
        return np.where(np.isnan(own) | (pages.shape > CERTAIN), believed, own)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the counts of each page that was visited twice, for export."""
        rows = self._kept.upto(0)
        slots = np.flatnonzero(rows["visits"]).astype(np.uint32)
        whole = {name: rows[name][slots].astype(np.int64) for name in ("visits", "changes", "undated")}
        return {"slot": slots, **whole, "span_s": rows["span_s"][slots], "unchanged_s": rows["unchanged_s"][slots]}
