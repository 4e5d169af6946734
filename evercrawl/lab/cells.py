"""The cells of a comparison, one run each: which there are, and how to run them in as many processes as asked for."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from evercrawl.lab.kept_runs import KeptRuns, fingerprint
from evercrawl.simulate.polling import poll
from evercrawl.simulate.population import DAY_S, population
from evercrawl.simulate.processes import processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evercrawl.lab.base import Row, Say
    from evercrawl.lab.contestants import Contestant
    from evercrawl.simulate.population import Population


class Run(Protocol):
    """Something to be run that makes a row with the column `ratio`; it is told of by its `str`."""

    def row(self) -> Row:
        """Run it, and return what came of it."""
        ...


class Cell(NamedTuple):
    """One run.

    Attributes
    ----------
    each
        Who runs.
    pages, correlation, seed
        Of the population; the seed also decides what visits find.
    budget
        Visits a page and day.
    cycles
        How long; the second half is measured.
    """

    each: Contestant
    pages: int
    correlation: float
    seed: int
    budget: float
    cycles: float

    def __str__(self) -> str:
        """Return what is told of it.

        >>> from evercrawl.lab.contestants import Contestant
        >>> str(Cell(Contestant("round", "cycle"), 300, 0.5, 1, 0.1, 15.0))
        'round, correlation 0.5, seed 1, 10 %'
        """
        return f"{self.each.label}, correlation {self.correlation:g}, seed {self.seed}, {100 * self.budget:g} %"

    def row(self) -> Row:
        """Run it, and return what came of it."""
        pages = drawn(self.pages, self.seed, self.correlation)
        return run(self.each, pages, self.budget, self.cycles, self.seed) | {"correlation": self.correlation}


def rows_of(cells: Sequence[Run], jobs: int, say: Say, kept: Path | None = None) -> list[Row]:
    """Return the row of each cell, in their order; how many processes there are makes no difference to what is in them.

    Parameters
    ----------
    cells
        To be run.
    jobs
        Processes at once; with one, all run in this one.
    say
        Is told of each run that is over, and how many there are.
    kept
        A file that keeps each row as soon as it is there; what it has of the same code is not run again. None for none.

    Raises
    ------
    StoreError
        When rows cannot be kept.
    """
    with ExitStack() as stack:
        runs = None if kept is None else stack.enter_context(KeptRuns(kept, fingerprint()))
        found = [None if runs is None else runs.row(repr(cell)) for cell in cells]
        missing = [place for place, row in enumerate(found) if row is None]
        if len(missing) < len(cells):
            say(f"{len(cells) - len(missing)} of {len(cells)} runs are there already, in {kept}")
        began, left = time.monotonic(), [cells[place] for place in missing]
        for done, (place, row) in enumerate(zip(missing, _run(left, jobs), strict=True), 1):
            found[place] = row
            if runs is not None:
                runs.keep(repr(cells[place]), row)
            left_s = (time.monotonic() - began) / done * (len(left) - done)
            over = len(cells) - len(left) + done
            say(f"{over} of {len(cells)}: {cells[place]}: {row['ratio']:.3f}{_still(left_s)}")
    return [row for row in found if row is not None]


def row_of(cell: Run) -> Row:
    """Run a cell, and return what came of it."""
    return cell.row()


def run(each: Contestant, pages: Population, budget: float, cycles: float, seed: int) -> Row:
    """Run one contestant, and return what came of it."""
    began = time.perf_counter()
    policy = each.made(budget)
    if each.start:
        policy.resume({"price": each.start * pages.optimum(budget).price * DAY_S})
    found = poll(policy, pages, budget, cycles=cycles, measured_from=cycles / 2, seed=seed, conditions=each.conditions)
    return {
        "policy": each.label, "seed": seed, "budget": budget, "ratio": found.ratio, "value": found.value,
        "optimum": found.optimum, "unused": found.unused, "abandoned": found.abandoned, "left": found.left,
        "seconds": time.perf_counter() - began, "harmonic": math.nan,
    }  # fmt: skip


@lru_cache(maxsize=1)
def drawn(pages: int, seed: int, correlation: float) -> Population:
    """Return a population; the last one is remembered, for a process runs cells in their order."""
    return population(pages, seed, correlation)


def _run(cells: Sequence[Run], jobs: int) -> Iterator[Row]:
    """Yield the row of each cell, in their order."""
    if min(jobs, len(cells)) <= 1:
        yield from map(row_of, cells)
        return
    with processes(min(jobs, len(cells))) as pool:
        yield from pool.map(row_of, cells)


def _still(left_s: float) -> str:
    """Return how long it will take yet, as far as can be said; nothing where that is a few seconds.

    >>> _still(3.0), _still(50.0), _still(700.0)
    ('', ' (50 s to go)', ' (12 min to go)')
    """
    if left_s < 5:
        return ""
    return f" ({left_s:.0f} s to go)" if left_s < 100 else f" ({left_s / 60:.0f} min to go)"
