"""How true is what `evercrawl plan` expects: living worlds crawled on a virtual clock, whose freshness is known.

    python bench/plan.py
    python bench/plan.py --pages 500 --worlds 4 --budget 0.3

Printed is, world by world, what the plan of the crawl expects at its pace in the long run, what it told of the last
third of its life, what was reached then, and what is possible for those who know everything. The worlds have no endless
calendars, whose pages never change: for a crawl they are copies like others, the truth leaves them out. Exits 1 when
the plan is off by more than five points on the mean.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import TYPE_CHECKING

from figures import Figure

from evercrawl.ask.plan.outlook import Outlook, outlook
from evercrawl.config import Config
from evercrawl.model.view import View
from evercrawl.simulate.living import comparison
from evercrawl.simulate.living.lives import relive

if TYPE_CHECKING:
    from evercrawl.store.partition import Partition


def planned(world: comparison.BenchWorld) -> tuple[Outlook, float, float]:
    """Return what is expected of a crawl of the world, what it reached, and what is possible."""
    found = list[Outlook]()

    def look(partition: Partition) -> None:
        config = Config(rate_per_s=world.fetches_per_s, refresh_after_s=0.0)
        found.append(outlook(View(partition, config, 0.0)))

    life = relive(world.web(endless=False), world.fetches_per_s, world.seconds, look=look)
    return found[0], comparison.measured(life), comparison.optimum(life.web, life.fetches_per_s)


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--worlds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=1.0, help="fetches a page and cycle")
    parser.add_argument("--cycles", type=float, default=15.0)
    args = parser.parse_args()
    off = list[float]()
    for seed in range(1, args.worlds + 1):
        world = comparison.BenchWorld(seed, args.pages, 6.0, args.budget * args.pages / 6.0, 6.0 * args.cycles)
        plan, reached, possible = planned(world)
        assert plan.now is not None, "the crawl visited pages again"
        off.append(100 * (plan.now.freshness - reached))
        print(
            f"world {seed}: expected {plan.now.freshness:.3f}, told {plan.spent.freshness:.3f}, reached {reached:.3f}, "
            f"possible {possible:.3f}, fresh now {plan.fresh:.3f}; "
            f"{plan.spent.refreshes_per_s:.1f} refreshes and {plan.spent.new_per_s:.1f} first visits a second"
        )
    mean = Figure("expected less reached, absolute mean", statistics.fmean(map(abs, off)), "points", at_most=5.0)
    print(mean)
    print(Figure("expected less reached, mean", statistics.fmean(off), "points"))
    return 0 if (mean.ratio or 0.0) >= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
