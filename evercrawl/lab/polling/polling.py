"""Any policy on simulated pages, under one constant budget."""

from evercrawl.lab.polling.conditions import BEGAN_AT, USUAL, Conditions, Polled
from evercrawl.lab.polling.population import Population
from evercrawl.lab.polling.run import PollingRun
from evercrawl.schedule.base import Policy

__all__ = ["BEGAN_AT", "USUAL", "Conditions", "Polled", "PollingRun", "poll"]


def poll(
    policy: Policy,
    pages: Population,
    budget: float,
    *,
    cycles: float = 15.0,
    measured_from: float = 7.5,
    seed: int = 1,
    conditions: Conditions = USUAL,
) -> Polled:
    """Visit pages by a policy, starting from nothing, and return how fresh they were kept.

    Parameters
    ----------
    policy
        As it was made; it learns here.
    pages
        All of them known from the start, none visited.
    budget
        Visits a page and day on the mean (or, where visits cost, that cost).
    cycles, measured_from
        How long, and from when on it counts, in cycles: the time in which every page could be visited once.
    seed
        Decides what visits find.
    conditions
        What is known and what makes it hard.

    Examples
    --------
    Uniform polling with known rates earns what table 1 of the survey says of it:

    >>> import numpy as np
    >>> from evercrawl.schedule.policies.cycle import Cycle
    >>> from evercrawl.schedule.formulas import allocation
    >>> from evercrawl.lab.polling.population import population
    >>> pages = population(300, seed=1)
    >>> found = poll(Cycle(), pages, 0.1, cycles=4, measured_from=2)
    >>> expected = float(np.average(allocation.freshness(0.1, pages.lam_per_day), weights=pages.weight))
    >>> round(found.value - expected, 3), found.unused, found.abandoned
    (0.0, 0.0, 0)
    """
    return PollingRun(policy, pages, budget, seed, conditions).run(cycles, measured_from)
