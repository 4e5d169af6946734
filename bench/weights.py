"""What it brings to know what people open: living worlds in which they open other pages than links praise.

    python bench/weights.py
    python bench/weights.py --pages 500 --openings 20000 --budget 0.3

Demand for pages is drawn by Zipf, at random. The crawl is told of some openings before it begins, and printed is how
fresh pages were when people wanted them, with each weight, in the last third of a crawl's life. The regression has
nothing to go by but each page's own openings, for the demand has nothing to do with addresses. Exits 1 when openings
bring less than a tenth.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure

from evercrawl.model.worth.usage import Question
from evercrawl.model.worth.weights import WEIGHTS
from evercrawl.simulate.living.comparison import MEASURED, BenchWorld
from evercrawl.simulate.living.lives import relive

if TYPE_CHECKING:
    from evercrawl.types import Floats

ZIPF = 1.0


def demanded(world: BenchWorld, openings: int) -> tuple[Floats, list[Question]]:
    """Return what share of the demand each page has, and what people told of it."""
    web, draw = world.web(endless=False), np.random.default_rng([world.seed, 8])
    lasting = np.array([np.isinf(web.vanishes_at(number)) for number in range(web.plan.count)])
    demand = np.where(lasting, draw.permutation(np.arange(1.0, web.plan.count + 1) ** -ZIPF), 0.0)
    demand /= demand.sum()
    opened: list[int] = draw.choice(web.plan.count, openings, p=demand).tolist()
    beside: list[list[int]] = draw.choice(web.plan.count, (openings, 4)).tolist()
    questions = list[Question]()
    for at, (page, others) in enumerate(zip(opened, beside, strict=True)):
        shown = tuple(dict.fromkeys(web.urls[number] for number in (page, *others)))
        questions.append(Question(float(at), "", shown, (web.urls[page],)))
    return demand, questions


def reached(world: BenchWorld, weight: str, openings: int) -> float:
    """Return how fresh pages were when they were wanted."""
    demand, usage = demanded(world, openings)
    life = relive(world.web(endless=False), world.fetches_per_s, world.seconds, usage=usage, weight=weight)
    return life.freshness(demand, life.ended_at - MEASURED * world.seconds, life.ended_at)


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--worlds", type=int, default=2)
    parser.add_argument("--openings", type=int, default=5000)
    parser.add_argument("--budget", type=float, default=0.5, help="fetches a page and cycle")
    args = parser.parse_args()
    seconds = 6.0 * 8 / args.budget
    worlds = [BenchWorld(seed, args.pages, 6.0, args.budget * args.pages / 6.0, seconds) for seed in range(args.worlds)]
    plain = statistics.fmean(reached(world, "importance", args.openings) for world in worlds)
    print(Figure("importance", plain, "fresh when wanted"))
    found = {
        name: statistics.fmean(reached(world, name, args.openings) for world in worlds)
        for name in WEIGHTS
        if name in ("access", "embarrassment", "learned")
    }
    figures = [
        Figure(name, value / plain, "times that", 1.1 if name == "access" else None) for name, value in found.items()
    ]
    for figure in figures:
        print(figure)
    return 0 if all((figure.ratio or 1.0) >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
