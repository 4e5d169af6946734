"""Notices: stale pages by weight, given perfect knowledge; an upper bound that no crawl can exceed or follow."""

from typing import ClassVar, Final

import numpy as np

from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.formulas.index import parts, survival
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats

_AHEAD_S: Final = 90 * 86_400.0  # horizon: freshness beyond it adds no value
_LONG_S: Final = 1e12  # longer than any copy has been stale or stored


class Notices(Policy):
    """Visit the most important page whose copy is stale: an upper bound, for simulated worlds only.

    A visit to a stale page gains its importance times the time for which the new copy is expected to stay fresh, by the
    posterior of its rate, within three months. Thus, of equally important pages, one that changes all the time is worth
    less; and because of the horizon, a page of unknown rate still has its turn. A page that was never visited is
    stale. Fresh pages come last; of these, the one visited longest ago comes first.

    Examples
    --------
    The second is stale; the third was never read; the first, however important, is fresh.

    >>> from evercrawl.schedule import Context, Pages
    >>> one, none = np.ones(3), np.zeros(3)
    >>> weight, notice = np.array([9.0, 2.0, 1.0]), np.array([0.0, np.inf, 0.0])
    >>> visited_at = np.array([5.0, 5.0, np.nan])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, weight, none, one, 100 * one, one, none, notice)
    >>> Notices().value(pages, Context(10.0)).argsort()[::-1]
    array([1, 2, 0])
    """

    clairvoyant: ClassVar[bool] = True

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return importance times the expected fresh time for stale pages, and less than 0 for fresh pages."""
        new = np.isnan(pages.visited_at)
        fresh = ~new & np.isfinite(pages.neg_log_unchanged)
        waited_s = np.where(new, 0.0, np.maximum(context.now - pages.visited_at, 0.0))
        lasts_s = parts(pages.shape, pages.scale_s, _AHEAD_S).fresh
        lasts_s = lasts_s + _AHEAD_S * survival(pages.shape, pages.scale_s, _AHEAD_S)
        return np.where(fresh, waited_s / _LONG_S - 1.0, pages.importance * lasts_s)
