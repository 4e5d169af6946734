"""Whether freshness as measured by random probes, as expected, and as it truly was, agree in crawls of living webs.

    python bench/measured.py [--seeds 100] [--first 0] [--share 0.1] [--cycles 12] [--pages 300] [--policy price]
                             [--no-calendars]

Each seed draws a world (`evercrawl demo`'s, smaller), which the shipped loop crawls on a virtual clock for some cycles,
a cycle being the time in which as many pages are fetched as there are. What is drawn counts from the second cycle on:
before any page was visited twice nobody can know whether pages change by the second, as here, or by the week, as the
default takes it. The truth is the part of all copies held that was as its page was, at the instants of drawing.

Policies that mind no importance, such as `uniform`, read the endless calendars without end. Thousands of pages that
never change, each seen once or twice, then share the prior of sites whose other pages do, and by it are believed to
change too: what is expected is 7 points too low, and the measured freshness shows it. `--no-calendars` spares them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from figures import Figure

from evercrawl.ask.measured import MeasuredCopies
from evercrawl.simulate.living.lives import relive
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.store.journal.events import Drawn

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from true_copies import true_copies

if TYPE_CHECKING:
    from evercrawl.change.probed import ProbedMeasure
    from evercrawl.store.partition import Partition

BEGAN_AT = 1_700_000_000.0
SETTLED = 2.0
"""Cycles after which probes count."""
GOAL = 95.0
HEAD = (
    "seed  probes  fresh (interval)   expected  true  by importance       expected   age (interval)     expected   true"
)


class Row(NamedTuple):
    """What one world came to: all copies alike and by importance, and how fresh and old they truly were."""

    seed: int
    uniform: ProbedMeasure
    by_importance: ProbedMeasure
    fresh: float
    age_s: float
    error: float


def lived(seed: int, pages: int, cycles: float, share: float, policy: str, endless: bool) -> Row:
    """Crawl one world."""
    web = LivingWeb(seed, pages=pages, cycle_s=float(pages), began_at=BEGAN_AT, endless=endless)
    rows: list[Row] = []

    def look(partition: Partition) -> None:
        counted = [e for _, _, e in partition.journal.replay() if e.at >= BEGAN_AT + SETTLED * web.cycle_s]
        found = MeasuredCopies(window=len(counted)).take(counted)
        at = np.array([event.at for event in counted if isinstance(event, Drawn) and not event.by_importance])
        true = true_copies(web, partition, at)
        uniform, weighted = found.measure(by_importance=False), found.measure(by_importance=True)
        assert uniform is not None
        assert weighted is not None
        error = found.visits.expected_error
        rows.append(Row(seed, uniform, weighted, float(true.fresh.mean()), float(true.age_s.mean()), error))

    relive(web, 1.0, cycles * web.cycle_s, look=look, probe_share=share, policy=policy)
    return rows[0]


def main() -> int:
    """Print a line a seed and all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--cycles", type=float, default=12.0)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--policy", default="price")
    parser.add_argument("--no-calendars", action="store_true")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    print(HEAD)
    settings = (given.pages, given.cycles, given.share, given.policy, not given.no_calendars)
    worlds = (repeat(each) for each in settings)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = [shown(row) for row in pool.map(lived, seeds, *worlds)]
    figures = [
        part("expected freshness within the interval", [agrees(row.uniform) for row in rows]),
        part("the same by importance", [agrees(row.by_importance) for row in rows]),
        part("true freshness within the interval", [within(row.uniform, row.fresh) for row in rows]),
        part("expected age within the interval", [agrees_in_age(row.uniform) for row in rows], goal=None),
        part("true age within the interval", [agrees_in_age(row.uniform, row.age_s) for row in rows], goal=None),
        Figure(
            "expected less measured freshness, mean", 100 * statistics.mean(over(r.uniform) for r in rows), "points"
        ),
        Figure("the same by importance", 100 * statistics.mean(over(row.by_importance) for row in rows), "points"),
        Figure("measured less true, mean", 100 * statistics.mean(r.uniform.fresh - r.fresh for r in rows), "points"),
        Figure("error of calibration at visits, mean", 100 * statistics.mean(row.error for row in rows), "points"),
    ]
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


def part(name: str, held: list[bool], goal: float | None = GOAL) -> Figure:
    """Return in how many of a hundred seeds something held."""
    return Figure(name, 100 * statistics.mean(held), "of 100", at_least=goal)


def within(found: ProbedMeasure, fresh: float) -> bool:
    """Return whether a freshness lies within the interval that was measured."""
    return found.fresh_low <= fresh <= found.fresh_high


def agrees(found: ProbedMeasure) -> bool:
    """Return whether what was expected does."""
    return within(found, found.fresh_expected)


def agrees_in_age(found: ProbedMeasure, age_s: float | None = None) -> bool:
    """Return whether an age lies within the interval that was measured, the expected one where none is given."""
    return found.age_low_s <= (found.age_expected_s if age_s is None else age_s) <= found.age_high_s


def over(found: ProbedMeasure) -> float:
    """Return by how much too fresh copies were thought to be."""
    return found.fresh_expected - found.fresh


def shown(row: Row) -> Row:
    """Print a row."""
    every, most = row.uniform, row.by_importance
    print(
        f"{row.seed:4} {every.probes:7} {every.fresh:6.3f} {every.fresh_low:.3f}-{every.fresh_high:.3f} "
        f"{every.fresh_expected:8.3f} {row.fresh:6.3f} {most.fresh:7.3f} {most.fresh_low:.3f}-{most.fresh_high:.3f} "
        f"{most.fresh_expected:8.3f} {every.age_s:7.1f} {every.age_low_s:6.1f}-{every.age_high_s:6.1f} "
        f"{every.age_expected_s:8.1f} {row.age_s:6.1f}",
        flush=True,
    )
    return row


if __name__ == "__main__":
    sys.exit(main())
