"""Freshness of a crawl of a living web, compared with a round-robin on the same budget and with the optimum."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from evercrawl.schedule.formulas import allocation
from evercrawl.simulate.living import truth
from evercrawl.simulate.living.lives import LivingRequests, relive
from evercrawl.simulate.living.web import LivingWeb

BEGAN_AT: Final = 1_700_000_000.0
MEASURED: Final = 1 / 3
"""The last part of a run, in which freshness is measured."""


class BenchWorld(NamedTuple):
    """A world and its budget: everything that determines a run on the virtual clock.

    Attributes
    ----------
    seed, pages, cycle_s
        As for `LivingWeb`.
    fetches_per_s, seconds
        The budget, and the duration.
    """

    seed: int
    pages: int
    cycle_s: float
    fetches_per_s: float
    seconds: float

    def web(self, *, endless: bool = True, still: bool = False) -> LivingWeb:
        """Return a new instance of its web."""
        return LivingWeb(
            self.seed, pages=self.pages, cycle_s=self.cycle_s, began_at=BEGAN_AT, endless=endless, still=still
        )


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """The results in one world; freshness is weighted by the true importance of the pages.

    Attributes
    ----------
    seed
        The world's seed.
    fetches_per_s
        The budget.
    price
        Freshness of the crawl.
    round_robin
        Freshness of a plain round-robin with the same budget, in a web without the endless calendars.
    optimum
        Long-run freshness of the best schedule given all rates of change and all importance.
    calendar
        Share of the crawl's fetches that went to endless calendars.
    """

    seed: int
    fetches_per_s: float
    price: float
    round_robin: float
    optimum: float
    calendar: float

    @property
    def gain(self) -> float:
        """Return the ratio of the crawl's freshness to the round-robin's."""
        return self.price / self.round_robin

    @property
    def of_optimum(self) -> float:
        """Return the share of the optimum that was reached."""
        return self.price / self.optimum


def compare(world: BenchWorld) -> PolicyComparison:
    """Crawl a world twice: as shipped, and by round-robin."""
    life = relive(world.web(), world.fetches_per_s, world.seconds)
    return beside_round_robin(life, world)


def beside_round_robin(life: LivingRequests, world: BenchWorld) -> PolicyComparison:
    """Return the comparison of a life with a round-robin of as many fetches."""
    rate = life.fetches_per_s
    plain = round_robin(world._replace(fetches_per_s=rate))
    return PolicyComparison(
        world.seed, rate, measured(life), measured(plain), optimum(life.web, rate), life.calendar_share
    )


def round_robin(world: BenchWorld) -> LivingRequests:
    """Return the life of a plain round-robin: new pages first, then the page visited longest ago.

    It would never leave the endless calendars, so its world has none.
    """
    web = world.web(endless=False)
    return relive(web, world.fetches_per_s, world.seconds, policy="cycle", scheme="uniform")


def measured(life: LivingRequests) -> float:
    """Return the freshness over the last part of a life."""
    start = life.ended_at - MEASURED * (life.ended_at - life.began_at)
    return life.freshness(truth.weights(life.web), start, life.ended_at)


def optimum(web: LivingWeb, fetches_per_s: float) -> float:
    """Return the freshness of the exact Lagrange optimum: every page at even intervals of its own."""
    return allocation.optimum(truth.weights(web), truth.rates_per_s(web), fetches_per_s).value


def even_round_robin(web: LivingWeb, fetches_per_s: float) -> float:
    """Return the freshness of fetching every page at the same even interval, and nothing else."""
    weights, rates = truth.weights(web), truth.rates_per_s(web)
    return float(np.dot(weights, allocation.freshness(fetches_per_s / len(rates), rates)))
