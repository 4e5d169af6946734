"""Freshness under a policy that plans a rate of visits for every page instead of one price."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.ask.plan.curve import SELDOM_S, PlannedPages
from evercrawl.schedule.formulas.index import parts, survival
from evercrawl.types import Floats

_TRIES: Final = 40
_NEAR: Final = 1e-7  # of a budget
_LEAST_S: Final = 1e-9
_NODES: Final = 64  # of the quadrature: within 0.005 however fast a page changes


class AtRates(NamedTuple):
    """The freshness that a policy's rates bring.

    Attributes
    ----------
    budget, visits_per_s, freshness, seldom, left_alone
        As in a `Point` of the curve.
    """

    budget: float
    visits_per_s: float
    freshness: float
    seldom: float
    left_alone: float


def at_rates(held: PlannedPages, per_s: Floats, budget: float, *, at_random: bool = False) -> AtRates:
    """Return the freshness from visits at given rates, scaled in proportion so that the budget is spent.

    Parameters
    ----------
    held
        The pages; at least one copy must have a positive worth.
    per_s
        Visits per second to each page, shape (n,); at least one must be positive.
    budget
        Units per second, above 0. Less is spent if pages may not be visited again so soon.
    at_random
        Whether visits come at random moments rather than evenly spaced.

    Examples
    --------
    Two pages that change once a second, one of which gets all visits:

    >>> from evercrawl.ask.plan.curve import PlannedPages
    >>> from evercrawl.schedule import Pages
    >>> one, none = np.ones(2), np.zeros(2)
    >>> pages = Pages(np.arange(2, dtype=np.uint32), none, one, none, 1e12 * one, 1e12 * one, one, none, none)
    >>> held = PlannedPages(pages, one > 0, none, one)
    >>> found = [at_rates(held, np.array([7.0, 0.0]), 0.5, at_random=lots) for lots in (False, True)]
    >>> [round(each.freshness, 4) for each in found], round(float(1 - np.exp(-2.0)) / 4, 4), round(0.5 / 1.5 / 2, 4)
    ([0.2162, 0.1667], 0.2162, 0.1667)
    >>> found[0].left_alone, found[0].seldom
    (1.0, 0.5)
    """
    pages, ever = held.pages, per_s > 0
    assert ever.any(), "a page is visited"
    worth = held.times * np.where(held.copies, np.maximum(pages.importance, 0.0), 0.0)
    page, times, rate, wait_s = pages.take(ever), held.times[ever], per_s[ever], held.wait_s[ever]
    spent = tau = fresh = np.zeros(0)
    scale = budget / float((times * rate * page.cost).sum())
    for _ in range(_TRIES):
        tau = np.maximum(np.maximum(1.0 / (scale * rate), wait_s), _LEAST_S)
        fresh, still = _fresh(page.shape, page.scale_s, tau, at_random=at_random)
        spent = times / tau * (page.cost + page.cost_changed * (1.0 - still))
        total = float(spent.sum())
        if abs(total / budget - 1.0) <= _NEAR:
            break
        scale *= budget / total  # spending grows with the rates, but less than they do, so this converges
    after_s = np.full(len(per_s), np.inf)
    after_s[ever] = tau
    alone, share = after_s > SELDOM_S, worth / worth.sum()
    return AtRates(
        float(spent.sum()), float((times / tau).sum()), float(share[ever] @ fresh),
        float(share[alone].sum()), float(held.times[alone].sum()),
    )  # fmt: skip


def _fresh(shape: Floats, scale_s: Floats, tau: Floats, *, at_random: bool) -> tuple[Floats, Floats]:
    """Return the mean freshness of pages, and the probability that a visit finds no change; shapes (n,)."""
    if not at_random:
        still = survival(shape, scale_s, tau)
        return parts(shape, scale_s, tau).fresh / tau + still, still
    nodes: tuple[ArrayLike, ArrayLike] = np.polynomial.laguerre.laggauss(_NODES)
    found = np.zeros(len(tau))
    for x, weight in zip(np.asarray(nodes[0]), np.asarray(nodes[1]), strict=True):
        found += weight * survival(shape, scale_s, x * tau)
    return found, found  # a visit at a random moment sees the mean
