"""Proportional: visit rates in proportion to rates of change."""

from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.types import Floats


class Proportional(PlannedRates):
    """Visit pages in proportion to their rates of change.

    A reference that seems right but is not: pages that change too fast to follow take most of the visits.

    Parameters
    ----------
    new_share, estimator, replan
        See `PlannedRates`.

    Examples
    --------
    With twice the changes, the second page gets twice the visits; it is later, though both have waited for 100 s.

    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one, scale_s = np.zeros(2), np.ones(2), np.array([2000.0, 1000.0])
    >>> pages = Pages(np.arange(2, dtype=np.uint32), none, one, none, one, scale_s, one, none, none)
    >>> policy = Proportional()
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot).round(3), policy.value(pages, Context(100.0)).argmax().item()
    (array([0.333, 0.667]), 1)

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, section 4.
    """

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return the rates of change."""
        return lam
