"""How well a crawl tells which pages rise: webs in which some were planted, crawled on a virtual clock.

    python bench/rising.py
    python bench/rising.py --scheme aopic --pages 1000

More and more pages link to some, by edits that the crawl has to come upon; every other link comes and goes at random.
Printed is how many of the first k pages of the list were planted, k being how many there are, beside the same for lists
by importance alone and by the number of links that came. Exits 1 when importance alone does as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure

from evercrawl.ask.rank.link_steps import link_steps
from evercrawl.ask.rank.rising import rising_pages
from evercrawl.config import Config
from evercrawl.model.view import View
from evercrawl.simulate.living.lives import relive

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from rising_web import RisingWeb

if TYPE_CHECKING:
    from evercrawl.store.partition import Partition

BEGAN_AT = 1_700_000_000.0
CYCLE_S, LASTS_S = 4.0, 40.0
LISTS = ("rising", "importance", "links that came")


def first(view: View, most: int) -> dict[str, list[str]]:
    """Return the first pages of each list."""
    steps = link_steps(view)
    came = np.bincount(steps.page, steps.amount > 0, view.state.known.count)
    found = {"rising": [page.url for page in rising_pages(view, most)]}
    for name, values in zip(LISTS[1:], (view.importance, came), strict=True):
        slots: list[int] = np.argsort(-values, kind="stable")[:most].tolist()
        found[name] = [view.state.urls.get(slot) for slot in slots]
    return found


def precision(args: argparse.Namespace, seed: int) -> dict[str, float]:
    """Return which part of the first pages of each list was planted."""
    web = RisingWeb(
        seed, risers=args.risers, linkers=args.linkers, lasts_s=LASTS_S, passing=args.passing,
        hosts=max(args.pages // 40, 2), pages=args.pages, cycle_s=CYCLE_S, began_at=BEGAN_AT,
    )  # fmt: skip
    found: dict[str, float] = {}

    def look(partition: Partition) -> None:
        lists = first(View(partition, Config(importance=args.scheme), 0.0), args.risers)
        found.update({name: sum(url in web.rising for url in lists[name]) / args.risers for name in LISTS})

    relive(web, args.pages / CYCLE_S * args.budget, LASTS_S, scheme=args.scheme, look=look)
    return found


def main() -> int:
    """Crawl the worlds, print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default, meaning in (
        ("pages", 400, "pages of each web"),
        ("risers", 10, "pages that rise"),
        ("linkers", 40, "pages that begin to link to each of them"),
        ("passing", 1, "links to pages at random, others in each version of a page"),
        ("budget", 1.0, "visits in the time of a round-robin, a page"),
        ("worlds", 4, "how many"),
        ("seed", 1, "of the first world"),
        ("scheme", "push", "of importance"),
    ):
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{meaning} (default: {default})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    worlds = [precision(args, args.seed + world) for world in range(args.worlds)]
    means = {name: 100 * statistics.mean(of[name] for of in worlds) for name in LISTS}
    figures = [Figure(f"planted among the first {args.risers}, by {name}", of, "%") for name, of in means.items()]
    figures.append(Figure("  over importance alone", means["rising"] / max(means["importance"], 1.0), "x", at_least=2))
    print(json.dumps([asdict(of) for of in figures]) if args.json else "\n".join(map(str, figures)))
    return int(figures[-1].ratio is not None and figures[-1].ratio < 1)


if __name__ == "__main__":
    sys.exit(main())
