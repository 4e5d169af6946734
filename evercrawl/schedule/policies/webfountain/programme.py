"""WebFountain's programme: the numbers of pages of each bucket, and of new pages, to visit in the next periods.

The pages of a bucket are indistinguishable. Bucket i has b pages, y of which are obsolete; in a period t a fraction
p_it of the others becomes obsolete. x_it of its pages are visited, and z_t of the n_t known unvisited pages; a fraction
k_i of these turns out to belong to bucket i. With nu_t pages found in period t,

    y_t = (1 - x_t / b_t-1) (y_t-1 + p_t (b_t-1 - y_t-1)) + k z_t p_t / 2,   b_t = b_t-1 + k z_t,
    n_t = n_t-1 + nu_t - z_t,   x_t <= b_t-1,   z_t <= n_t-1 + nu_t,   sum c_t x_t + d_t z_t <= C_t,

minimise sum_t (sum_i old_weight y + new_weight n). The sizes b and n are linear in z, so only x and z are unknown and
all constraints are linear; only the cost is nonlinear.

References
----------
Edwards, McCurley, Tomlin (2001). An Adaptive Model for Optimizing Performance of an Incremental Web Crawler. Meng,
Wang, Yan (2006), (24). The equations are assembled from the survey's description.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats

WEIGHTINGS: Final = ("flat", "rising", "last")
"""See `weighting`."""


@dataclass(frozen=True)
class Programme:
    """The input of the programme, for I buckets and T periods.

    Attributes
    ----------
    pages, obsolete
        b and y of each bucket at the beginning, shape (I,).
    change
        p, shape (T, I).
    shares
        k, shape (I,).
    unread
        n at the beginning.
    found
        nu, shape (T,).
    cost, cost_new, budget
        c, shape (T, I); d and C, shape (T,).
    old_weight, new_weight
        Shapes (T, I) and (T,).
    """

    pages: Floats
    obsolete: Floats
    change: Floats
    shares: Floats
    unread: float
    found: Floats
    cost: Floats
    cost_new: Floats
    budget: Floats
    old_weight: Floats
    new_weight: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of periods and buckets, (T, I)."""
        return self.change.shape[0], self.change.shape[1]

    def sizes(self, new: Floats) -> tuple[Floats, Floats]:
        """Return b, shape (..., T + 1, I), from before the first period to after the last; and n_t, shape (..., T)."""
        taken = np.zeros((*new.shape[:-1], new.shape[-1] + 1))
        taken[..., 1:] = np.cumsum(new, -1)
        unread: Floats = self.unread + np.cumsum(self.found) - taken[..., 1:]
        return self.pages + taken[..., None] * self.shares, unread

    def excess(self, plan: VisitPlan) -> float:
        """Return the largest violation of a constraint, in pages (or units of the budget)."""
        pages, unread = self.sizes(plan.new)
        spent = (self.cost * plan.old).sum(1) + self.cost_new * plan.new
        beyond = [plan.old - pages[:-1], -unread, spent - self.budget, -plan.old, -plan.new]
        return max(float(np.max(each, initial=0.0)) for each in beyond)


class VisitPlan(NamedTuple):
    """Numbers of pages to visit: `old`, x, shape (T, I), and `new`, z, shape (T,); or many plans, (..., T, I)."""

    old: Floats
    new: Floats


def weighting(name: str, periods: int) -> Floats:
    """Return the weight of each period, shape (periods,): all equal; rising; or the last equal to all others together.

    A plan whose last period counts no more than the others lets pages become obsolete towards its end, as if nothing
    followed.

    Examples
    --------
    >>> [weighting(name, 4).tolist() for name in WEIGHTINGS]
    [[1.0, 1.0, 1.0, 1.0], [0.25, 0.5, 0.75, 1.0], [1.0, 1.0, 1.0, 4.0]]
    """
    weights = np.ones(periods)
    if name == "rising":
        weights = (np.arange(periods) + 1) / periods
    elif name == "last":
        weights[-1] = periods
    return weights


def obsolete(programme: Programme, plan: VisitPlan) -> Floats:
    """Return y after each period, shape (..., T, I).

    Examples
    --------
    Of 10 pages, 4 obsolete, half of the others change; then 5 of the 10 are visited, 7 of which were obsolete:

    >>> one = np.ones((1, 1))
    >>> some = one[0]
    >>> of = Programme(10 * some, 4 * some, 0.5 * one, some, 0.0, 0 * some, one, some, 5 * some, one, some)
    >>> obsolete(of, VisitPlan(5 * one, 0 * some))
    array([[3.5]])
    """
    return _pass(programme, plan)[0]


def cost_of(programme: Programme, plan: VisitPlan) -> Floats:
    """Return the obsolete and unread pages under a plan, weighted and summed over the periods; shape (...)."""
    unread = programme.sizes(plan.new)[1] @ programme.new_weight
    return np.asarray((programme.old_weight * obsolete(programme, plan)).sum((-2, -1)) + unread)


def slope_of(programme: Programme, plan: VisitPlan) -> VisitPlan:
    """Return the derivative of the cost by each number of the plan."""
    periods, buckets = programme.shape
    _, before, left, pages = _pass(programme, plan)
    old, new = np.zeros((periods, buckets)), np.zeros(periods)
    by_obsolete, by_pages = np.zeros(buckets), np.zeros(buckets)  # by the state at the end of the period
    by_unread = 0.0
    for t in range(periods - 1, -1, -1):
        by_obsolete = by_obsolete + programme.old_weight[t]
        by_unread += programme.new_weight[t]
        old[t] = -by_obsolete * before[t] / pages[t]
        new[t] = programme.shares @ (by_obsolete * programme.change[t] / 2 + by_pages) - by_unread
        visited = plan.old[t] / pages[t] ** 2 * before[t]
        by_pages = by_pages + by_obsolete * (left[t] * programme.change[t] + visited)
        by_obsolete = by_obsolete * left[t] * (1 - programme.change[t])
    return VisitPlan(old, new)


def _pass(programme: Programme, plan: VisitPlan) -> tuple[Floats, Floats, Floats, Floats]:
    """Return y after each period and before its visits, the fraction not visited, and b before; shapes (..., T, I)."""
    pages = np.maximum(programme.sizes(plan.new)[0][..., :-1, :], 1e-12)
    left = 1 - plan.old / pages
    grown = programme.change * pages
    added = programme.change / 2 * programme.shares * plan.new[..., None]
    before, after = np.zeros(pages.shape), np.zeros(pages.shape)
    held = programme.obsolete
    for t in range(programme.shape[0]):
        before[..., t, :] = held * (1 - programme.change[t]) + grown[..., t, :]
        held = after[..., t, :] = left[..., t, :] * before[..., t, :] + added[..., t, :]
    return after, before, left, pages
