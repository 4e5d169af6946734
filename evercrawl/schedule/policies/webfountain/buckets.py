"""WebFountain's buckets: groups of similar pages, and the measurements of each group."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats, Ints

HISTORY: Final = np.dtype([("visits", "f4"), ("changes", "f4"), ("exposure_s", "f8"), ("first_at", "f8")])
"""The history of a page: comparable visits, visits that found a change, the time between visits, the first reading."""
FORGOTTEN: Final = 20.0
"""Number of visits after which earlier visits begin to count less."""
_LEAST: Final = 1e-30


class BucketRates(NamedTuple):
    """The measurements of I buckets, shape (I,) each.

    Attributes
    ----------
    pages
        Number of pages.
    rate_per_s
        Rate of change, as measured by visits.
    obsolete
        Number of pages that have changed since their last visit, by that rate.
    weight
        Mean importance of the pages.
    shares
        Share of the new pages that turn out to belong to each bucket.
    cost, cost_changed
        Mean cost of a visit to one of its pages, and additional cost if it finds a change; in units of the budget.
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
        """Return the cost of a visit to a page of each bucket now, shape (I,); obsolete pages cost more."""
        stale: Floats = np.minimum(self.obsolete / np.maximum(self.pages, 1.0), 1.0)
        return self.cost + self.cost_changed * stale

    @property
    def new_cost(self) -> float:
        """Return the cost of the first visit to a page, by the shares of new pages."""
        return float(self.shares @ (self.cost + self.cost_changed))


def sort_into(rate: Floats, weight: Floats, count: int, *, by_weight: bool) -> Ints:
    """Return the bucket of each page, shape (n,): pages similar in rate, or in rate and then in weight.

    The borders give all buckets equal sums of two quantities: pages, and visits needed by the square-root law,
    f ~ sqrt(weight x rate). Thus buckets are finer where more visits go.

    Parameters
    ----------
    rate, weight
        Rate of change and weight of each page, shape (n,), 0 or more.
    count
        Maximum number of buckets.
    by_weight
        Whether to split by weight too: then the number of rate classes is a third to a half of that of buckets.

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
    """Return the part of each value, such that all parts need about the same; equal values share a part."""
    kinds, place = np.unique(values, return_inverse=True)
    if len(kinds) <= parts:
        return place
    sums = np.bincount(place, needed, len(kinds))
    middle = (np.cumsum(sums) - sums / 2) / max(float(sums.sum()), _LEAST)
    return np.minimum((middle * parts).astype(np.int64), parts - 1)[place]


def measure(bucket: Ints, count: int, history: NDArray[Any], pages: Pages, now: float, cycle_s: float) -> BucketRates:
    """Return the measurements of each bucket from the visits to its pages.

    n visits, of which X found a change, after a mean time T, give r = -ln((n - X + 1/2) / (n + 1/2)) / T changes per
    second. This is combined with the prior rate of the pages, which counts as if they had been observed until one
    change. Otherwise a bucket whose first visits came too soon to find a change would never be visited again.

    Parameters
    ----------
    bucket, count
        Bucket of each page, shape (n,), and number of buckets.
    history
        See `HISTORY`, shape (n,).
    pages, now
        Columns of the n pages, all visited, and the instant.
    cycle_s
        Pages first read within the last cycle determine the shares of new pages.
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
