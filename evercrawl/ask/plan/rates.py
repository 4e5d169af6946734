"""What a policy keeps fresh that plans a rate of visits for every page: by these rates, not by one price."""

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
    """What the rates of a policy bring.

    Attributes
    ----------
    budget, visits_per_s, freshness, seldom, left_alone
        As of a `Point` of the curve.
    """

    budget: float
    visits_per_s: float
    freshness: float
    seldom: float
    left_alone: float


def at_rates(held: PlannedPages, per_s: Floats, budget: float, *, at_random: bool = False) -> AtRates:
    """Return what visits at some rates bring, all of them longer or shorter in proportion so that the budget is spent.

    Parameters
    ----------
    held
        The pages; one copy at least is worth something.
    per_s
        Visits a second to each, shape (n,); a page at least has some.
    budget
        Units a second, above 0. Less is spent where pages may not be visited again so soon.
    at_random
        Whether visits come at random moments, not evenly spaced.

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
        scale *= budget / total  # spending grows with the rates, and less than they do: so it comes nearer each time
    after_s = np.full(len(per_s), np.inf)
    after_s[ever] = tau
    alone, share = after_s > SELDOM_S, worth / worth.sum()
    return AtRates(
        float(spent.sum()), float((times / tau).sum()), float(share[ever] @ fresh),
        float(share[alone].sum()), float(held.times[alone].sum()),
    )  # fmt: skip


def _fresh(shape: Floats, scale_s: Floats, tau: Floats, *, at_random: bool) -> tuple[Floats, Floats]:
    """Return how fresh pages are on the mean, and how probably a visit finds no change; shapes (n,)."""
    if not at_random:
        still = survival(shape, scale_s, tau)
        return parts(shape, scale_s, tau).fresh / tau + still, still
    nodes: tuple[ArrayLike, ArrayLike] = np.polynomial.laguerre.laggauss(_NODES)
    found = np.zeros(len(tau))
    for x, weight in zip(np.asarray(nodes[0]), np.asarray(nodes[1]), strict=True):
        found += weight * survival(shape, scale_s, x * tau)
    return found, found  # a visit at random sees what there is on the mean
