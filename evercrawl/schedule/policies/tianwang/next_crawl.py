"""NextCrawlTime: when pages are to be visited again, according to the results of their visits."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.shared.checked import checks_among, rate_per_s
from evercrawl.types import Floats, Slots

_TRIED: Final = 5.0  # rounds after which a page that is gone is retried at the latest
_MOST_DOUBLED: Final = 60
_SITE: Final = [("checks", "f8"), ("changes", "f8"), ("watched_s", "f8")]


def periods_s(rows: NDArray[Any], round_s: float, longest: float, least_per_s: ArrayLike = 0.0) -> Floats:
    """Return ChangePeriod, the time between two visits (s), shape (n,): 1 / lambda.

    A page that was never found changed, whose lambda is therefore 0, has a period of at most `longest` rounds; a page
    that was read only once, of one round. The period of a page that is gone doubles each time, up to five rounds, or to
    `longest` if that is more.

    Parameters
    ----------
    rows
        Rows of `checked.Checked`, shape (n,).
    round_s
        Time needed to visit all pages.
    longest
        Maximum number of rounds between two visits; five for pages that are gone, if `longest` is less.
    least_per_s
        Minimum rate of change of each page.

    Examples
    --------
    >>> from evercrawl.schedule.shared.checked import Checked
    >>> rows = Checked().take(np.zeros(3, np.uint32))
    >>> rows["checks"], rows["changes"], rows["watched_s"] = [10, 10, 0], [4, 0, 0], [4795.7, 1000.0, 0.0]
    >>> periods_s(rows, round_s=60.0, longest=20.0).round(1)
    array([1000., 1200.,   60.])
    """
    rate = np.maximum(rate_per_s(rows["checks"], rows["changes"], rows["watched_s"]), least_per_s)
    unknown_s = np.where(rows["checks"] > 0, longest * round_s, round_s)
    period_s = np.where(rate > 0, 1.0 / np.where(rate > 0, rate, 1.0), unknown_s)
    again_s = np.exp2(np.minimum(rows["misses"], _MOST_DOUBLED)) * np.minimum(period_s, round_s)
    gone = rows["misses"] > 0
    return np.minimum(np.where(gone, again_s, period_s), np.where(gone, max(_TRIED, longest), longest) * round_s)


class SiteRates:
    """Rates of change of the pages of each site, from all its checks together.

    Changes are local: pages of a site that changes deserve a visit sooner than their own few checks indicate.
    """

    def __init__(self) -> None:
        self._kept = Rows(_SITE)

    def learn(self, visits: Visits) -> None:
        """Learn from visits."""
        rows, check = self._kept.upto(int(visits.site.max(initial=0)) + 1), checks_among(visits)
        watched_s = np.where(check, np.maximum(visits.interval_s, 0.0), 0.0)
        for name, more in (("checks", check), ("changes", visits.changed & check), ("watched_s", watched_s)):
            np.add.at(rows[name], visits.site, more)

    def per_s(self, sites: Slots) -> Floats:
        """Return the rates of change of pages of the sites, per second, shape (n,)."""
        rows = self._kept.take(sites)
        return rate_per_s(rows["checks"], rows["changes"], rows["watched_s"])
