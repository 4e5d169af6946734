"""Importance-proportional: visit rates in proportion to importance."""

from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.types import Floats


class ImportanceProportional(PlannedRates):
    """Visit pages in proportion to their importance, which is best if rates of change are unknown.

    Parameters
    ----------
    new_share, replan
        See `PlannedRates`.

    Examples
    --------
    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one = np.zeros(2), np.ones(2)
    >>> pages = Pages(np.arange(2, dtype=np.uint32), none, np.array([1.0, 4.0]), none, one, one, one, none, none)
    >>> policy = ImportanceProportional()
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot)
    array([0.2, 0.8])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive on-line page importance computation, section 3: the limit of greedy choice
    by cash once importance has converged.
    """

    def __init__(self, new_share: float = 0.5, replan: float = 0.125) -> None:
        super().__init__(new_share, replan=replan)

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return the importance of the pages."""
        return weight
