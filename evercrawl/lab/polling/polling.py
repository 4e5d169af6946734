"""Simulation of any policy on simulated pages, under a constant budget."""

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
    """Visit pages by a policy that starts without knowledge, and return the freshness reached.

    Parameters
    ----------
    policy
        A new instance, which learns here.
    pages
        The population, known from the start and unvisited.
    budget
        Visits per page per day on average (or their cost, if visits have costs).
    cycles, measured_from
        Duration and start of measurement, in cycles; a cycle is the time in which every page could be visited once.
    seed
        The random seed of what visits find.
    conditions
        The conditions.

    Examples
    --------
    Uniform polling with known rates reaches the value of table 1 of the survey:

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
