"""When pages are to be visited again, by what their visits have shown: NextCrawlTime."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.pages import Visits
from evercrawl.schedule.shared.checked import checks_among, rate_per_s
from evercrawl.types import Floats, Slots

_TRIED: Final = 5.0  # rounds after which a page that is gone is tried again at the latest
_MOST_DOUBLED: Final = 60
_SITE: Final = [("checks", "f8"), ("changes", "f8"), ("watched_s", "f8")]


def periods_s(rows: NDArray[Any], round_s: float, longest: float, least_per_s: ArrayLike = 0.0) -> Floats:
    """Return ChangePeriod, how long pages are left alone after a visit (s), shape (n,): 1 / lambda.

    A page that was never found changed, of which lambda says that it never will be, is left alone for `longest` rounds;
    one that was read but once, for a round. One that is gone waits twice as long each time, up to five rounds or more.

    Parameters
    ----------
    rows
        Of `checked.Checked`, shape (n,).
    round_s
        How long it takes to visit all pages.
    longest
        Rounds between two visits, at most; of pages that are gone five, where it is less.
    least_per_s
        What each page's rate of change is at least taken to be.

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
    """How fast the pages of each site change, all its checks taken together.

    Changes are local: pages of a site that changes are worth looking at sooner than their own few checks say.
    """

    def __init__(self) -> None:
        self._kept = Rows(_SITE)

    def learn(self, visits: Visits) -> None:
        """Take note of visits."""
        rows, check = self._kept.upto(int(visits.site.max(initial=0)) + 1), checks_among(visits)
        watched_s = np.where(check, np.maximum(visits.interval_s, 0.0), 0.0)
        for name, more in (("checks", check), ("changes", visits.changed & check), ("watched_s", watched_s)):
            np.add.at(rows[name], visits.site, more)

    def per_s(self, sites: Slots) -> Floats:
        """Return the rates of change of pages of those sites, per second, shape (n,)."""
        rows = self._kept.take(sites)
        return rate_per_s(rows["checks"], rows["changes"], rows["watched_s"])
