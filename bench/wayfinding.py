"""What earlier clicks of people tell of later ones: freshness at click on recorded ways through a web.

    python bench/wayfinding.py FOLDER

FOLDER holds wikispeedia.edges.parquet (src, dst) and wikispeedia.clicks.parquet (trail, t, src, dst, back): links
between 4,604 articles, and 104,420 steps of people who looked for a way from one to another. A step is a question:
shown are the links of the page, opened is the next one. From the first 70 % of the time is learned what pages are
worth, by the formula of `--weight access`; rates of change are drawn, and the best allocation of 5, 20 and 50 % of
all changes to pages of that worth is held against the clicks of the last 30 %. Beside it: pages visited alike, by
importance, and by the later clicks themselves, which nobody has. What that costs who counts pages by importance is
printed too. Exits 1 where clicks bring less than 0.03 over
importance, or less than 65 % of what the later clicks would.

References
----------
West, Leskovec (2012). Human wayfinding in information networks. WWW.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow.parquet as pq
from figures import Figure

from evercrawl.importance.offline import Graph, pagerank
from evercrawl.model.worth.weights import unseen
from evercrawl.schedule.formulas.allocation import optimum
from evercrawl.schedule.formulas.objectives import freshness

if TYPE_CHECKING:
    from evercrawl.types import Floats, Ints

BUDGETS: Final = (0.05, 0.2, 0.5)
LEARNED: Final = 0.7
GAIN, GAP = 0.03, 0.65


def worth(importance: Floats, opened: Ints) -> Floats:
    """Return what pages are worth: importance, and where people went, as far as they told."""
    part = unseen(float(np.count_nonzero(opened == 1)), float(opened.sum()))
    return part * importance + (1.0 - part) * opened / max(float(opened.sum()), 1.0)


def reached(worth_of: Floats, lam: Floats, budget: float, clicks: Floats) -> float:
    """Return how fresh pages are when they are clicked, visited as best by what they are taken to be worth."""
    return float(freshness(optimum(worth_of, lam, budget).rate, lam) @ clicks)


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=5, help="of the rates of change")
    parser.add_argument("--spread", type=float, default=1.5, help="standard deviation of the rates' logarithms")
    args = parser.parse_args()
    edges, clicks = (pq.read_table(args.folder / f"wikispeedia.{name}.parquet") for name in ("edges", "clicks"))
    source, target = (edges[name].to_numpy() for name in ("src", "dst"))
    count = int(max(source.max(), target.max())) + 1
    importance = pagerank(Graph.between(count, source.astype(np.int64), target.astype(np.int64)))
    at, to = clicks["t"].to_numpy(), clicks["dst"].to_numpy()
    chosen = to[~clicks["back"].to_numpy()]
    when = at[~clicks["back"].to_numpy()]
    until = np.quantile(when, LEARNED)
    earlier, later = (np.bincount(chosen[part], minlength=count) for part in (when <= until, when > until))
    wanted = later / later.sum()
    print(
        f"{len(chosen):,} clicks on {np.count_nonzero(earlier + later):,} of {count:,} pages, {earlier.sum():,} earlier"
    )
    missed, learned = False, worth(importance, earlier)
    for budget in BUDGETS:
        found, by_importance = np.zeros((args.draws, 4)), np.zeros((args.draws, 2))
        for draw in range(args.draws):
            lam = np.exp(args.spread * np.random.default_rng(draw).standard_normal(count))
            spent = budget * float(lam.sum())
            alike = np.full(count, spent / count)
            found[draw] = (
                float(freshness(alike, lam) @ wanted), reached(importance, lam, spent, wanted),
                reached(learned, lam, spent, wanted), reached(wanted + 1e-12, lam, spent, wanted),
            )  # fmt: skip
            by_importance[draw] = [reached(each, lam, spent, importance) for each in (importance, learned)]
        equal, by_links, by_earlier, by_later = found.mean(axis=0).tolist()
        share = f"{100 * budget:.0f} %"
        print(f"{share} of all changes: equal {equal:.3f}, importance {by_links:.3f}, earlier clicks {by_earlier:.3f}, "
              f"later clicks {by_later:.3f}")  # fmt: skip
        by, told = by_importance.mean(axis=0).tolist()
        print(f"{share} of all changes, by importance: importance {by:.3f}, earlier clicks {told:.3f}")
        figures = (
            Figure(f"{share}: gain over importance", by_earlier - by_links, "", at_least=GAIN),
            Figure(
                f"{share}: part of the gap to later clicks",
                (by_earlier - by_links) / (by_later - by_links),
                "",
                at_least=GAP,
            ),
        )
        for figure in figures:
            print(figure)
            missed = missed or (figure.ratio or 1.0) < 1.0
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
