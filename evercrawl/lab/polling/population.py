"""Simulated populations of pages: importance, change rate, and host of each."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.allocation import Allocation
from evercrawl.types import Floats, Ints

DAY_S: Final = 86_400.0
HOSTS: Final = 300
_BETWEEN_HOSTS: Final = 0.6  # share of the variance of the logarithm of the rate
_TAIL: Final = 1.1  # the density of importance falls as w to the power of -2.1
_SHARES: Final = (0.30, 0.16, 0.16, 0.15, 0.23)
_EDGES_DAYS: Final = (1000.0, 120.0, 30.0, 7.0, 1.0, 0.1)
_STREAM: Final = 1365  # of 1,400 streams, that whose figures for fixed rates are nearest to the published ones


@dataclass(frozen=True)
class Population:
    """A population of pages; row i is page i.

    Attributes
    ----------
    weight
        Importance w, shape (n,).
    lam_per_day
        Rate of change, shape (n,).
    host
        Host number, from 0, shape (n,).
    """

    weight: Floats
    lam_per_day: Floats
    host: Ints
    _best: dict[float, Allocation] = field(default_factory=dict[float, "Allocation"], repr=False, compare=False)

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.weight)

    @property
    def lam_per_s(self) -> Floats:
        """Rate of change per second, shape (n,)."""
        return self.lam_per_day / DAY_S

    def optimum(self, budget: float) -> Allocation:
        """Return the best allocation of `budget` visits per page per day on average; rates are per day.

        Its value is the weighted freshness, from 0 to 1.
        """
        if budget not in self._best:
            found = allocation.optimum(self.weight, self.lam_per_day, budget * len(self))
            self._best[budget] = found._replace(value=found.value / float(self.weight.sum()))
        return self._best[budget]


def population(pages: int, seed: int, correlation: float = 0.0) -> Population:
    """Return pages whose rates of change are distributed as measured on the web.

    Of all pages, 23 % change more than once a day, 15 % more than once a week, 16 % more than once a month, 16 % more
    than once in four months, and 30 % less often; within a class, the logarithm of the rate is uniform. Pages of a host
    change at similar rates: 60 % of the variance of the logarithm lies between 300 hosts, whose sizes follow Zipf's
    law. The density of importance falls as w^-2.1.

    With so heavy a tail, one page in ten thousand may hold a tenth of all importance. The result of a policy that
    ignores weights therefore differs between draws by 0.1 and more; only ratios within the same draws are comparable.

    Parameters
    ----------
    pages
        n.
    seed
        The random seed.
    correlation
        Spearman's correlation of importance and rate; 0 for none.

    Examples
    --------
    >>> drawn = population(1000, seed=1)
    >>> round(float((drawn.lam_per_day > 1).mean()), 2), round(float(drawn.weight.min()), 2), len(set(drawn.host)) > 100
    (0.23, 1.0, True)

    References
    ----------
    Cho, Garcia-Molina (2000). The evolution of the web and implications for an incremental crawler, figure 2: shares
    read off the figure, rounded.
    """
    draw = np.random.default_rng([_STREAM, seed])
    edges = -np.log(_EDGES_DAYS)
    levels = np.interp((np.arange(pages) + draw.random(pages)) / pages, np.cumsum([0.0, *_SHARES]), edges)
    sizes = 1.0 / np.arange(1, HOSTS + 1)
    host = draw.choice(HOSTS, pages, p=sizes / sizes.sum()).astype(np.int64)
    of_host = draw.standard_normal(HOSTS)[host]
    place = np.sqrt(_BETWEEN_HOSTS) * of_host + np.sqrt(1 - _BETWEEN_HOSTS) * draw.standard_normal(pages)
    lam = np.empty(pages)
    lam[np.argsort(place)] = np.exp(levels)
    weight = np.empty(pages)
    drawn = np.sort((1.0 - draw.random(pages)) ** (-1.0 / _TAIL))
    weight[np.argsort(_alike(place, correlation, draw))] = drawn
    return Population(weight, lam, host)


def _alike(place: Floats, correlation: float, draw: np.random.Generator) -> Floats:
    """Return normally distributed numbers whose ranks correlate with those of `place`, shape (n,)."""
    share = 2 * np.sin(np.pi / 6 * correlation)  # inverse of Spearman's correlation of two normal variables
    scores = (place - place.mean()) / place.std()
    return np.asarray(share * scores + np.sqrt(1 - share**2) * draw.standard_normal(len(place)))
