"""Uniform: all pages at the same rate."""

from typing import ClassVar

import numpy as np

from evercrawl.schedule.base import InvalidatedBy
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.types import Floats


class Uniform(PlannedRates):
    """Visit all pages equally often, whatever their importance and rate of change.

    If all pages have the same importance, this gives better freshness and age than visits in proportion to rates of
    change. New pages come in the order of discovery, or by weight if the crawl weighs pages by something other than
    importance.

    Parameters
    ----------
    new_share, replan
        See `PlannedRates`.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one = np.zeros(3), np.ones(3)
    >>> visited_at = np.array([200.0, 100.0, np.nan])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, none, none, one, one, one, none, none)
    >>> Uniform(new_share=0.0).value(pages, Context(300.0)).argsort()[::-1]
    array([1, 0, 2])

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, section 4.
    """

    invalidated_by: ClassVar[InvalidatedBy] = "nothing"

    def __init__(self, new_share: float = 0.5, replan: float = 0.125) -> None:
        super().__init__(new_share, replan=replan)

    def promise(self, pages: Pages) -> Floats:
        """Return a larger number for pages found earlier; the weight if the crawl weighs pages."""
        if pages.weight_ratio is not None:
            return super().promise(pages)
        return 1.0 / (1.0 + pages.slot.astype(np.float64))

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return ones."""
        return np.ones(len(lam))
