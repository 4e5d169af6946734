"""The demonstration's worlds on a virtual clock: freshness, importance, and what the endless calendars cost.

    python bench/demo.py [--seeds 10] [--first 0] [--cycles 20]

Each seed draws a world of 20 hosts and 2,000 pages. The shipped loop crawls it with `price` and push, and once more as
a round-robin does (`cycle`, all pages alike), with as many fetches; freshness is weighted by the true importance and
measured after ten cycles, a cycle being the time in which as many pages are fetched as there are. The optimum knows all
rates and all importance. Another crawl, of the same world standing still, tells how exact importance is after ten
visits a page.

What was chosen, and how: the rates (`simulate/living/plan.py`) on worlds 100 to 105, before any crawl, so that there is
something to be won: knowing everything is worth 1.25 to 1.4 times the freshness of even intervals, where the mean page
changes three times a cycle. The crawl's own constants (`store/cash/spread.py`, `change/prior.py`) on worlds 100 to 103.
The worlds counted here, 0 to 9, had no part in it. A cycle takes a minute rather than the demonstration's six seconds,
because the crawl keeps instants in sixteenths of a second and some pages are fetched dozens of times a cycle. It runs
for twenty, the first ten of which are not counted as freshness, but in the share of the calendars they are.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from figures import Figure

from evercrawl.simulate.living import comparison, truth
from evercrawl.simulate.living.beliefs import Beliefs, beliefs, importance_errors
from evercrawl.simulate.living.comparison import BenchWorld
from evercrawl.simulate.living.lives import relive

PAGES = 2000
CYCLE_S = 60.0
SETTLED = 10.0
"""Cycles after which freshness counts."""


class Row(NamedTuple):
    """What one world came to."""

    seed: int
    price: float
    round_robin: float
    even: float
    optimum: float
    calendar: float
    error: float


def lived(seed: int, cycles: float) -> Row:
    """Crawl one world three times."""
    world = BenchWorld(seed, PAGES, CYCLE_S, PAGES / CYCLE_S, cycles * CYCLE_S)
    web = world.web()
    life = relive(web, world.fetches_per_s, world.seconds)
    plain = comparison.round_robin(world)
    weights, start, end = truth.weights(web), web.began_at + SETTLED * CYCLE_S, life.ended_at
    return Row(
        seed,
        life.freshness(weights, start, end),
        plain.freshness(weights, start, end),
        comparison.even_round_robin(web, world.fetches_per_s),
        comparison.optimum(web, world.fetches_per_s),
        life.calendar_share,
        still_error(world),
    )


def still_error(world: BenchWorld) -> float:
    """Return the mean relative error of importance after ten greedy visits a page of the same world without changes."""
    web = world.web(still=True)
    seen: list[Beliefs] = []
    life = relive(
        web,
        world.fetches_per_s,
        10 * world.cycle_s,
        policy="greedy",
        look=lambda p: seen.append(beliefs(p, web.urls)),
    )
    return float(importance_errors(web, seen[0], life.read).mean())


def main() -> int:
    """Print a line a seed and all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cycles", type=float, default=20.0)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    print("seed   price  round-robin  evenly  optimum   gain  of optimum  calendar  importance error")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = [shown(row) for row in pool.map(lived, seeds, [given.cycles] * len(seeds))]
    gains = [row.price / row.round_robin for row in rows]
    parts = [row.price / row.optimum for row in rows]
    figures = [
        Figure("freshness against round-robin, mean", statistics.mean(gains), "x"),
        Figure("freshness against round-robin, worst", min(gains), "x", at_least=1.15),
        Figure("freshness against the optimum, mean", statistics.mean(parts), "x"),
        Figure("freshness against the optimum, worst", min(parts), "x", at_least=0.93),
        Figure("fetches of endless calendars, worst", 100 * max(row.calendar for row in rows), "%", at_most=1.0),
        Figure("error of importance, mean", 100 * statistics.mean(row.error for row in rows), "%"),
        Figure("error of importance, worst", 100 * max(row.error for row in rows), "%", at_most=1.0),
    ]
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


def shown(row: Row) -> Row:
    """Print a row."""
    print(
        f"{row.seed:4} {row.price:7.4f} {row.round_robin:12.4f} {row.even:7.4f} {row.optimum:8.4f} "
        f"{row.price / row.round_robin:6.3f} {row.price / row.optimum:11.3f} {row.calendar:9.2%} {row.error:17.3%}",
        flush=True,
    )
    return row


if __name__ == "__main__":
    sys.exit(main())
