"""WebFountain's buckets: which pages are alike, and what was measured of each kind."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats, Ints

HISTORY: Final = np.dtype([("visits", "f4"), ("changes", "f4"), ("exposure_s", "f8"), ("first_at", "f8")])
"""What is kept of a page: visits that could find a change, those that did, the time between, when it was first read."""
FORGOTTEN: Final = 20.0
"""Visits after which what came before begins to count less."""
_LEAST: Final = 1e-30


class BucketRates(NamedTuple):
    """What is known of I buckets, shape (I,) each.

    Attributes
    ----------
    pages
        How many.
    rate_per_s
        Of changes, as the visits found it.
    obsolete
        How many have changed since their last visit, by that rate.
    weight
        Their importance, on the mean.
    shares
        Parts of the new pages that turned out to belong to each.
    cost, cost_changed
        What a visit to one of its pages costs on the mean, and what it costs besides where it finds a change; in units
        of the budget.
    """

    pages: Floats
    rate_per_s: Floats
    obsolete: Floats
    weight: Floats
    shares: Floats
    cost: Floats
    cost_changed: Floats

    @property
    def visit_costs(self) -> Floats:
        """Return what a visit to a page of each costs now, shape (I,): as many find a change as have changed."""
        stale: Floats = np.minimum(self.obsolete / np.maximum(self.pages, 1.0), 1.0)
        return self.cost + self.cost_changed * stale

    @property
    def new_cost(self) -> float:
        """Return what the first visit to a page costs, by where new ones belong."""
        return float(self.shares @ (self.cost + self.cost_changed))


def sort_into(rate: Floats, weight: Floats, count: int, *, by_weight: bool) -> Ints:
    """Return the bucket of each page, shape (n,): of pages alike in rate, or in rate and then in weight.

    Borders are where all buckets have as much of two things together: pages, and visits that they need by the
    square-root law, f ~ sqrt(weight x rate). So there are more of them where more visits go to.

    Parameters
    ----------
    rate, weight
        Of each page, shape (n,), 0 or more.
    count
        Buckets there are at most.
    by_weight
        Whether they are split by weight too: a third to a half of the buckets' number by rate.

    Examples
    --------
    >>> sort_into(np.array([1.0, 9.0, 1.0, 9.0]), np.array([5.0, 5.0, 5.0, 5.0]), 2, by_weight=False)
    array([0, 1, 0, 1])
    """
    root = np.sqrt(np.maximum(rate * weight, _LEAST))
    needed = root / root.mean() + 1.0
    across = max(int(np.sqrt(count) + 0.5), 1) if by_weight else 1
    rows = _cut(rate, needed, max(count // across, 1))
    if across == 1:
        return rows
    bucket = np.zeros(len(rate), np.int64)
    for row in range(int(rows.max(initial=0)) + 1):
        of = np.flatnonzero(rows == row)
        bucket[of] = row * across + _cut(weight[of], needed[of], across)
    return bucket


def _cut(values: Floats, needed: Floats, parts: int) -> Ints:
    """Return the part in which each value lies, where all parts need about the same; equal values lie together."""
    kinds, place = np.unique(values, return_inverse=True)
    if len(kinds) <= parts:
        return place
    sums = np.bincount(place, needed, len(kinds))
    middle = (np.cumsum(sums) - sums / 2) / max(float(sums.sum()), _LEAST)
    return np.minimum((middle * parts).astype(np.int64), parts - 1)[place]


def measure(bucket: Ints, count: int, history: NDArray[Any], pages: Pages, now: float, cycle_s: float) -> BucketRates:
    """Return what the visits to the pages of each bucket tell of it.

    n visits, X of which found a change, after a time T on the mean, tell of r = -ln((n - X + 1/2) / (n + 1/2)) / T
    changes a second. It is taken together with what is believed of the pages, which counts as if they had been watched
    until one change: else a bucket whose first visits came too soon to find any would never be visited again.

    Parameters
    ----------
    bucket, count
        Of each page, shape (n,); how many there are.
    history
        See `HISTORY`, shape (n,).
    pages, now
        What is known of each page, n of them, all visited; and when.
    cycle_s
        Pages that were first read within the last cycle tell where new ones belong.
    """
    of = np.bincount(bucket, minlength=count).astype(np.float64)
    some = np.maximum(of, 1.0)
    sums = [np.bincount(bucket, history[name], count) for name in ("visits", "changes", "exposure_s")]
    visits, changes, exposure_s = sums
    found = -np.log((visits - changes + 0.5) / (visits + 0.5)) * visits
    mean = np.maximum(np.bincount(bucket, pages.shape / pages.scale_s, count) / some, _LEAST)
    rate = (np.maximum(found, 0.0) + 1.0) / (exposure_s + 1.0 / mean)
    age_s = np.maximum(now - pages.visited_at, 0.0)
    stale = np.bincount(bucket, -np.expm1(-rate[bucket] * age_s), count).astype(np.float64)
    latest = float(np.nanmax(history["first_at"], initial=0.0))
    late = np.bincount(bucket, history["first_at"] > latest - cycle_s, count) + 1.0 / count
    weight, cost, cost_changed = (
        np.bincount(bucket, column, count) / some
        for column in (np.maximum(pages.importance, 0.0), pages.cost, pages.cost_changed)
    )
    return BucketRates(of, rate, stale, weight, late / late.sum(), cost, cost_changed)
