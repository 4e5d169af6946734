"""Every contestant on every population, at every budget: the rows of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.lab.base import Claim, Curve, Findings, Panel
from evercrawl.lab.cells import Cell, Run, rows_of
from evercrawl.lab.printed_ratios import CORRELATIONS, WITHIN, printed
from evercrawl.simulate.population import population

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evercrawl.lab.base import Options, Row, Say
    from evercrawl.lab.contestants import Contestant
    from evercrawl.simulate.population import Population


PAGES: Final = 10_000
SEEDS: Final = 3
TURNS: Final = 15
_DECIMALS: Final = 3


class Trial(Run, Protocol):
    """A run whose row has a label."""

    @property
    def label(self) -> str:
        """What the row is called."""
        ...


def plain(options: Options, name: str) -> None:
    """See that nobody asks for a graph, where there are no links.

    Raises
    ------
    ConfigError
        When somebody does.
    """
    if options.graph is not None or options.kind is not None:
        raise ConfigError(f"{name} is about pages without links: leave --graph and --graph-kind out")


def seeds(options: Options, pages: int) -> range:
    """Return the seeds: three for as many pages as were printed of, one for fewer.

    >>> from evercrawl.lab.base import Options
    >>> list(seeds(Options(seed=5), 10_000)), list(seeds(Options(), 300))
    ([5, 6, 7], [1])
    """
    return range(options.seed, options.seed + (SEEDS if pages >= PAGES else 1))


def populations(
    options: Options, correlations: Sequence[float] = CORRELATIONS
) -> Iterator[tuple[float, int, Population]]:
    """Yield every population, with its correlation and its seed."""
    pages = options.pages or PAGES
    for correlation in correlations:
        for seed in seeds(options, pages):
            yield correlation, seed, population(pages, seed, correlation)


def contest(
    contestants: Iterable[Contestant],
    options: Options,
    budgets: Sequence[float],
    say: Say,
    correlations: Sequence[float] = CORRELATIONS,
) -> list[Row]:
    """Run every contestant, or each that was asked for, and return a row for each run.

    A row has `policy` (the label), `correlation`, `seed`, `budget`, `ratio`, `value`, `optimum`, `unused`, `abandoned`,
    `left`, `seconds` and `harmonic`, the harmonic cost, which is nan: runs do not measure it.
    """
    cycles, pages = float(options.turns or TURNS), options.pages or PAGES
    there = chosen(contestants, options)
    cells = [
        Cell(each, pages, correlation, seed, budget, cycles)
        for correlation in correlations
        for seed in seeds(options, pages)
        for each in there
        for budget in options.budgets or budgets
    ]
    return rows_of(cells, options.jobs, say, options.kept)


def tried(title: str, trials: Sequence[Trial], options: Options, say: Say) -> Findings:
    """Run trials that are no contestants, each a row of its label, and return the rows and a figure of them."""
    found = Findings(title, rows_of(trials, options.jobs, say, options.kept))
    found.panels = panels(found.rows, list(dict.fromkeys(each.label for each in trials)))
    return found


def chosen(contestants: Iterable[Contestant], options: Options) -> list[Contestant]:
    """Return those that are there and that were asked for, which are all where nobody is named.

    Raises
    ------
    ConfigError
        When a name is that of none; the message lists all rows.
    """
    there = [each for each in contestants if each.there]
    unknown = [name for name in options.policies if not any(each.named(name) for each in there)]
    if unknown:
        rows = "; ".join(each.label for each in there)
        raise ConfigError(f"there is no row called {unknown[0]}; name a policy or one of these: {rows}")
    return [each for each in there if not options.policies or any(each.named(name) for name in options.policies)]


def unrun(label: str, seed: int, budget: float, value: float, optimum: float) -> Row:
    """Return the row of a closed form, which needs no run."""
    return {
        "policy": label, "seed": seed, "budget": budget, "ratio": value / optimum, "value": value, "optimum": optimum,
        "unused": 0.0, "abandoned": 0, "left": 0.0, "seconds": 0.0, "harmonic": math.nan,
    }  # fmt: skip


def mean(rows: Iterable[Row], name: str = "ratio", **named: str | float) -> float:
    """Return the mean over seeds of a column, in the rows whose columns are as named; nan where there are none.

    >>> mean([{"policy": "a", "ratio": 0.5}, {"policy": "a", "ratio": 0.7}, {"policy": "b", "ratio": 0.1}], policy="a")
    0.6
    """
    found = [float(row[name]) for row in rows if all(row[key] == value for key, value in named.items())]
    return round(float(np.mean(found)), 12) if found else math.nan


def as_printed(rows: list[Row], label: str, like: str, *, promised: bool, reached: bool = False) -> list[Claim]:
    """Return a claim that a row is as printed, within 0.03 everywhere; for the better is no harm where it is `reached`.

    Parameters
    ----------
    rows
        Of a contest.
    label, like
        Of the row, and of the printed one; there is no claim where either has no figures.
    promised
        Whether we promise it.
    reached
        Whether more than what was printed is as good.
    """
    table, places = printed(), _places(rows, label)
    pairs = [(place, table[like, *place]) for place in places if (like, *place) in table]
    if not pairs:
        return []
    found = [mean(rows, policy=label, correlation=c, budget=b) for (c, b), _ in pairs]
    off = [one - figure for one, (_, figure) in zip(found, pairs, strict=True)]
    holds = all((reached or each <= WITHIN) and each >= -WITHIN for each in off)
    said = "; ".join(f"{b:g} a day, correlation {c:g}: {figure:.3f}" for (c, b), figure in pairs)
    return [Claim(f"{label}: as printed, within {WITHIN:g}", said, listed(found), holds, promised)]


def table(rows: list[Row], label: str) -> Claim:
    """Return what a row reaches, of which nothing was printed."""
    found = [mean(rows, policy=label, correlation=c, budget=b) for c, b in _places(rows, label)]
    return Claim(f"{label}: part of the optimum", "", listed(found), None)


def labels(rows: Iterable[Row]) -> list[str]:
    """Return what rows there are, by name, in their order.

    >>> labels([{"policy": "a", "seed": 1}, {"policy": "b", "seed": 1}, {"policy": "a", "seed": 2}])
    ['a', 'b']
    """
    return list(dict.fromkeys(str(row["policy"]) for row in rows))


def drawn(rows: Iterable[Row], options: Options, usual: Sequence[str]) -> Sequence[str]:
    """Return which rows are drawn: those that were asked for by name, else the usual ones.

    >>> from evercrawl.lab.base import Options
    >>> [drawn([{"policy": "cycle"}], Options(policies=asked), ["price"]) for asked in ((), ("cycle",))]
    [['price'], ['cycle']]
    """
    return labels(rows) if options.policies else usual


def listed(figures: Iterable[float]) -> str:
    """Return figures in a line.

    >>> listed([0.5, 0.98765])
    '0.500, 0.988'
    """
    return ", ".join(f"{figure:.{_DECIMALS}f}" for figure in figures)


def panels(rows: list[Row], drawn: Sequence[str]) -> list[Panel]:
    """Return how much of the optimum is reached by budget: a diagram for each correlation."""
    found = list[Panel]()
    for correlation in sorted({float(row["correlation"]) for row in rows}):
        curves = list[Curve]()
        for label in drawn:
            budgets = [b for c, b in _places(rows, label) if c == correlation]
            if not budgets:
                continue
            ratios = [mean(rows, policy=label, correlation=correlation, budget=b) for b in budgets]
            curves.append(Curve(label, [100 * b for b in budgets], ratios, ours=label == "price"))
        title = f"correlation of importance and rate: {correlation:g}"
        found.append(Panel(title, "budget (% of all pages, a day)", "part of the optimum", curves, percent=True))
    return found


def _places(rows: list[Row], label: str) -> list[tuple[float, float]]:
    return sorted({(float(row["correlation"]), float(row["budget"])) for row in rows if row["policy"] == label})
