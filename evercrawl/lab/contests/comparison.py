"""The frame of comparisons: a grid of settings and budgets, a way to run each, and claims about the rows."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar

from evercrawl.errors import ConfigError
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, Results, Row, Say
from evercrawl.lab.contests.running import rows_of
from evercrawl.lab.polling.population import Population, population
from evercrawl.lab.tables import panels

PAGES: Final = 10_000
TURNS: Final = 15
_SEEDS: Final = 3


class Labelled(Protocol):
    """A setting to run: a row of the table."""

    @property
    def label(self) -> str:
        """The row's name."""
        ...


S = TypeVar("S", bound=Labelled)


class Case(NamedTuple, Generic[S]):
    """One run.

    Attributes
    ----------
    of
        The comparison, which defines how to run it.
    setting
        The setting to run.
    pages, correlation, seed
        Size, correlation and seed of the population; the seed also decides what visits find.
    budget
        Visits per page and day.
    cycles
        Length of the run; the second half is measured.
    """

    of: type[Comparison[S]]
    setting: S
    pages: int
    correlation: float
    seed: int
    budget: float
    cycles: float

    def __str__(self) -> str:
        """Return a description for progress messages."""
        return f"{self.setting.label}, correlation {self.correlation:g}, seed {self.seed}, {100 * self.budget:g} %"

    def row(self) -> Row:
        """Run the case, and return its row."""
        began = time.perf_counter()
        named: Row = {"policy": self.setting.label, "correlation": self.correlation}
        found = self.of.measured(self, _drawn(self.pages, self.seed, self.correlation))
        return named | {"seed": self.seed, "budget": self.budget} | found | {"seconds": time.perf_counter() - began}


class Comparison(Experiment, Generic[S]):
    """The value of every setting, at every budget, on populations of pages without links."""

    pages = PAGES
    turns = TURNS
    title: ClassVar[str]
    """The title of the figure; `{pages}` stands for the number of pages."""
    budgets: ClassVar[Sequence[float]]
    correlations: ClassVar[Sequence[float]] = (0.0,)
    """Correlations between importance and rate of change."""

    @abstractmethod
    def settings(self, options: LabOptions) -> Sequence[S]:
        """Return the settings."""

    @staticmethod
    @abstractmethod
    def measured(case: Case[S], pages: Population) -> Row:
        """Run a case, and return columns of its row: `ratio`, the share of the optimum, and others."""

    @abstractmethod
    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Return the claims about the rows."""

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return the closed-form rows, which need no run."""
        return []

    def panels(self, rows: list[Row], options: LabOptions) -> list[Panel]:
        """Return the figure: the share of the optimum that each setting reaches, by budget."""
        return panels(rows, [each.label for each in self.settings(options)])

    def rows(self, options: LabOptions, say: Say) -> list[Row]:
        """Run every case; return the rows, closed forms first."""
        return self.closed(options, say) + rows_of(self.cases(options), options.jobs, say, options.kept)

    def run(self, options: LabOptions, say: Say) -> Results:
        """Run every case, and check the rows against the claims.

        Raises
        ------
        ConfigError
            If a graph is given: the pages have no links.
        """
        plain(options, type(self).__module__.rpartition(".")[2])
        rows, title = self.rows(options, say), self.title.format(pages=f"{options.pages or self.pages:,}")
        return Results(title, rows, self.claims(rows, options), self.panels(rows, options))

    def cases(self, options: LabOptions) -> list[Case[S]]:
        """Return the grid: every setting, at every selected budget, on each population."""
        pages, cycles = options.pages or self.pages, float(options.turns or self.turns)
        return [
            Case(type(self), setting, pages, correlation, seed, budget, cycles)
            for correlation in self.correlations for seed in seeds(options, pages)
            for budget in options.budgets or self.budgets for setting in self.settings(options)
        ]  # fmt: skip


def plain(options: LabOptions, name: str) -> None:
    """Check that no graph is given to an experiment on pages without links.

    Raises
    ------
    ConfigError
        If one is.
    """
    if options.graph is not None or options.kind is not None:
        raise ConfigError(f"{name} is about pages without links: leave --graph and --graph-kind out")


def seeds(options: LabOptions, pages: int) -> range:
    """Return the seeds: three for at least as many pages as published, one for fewer.

    >>> from evercrawl.lab.base import LabOptions
    >>> list(seeds(LabOptions(seed=5), 10_000)), list(seeds(LabOptions(), 300))
    ([5, 6, 7], [1])
    """
    return range(options.seed, options.seed + (_SEEDS if pages >= PAGES else 1))


def closed_form(
    form: Callable[[Population, int, float], Iterable[Row]],
    options: LabOptions,
    budgets: Sequence[float],
    say: Say,
    correlations: Sequence[float] = (0.0,),
) -> list[Row]:
    """Return the rows of a closed form (see `unrun`), called with each population, its seed, and each budget."""
    found, pages = list["Row"](), options.pages or PAGES
    for correlation in correlations:
        for seed in seeds(options, pages):
            say(f"closed forms, correlation {correlation:g}, seed {seed}")
            for budget in budgets:
                at: Row = {"correlation": correlation, "seed": seed, "budget": budget}
                found += [row | at for row in form(_drawn(pages, seed, correlation), seed, budget)]
    return found


def unrun(label: str, value: float, optimum: float, **more: float) -> Row:
    """Return the row of a closed form, which needs no run; the caller adds the population and the budget."""
    row: Row = {
        "policy": label, "correlation": 0.0, "seed": 0, "budget": 0.0, "ratio": value / optimum, "value": value,
        "optimum": optimum, "unused": 0.0, "abandoned": 0, "left": 0.0, "harmonic": math.nan, "seconds": 0.0,
    }  # fmt: skip
    return row | more


@lru_cache(maxsize=1)
def _drawn(pages: int, seed: int, correlation: float) -> Population:
    """Return a population; the last one is cached, because a process runs cases in order."""
    return population(pages, seed, correlation)
