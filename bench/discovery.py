"""What `discovery` does: the share of fetches that go to pages never read, in a web with more of them than any budget.

    python bench/discovery.py [--seeds 3] [--first 0] [--policies price,greedy,xyleme]

Each seed draws the living web of the demonstration: 20 hosts, 400 pages that change, and endless calendars, whose pages
matter little. A budget of 20 fetches a second for two and a half minutes could read each page seven times, and all of
it is worth spending on refreshes; the calendars would take all of it too. The share of fetches that read a page for the
first time is to rise with every step of `discovery`, in each world, and to be five times as large at 1 as at 0.
Beside it stands the freshness of the copies in the last third, weighted by the true importance.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from typing import NamedTuple

from figures import Figure

from evercrawl.simulate.living import comparison
from evercrawl.simulate.living.comparison import BenchWorld
from evercrawl.simulate.living.lives import relive

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
PAGES, CYCLE_S, RATE_PER_S, SECONDS = 400, 20.0, 20.0, 150.0


class Row(NamedTuple):
    """One policy in one world: the share of new pages, and the freshness, at each step."""

    policy: str
    seed: int
    shares: list[float]
    fresh: list[float]


def lived(policy: str, seed: int) -> Row:
    """Crawl one world once for each step."""
    world = BenchWorld(seed, PAGES, CYCLE_S, RATE_PER_S, SECONDS)
    lives = [
        relive(world.web(), world.fetches_per_s, world.seconds, policy=policy, discovery=discovery)
        for discovery in STEPS
    ]
    shares = [(len(life.asked) + len(life.read)) / life.fetches for life in lives]
    return Row(policy, seed, shares, [comparison.measured(life) for life in lives])


def main() -> int:
    """Print two lines a world and policy, and all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--policies", default="price,greedy,xyleme")
    given = parser.parse_args()
    asked = [
        (policy, seed) for policy in given.policies.split(",") for seed in range(given.first, given.first + given.seeds)
    ]
    print("policy   seed            " + "".join(f"{f'd = {step:g}':>10}" for step in STEPS))
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = [shown(row) for row in pool.map(lived, *zip(*asked, strict=True))]
    steps = [later - sooner for row in rows for sooner, later in pairwise(row.shares)]
    spread = [row.shares[-1] / row.shares[0] for row in rows]
    figures = [
        Figure("rise of the share of new pages, least step", 100 * min(steps), "%", at_least=1e-9),
        Figure("share at 1 against that at 0, median", statistics.median(spread), "x"),
        Figure("share at 1 against that at 0, least", min(spread), "x", at_least=5.0),
    ]
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


def shown(row: Row) -> Row:
    """Print a row."""
    print(f"{row.policy:8} {row.seed:4}  new pages " + "".join(f"{share:10.2%}" for share in row.shares))
    print(f"{'':8} {'':4}  freshness " + "".join(f"{fresh:10.4f}" for fresh in row.fresh), flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
