"""The contest: replays and simulations with every contestant, ranked with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from evercrawl import catalog, schedule
from evercrawl.lab.backtest.report import means, of_site
from evercrawl.lab.backtest.rows import Mean
from evercrawl.lab.backtest.runs import make, planned
from evercrawl.lab.backtest.setting import ReplaySetting, choices
from evercrawl.lab.histories import find
from evercrawl.lab.polling.polling import poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule.base import Policy

Values: TypeAlias = "dict[str, dict[str, float | str]]"
SHIPPED: Final = ("peps", "ota-contrib")
BASELINE: Final = "uniform"
UPPER: Final = "notices"
CORRELATIONS: Final = (0.0, 0.5)
_DRAWS: Final = 3
_NORMAL: Final = 1.96  # standard errors on each side of a 95 % interval, for many draws
_STUDENT: Final = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78}  # the same for few draws, by their number


class ContestRules(NamedTuple):
    """The conditions of the contest.

    Attributes
    ----------
    histories
        Names or paths; by default the shipped ones.
    budgets
        Polls per page per day on the histories.
    made_budgets
        The same on simulated pages; empty to skip these.
    pages, cycles
        Number of made-up pages, and length of the simulation; the second half is measured.
    sample, years
        Number of pages sampled per site, None for all; and the length of history that is replayed.
    seed, jobs
        The random seed; the number of processes.
    """

    histories: tuple[str, ...] = SHIPPED
    budgets: tuple[float, ...] = (0.005, 0.02, 0.1)
    made_budgets: tuple[float, ...] = (0.03, 0.3)
    pages: int = 2000
    cycles: float = 15.0
    sample: int | None = None
    years: float = 3.0
    seed: int = 1
    jobs: int = 1


class ContestPlace(NamedTuple):
    """The rank of a contestant, in one field and at one budget.

    Attributes
    ----------
    field
        "histories", the mean over them; or "made-up pages, correlation 0.5".
    policy, budget
        Name, and polls per page and day.
    score, low, high
        Freshness on histories, or the share of the optimum on made-up pages; and its 95 % interval over draws of pages
        and sites, or of made-up pages.
    gap_closed
        The share of the gap between `uniform` and `notices` that is closed; nan on made-up pages.
    entered
        Whether it is an external entrant.
    rank
        Rank in this field at this budget, from 1.
    """

    field: str
    policy: str
    budget: float
    score: float
    low: float
    high: float
    gap_closed: float
    entered: bool
    rank: int = 0


def beside() -> list[str]:
    """Return the default competitors: every policy in the catalogue that schedules refreshes."""
    base: type[Any] = Policy
    return [name for name, kind in catalog.find(schedule.policies, base).items() if name != UPPER and kind is not None]


def contest(
    entrants: Sequence[str], others: Sequence[str], rules: ContestRules, tell: Callable[[str], None]
) -> list[ContestPlace]:
    """Return all rankings by field and budget, best first.

    Parameters
    ----------
    entrants
        Policies as package.module:Class, which the caller must trust.
    others
        Names of the policies they are compared with; the baseline and the upper bound are added.
    rules, tell
        The conditions; and a progress callback, called with a sentence.

    Raises
    ------
    ConfigError
        A policy is invalid, or a history does not exist.
    """
    names = list(dict.fromkeys([BASELINE, *entrants, *others, UPPER]))
    policies = choices(names)
    found = [*_on_histories(policies, entrants, rules, tell), *_on_made_pages(policies, entrants, rules, tell)]
    return _ranked(found)


def _on_histories(
    policies: Values, entrants: Sequence[str], rules: ContestRules, tell: Callable[[str], None]
) -> Iterator[ContestPlace]:
    paths: list[Path] = find(*rules.histories)
    setting = ReplaySetting(budget=rules.budgets[0], sample=rules.sample, years=rules.years, seed=rules.seed)
    plan = planned([(path,) for path in paths], policies, rules.budgets, setting)
    coming, sites = make([run for group in plan for run in group], rules.jobs), list[Any]()
    for group in plan:
        made = list[Any]()
        for run in group:
            made.append(next(coming))
            tell(f"{len(sites) * len(group) + len(made)} of {len(plan) * len(group)} replays: {run}")
        sites.append(of_site([each.replayed for each in made], made[0].cluster, rules.seed))
    rows: list[Mean] = means(sites, rules.seed)
    for row in rows:
        yield ContestPlace(
            "histories",
            row.policy,
            row.budget,
            row.freshness,
            row.low,
            row.high,
            row.gap_closed,
            row.policy in entrants,
        )


def _on_made_pages(
    policies: Values, entrants: Sequence[str], rules: ContestRules, tell: Callable[[str], None]
) -> Iterator[ContestPlace]:
    for correlation in CORRELATIONS if rules.made_budgets else ():
        drawn = [population(rules.pages, rules.seed + k, correlation) for k in range(_DRAWS)]
        for budget in rules.made_budgets:
            for name, options in policies.items():
                kind: type[Any] = catalog.pick(schedule.policies, Policy, name)
                reached = np.array([
                    poll(kind(**options), pages, budget, cycles=rules.cycles, measured_from=rules.cycles / 2,
                         seed=rules.seed + k).ratio
                    for k, pages in enumerate(drawn)
                ])  # fmt: skip
                tell(f"made-up pages, correlation {correlation:g}: {name} at {budget:g}: {reached.mean():.3f}")
                low, high = interval(reached)
                yield ContestPlace(
                    f"made-up pages, correlation {correlation:g}", name, budget, float(reached.mean()), low, high,
                    math.nan, name in entrants,
                )  # fmt: skip


def interval(draws: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean of draws, by Student's distribution.

    >>> [round(bound, 2) for bound in interval(np.array([0.8, 0.9, 1.0]))]
    [0.65, 1.15]
    """
    count = len(draws)
    half = _STUDENT.get(count, _NORMAL) * float(draws.std(ddof=1)) / math.sqrt(count) if count > 1 else 0.0
    return float(draws.mean()) - half, float(draws.mean()) + half


def _ranked(found: list[ContestPlace]) -> list[ContestPlace]:
    """Return the results with ranks, ordered by rank within each field and budget."""
    ranked = list[ContestPlace]()
    for place in dict.fromkeys((each.field, each.budget) for each in found):
        here = sorted((each for each in found if (each.field, each.budget) == place), key=lambda each: -each.score)
        ranked += [each._replace(rank=rank) for rank, each in enumerate(here, 1)]
    return ranked
