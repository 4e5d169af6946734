"""Conditions and results of polling."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from evercrawl.change.evidence import FORGET
from evercrawl.types import Floats

BEGAN_AT: Final = 1_700_000_000.0
TICKS: Final = 100
"""Looks at all pages per cycle; between two looks, at most a hundredth of the pages is visited."""


@dataclass(frozen=True)
class Conditions:
    """The policy's knowledge, and the difficulties of the world; the defaults are those of a new crawl.

    Attributes
    ----------
    known
        Whether rates are known; otherwise they are learned from the visits.
    dated
        Share of pages that send a correct Last-Modified.
    forget, by_host
        As for `PollingBeliefs`.
    recall, precision
        Share of changes that are announced; share of announcements that are right.
    jumps, swaps, deaths
        Share of the pages that, in a cycle, change their rate, swap their importance with another page, or vanish. The
        policy knows the rate at which pages vanish as a crawl learns it, or exactly if rates are known. The copy of a
        vanished page counts as not fresh until a visit finds that the page is gone.
    returns, away
        Share of the vanished pages that return, and the mean number of cycles until then; the time is exponentially
        distributed.
    told_deaths
        Whether the policy knows how fast pages vanish and return.
    recorded_deaths
        Whether pages vanish and return as in a recorded history, at unknown rates.
    cap_per_day
        Visits per day that each host allows; None for unlimited.
    cost, cost_changed
        Cost of any visit, and the additional cost if the page has changed or is new, shape (n,); the budget has the
        same unit. None if each visit costs 1.
    frontier
        Whether the crawl's frontier offers pages; otherwise all pages are valued for each choice.
    ticks, steps
        Looks at all pages per cycle, and choices among the most promising pages between two looks. With 0 steps, their
        number follows from the budget: in a long cycle, an important page may need many visits per tick. The frontier
        offers pages one by one; if hosts have limits or changes are announced, there is one choice per tick.
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
    recorded_deaths: bool = False
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
        Mean weighted freshness in the measured part, from 0 to 1.
    optimum
        The optimum given all rates (see `ChangingWorld.best`).
    ratio
        The share of the optimum that was reached.
    unused
        Share of the budget that the policy did not use, in the measured part.
    abandoned
        Pages that the policy abandons: never visited, or without a due time.
    left
        Share of pages not visited in the measured part, whether due later or never.
    by_cycle
        Value in each cycle, from the first.
    visits
        Total number of visits.
    gone, again
        Shares of the visits in the measured part that found a page gone, and that found it gone once more.
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
