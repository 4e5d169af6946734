"""Conditions and results of polling."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from evercrawl.change.evidence import FORGET
from evercrawl.types import Floats

BEGAN_AT: Final = 1_700_000_000.0
TICKS: Final = 100
"""Looks at all pages, a cycle: in between, a hundredth of them at most is visited."""


@dataclass(frozen=True)
class Conditions:
    """What the policy knows, and what makes it hard; by default as for a new crawl.

    Attributes
    ----------
    known
        Whether rates are known; otherwise they are learned, starting from nothing.
    dated
        Share of pages that send a correct Last-Modified.
    forget, by_host
        As for `PollingBeliefs`.
    recall, precision
        Share of changes that are announced; share of announcements that are right.
    jumps, swaps, deaths
        Share of the pages that, in a cycle, take another rate, change their importance with another, or go away. Where
        some do, the policy is told how fast as a crawl learns it, or truly where rates are known, and a copy that is
        held of a page that is gone counts as not fresh until a visit finds out.
    returns, away
        Share of the pages that go away that come back, and after how many cycles on the mean, by an exponential
        distribution.
    told_deaths
        Whether the policy is told how fast pages go away, and come back.
    cap_per_day
        Visits per day that each host allows; None for unlimited.
    cost, cost_changed
        Of a visit in any case, and in addition where the page changed or is new, shape (n,); the budget is in the same
        unit. None where a visit costs 1.
    frontier
        Whether the crawl's frontier offers pages; otherwise all are valued each time.
    ticks, steps
        Looks at all pages, a cycle, and choices among the most promising from one look to the next; 0 steps for as many
        as the budget asks for, as what matters most is worth many visits in a hundredth of a long cycle. Through the
        frontier it is one by one; where hosts allow only so many, or changes are announced, tick by tick.
    """

    known: bool = False
    dated: float = 0.0
    forget: float = FORGET
    by_host: bool = True
    recall: float = 0.0
    precision: float = 1.0
    jumps: float = 0.0
    swaps: float = 0.0
    deaths: float = 0.0
    returns: float = 0.0
    away: float = 1.0
    told_deaths: bool = True
    cap_per_day: Floats | None = None
    cost: Floats | None = None
    cost_changed: Floats | None = None
    frontier: bool = False
    ticks: int = TICKS
    steps: int = 0


USUAL: Final = Conditions()


class Polled(NamedTuple):
    """The results.

    Attributes
    ----------
    value
        Freshness, weighted, as a mean over the measured part: from 0 to 1.
    optimum
        The optimum given all rates (see `ChangingWorld.best`).
    ratio
        The share of the optimum that was reached.
    unused
        Share of the budget that the policy did not want, in the measured part.
    abandoned
        Pages that the policy abandons: never visited, or without a due time.
    left
        Share of pages not visited in the measured part, whether due later or never.
    by_cycle
        Value in each cycle, from the first.
    visits
        Total number of visits.
    gone, again
        Share of the visits of the measured part that found a page gone, and of those the visit before had found so.
    """

    value: float
    optimum: float
    ratio: float
    unused: float
    abandoned: int
    left: float
    by_cycle: tuple[float, ...]
    visits: int
    gone: float = 0.0
    again: float = 0.0
