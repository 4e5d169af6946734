"""What clicks bring: how fresh pages are when people open them, with clicks, without, and with shuffled ones.

    python bench/clicks.py
    python bench/clicks.py --pages 500 --answers 20000 --budget 0.3

Demand for pages is drawn by Zipf, at random: it has nothing to do with links. Answers show ten pages that are drawn
without regard to demand; people look at place j with probability 1 / sqrt(j), and open what they look at as its demand
has it. Told of the answers, a crawl with `--weight access` and one with `--policy rpuc` are compared with the same
crawl told of nothing, and with one told of as many clicks on other pages. Printed is freshness weighted by demand, and
by importance, in the last third of a crawl's life. Exits 1 when clicks bring
less than a tenth, or a crawl that was told of nothing is other than one that goes by importance alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from figures import Figure

from evercrawl.model.worth.usage import Question
from evercrawl.simulate.living import truth
from evercrawl.simulate.living.comparison import BEGAN_AT, MEASURED, BenchWorld
from evercrawl.simulate.living.lives import relive

if TYPE_CHECKING:
    from evercrawl.types import Floats

SHOWN = 10
KINDS = ("told of nothing", "clicks", "shuffled clicks")


class Use(NamedTuple):
    """What people want, what they did, and the same clicks on other pages."""

    demand: Floats
    clicks: list[Question]
    shuffled: list[Question]

    def of(self, kind: str) -> list[Question]:
        """Return what a crawl is told."""
        return {"clicks": self.clicks, "shuffled clicks": self.shuffled}.get(kind, [])


def used(world: BenchWorld, answers: int) -> Use:
    """Return what people do in a world."""
    web, draw = world.web(endless=False), np.random.default_rng([world.seed, 9])
    count = web.plan.count
    lasting = np.array([np.isinf(web.vanishes_at(number)) for number in range(count)])
    demand = np.where(lasting, draw.permutation(np.arange(1.0, count + 1) ** -1.0), 0.0)
    demand /= demand.sum()
    looked = np.arange(1.0, SHOWN + 1) ** -0.5
    shown = np.stack([draw.permutation(count)[:SHOWN] for _ in range(answers)])
    opened = draw.random(shown.shape) < looked * np.minimum(demand[shown] / demand.max(), 1.0)
    other = draw.permutation(count)

    def told(number: Any) -> list[Question]:
        return [
            Question(
                BEGAN_AT - answers + at, "", tuple(web.urls[int(number[page])] for page in row),
                tuple(web.urls[int(number[page])] for page in row[clicked]), str(at),
            )
            for at, (row, clicked) in enumerate(zip(shown, opened, strict=True))
        ]  # fmt: skip

    return Use(demand, told(np.arange(count)), told(other))


def reached(world: BenchWorld, use: Use, kind: str, **settings: Any) -> tuple[float, float]:
    """Return how fresh pages were when wanted, and by importance."""
    web = world.web(endless=False)
    life = relive(web, world.fetches_per_s, world.seconds, usage=use.of(kind), **settings)
    since = life.ended_at - MEASURED * world.seconds
    return tuple(life.freshness(each, since, life.ended_at) for each in (use.demand, truth.weights(web)))  # type: ignore[return-value]


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--worlds", type=int, default=2)
    parser.add_argument("--answers", type=int, default=6000)
    parser.add_argument("--budget", type=float, default=0.5, help="fetches a page and cycle")
    args = parser.parse_args()
    seconds = 6.0 * 8 / args.budget
    worlds = [BenchWorld(seed, args.pages, 6.0, args.budget * args.pages / 6.0, seconds) for seed in range(args.worlds)]
    uses = [used(world, args.answers) for world in worlds]
    print(sum(len(question.clicked) for question in uses[0].clicks), "clicks in world 0")
    figures = list[Figure]()
    for name, settings in (("access", {"weight": "access"}), ("rpuc", {"policy": "rpuc"})):
        plain = {"weight": "importance"} if name == "access" else settings
        runs = {kind: [reached(w, u, kind, **settings) for w, u in zip(worlds, uses, strict=True)] for kind in KINDS}
        base = [reached(w, u, "none", **plain) for w, u in zip(worlds, uses, strict=True)]
        for kind, found in runs.items():
            wanted = statistics.fmean(a / b for (a, _), (b, _) in zip(found, base, strict=True))
            matters = statistics.fmean(a / b for (_, a), (_, b) in zip(found, base, strict=True))
            goal = 1.1 if kind == "clicks" else 1.0 if kind == KINDS[0] else None
            figures.append(Figure(f"{name}, {kind}: fresh when wanted", wanted, "times that", goal))
            figures.append(Figure(f"{name}, {kind}: fresh by importance", matters, "times that"))
            print(figures[-2], figures[-1], sep="\n", flush=True)
    return 0 if all((figure.ratio or 1.0) >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
