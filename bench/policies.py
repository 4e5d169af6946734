"""Every policy on recorded histories, at equal budget: the table of docs/research/HISTORIES.md.

    python bench/policies.py HISTORIES
    python bench/policies.py HISTORIES --policy price
    python bench/policies.py HISTORIES --sample 700 --budget 0.02

HISTORIES is a folder of histories. For each policy and budget there is the mean over the sites of the freshness, of the
points gained over uniform polling with their interval, and of the gap closed (see evercrawl lab backtest), and
on how many sites it gained. Policies that take minutes where others take seconds are replayed on fewer pages of each
site, which the table tells, and compared with uniform polling of the same pages. With `--policy` there are rows of
those alone, the same as in the whole table.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kept_replays import KeptReplays

from evercrawl import catalog, schedule
from evercrawl.cli.show.meter import LINE_EVERY_S, Meter
from evercrawl.cli.show.plain import many
from evercrawl.lab.backtest.report import CEILING, FLOOR, means, of_site
from evercrawl.lab.backtest.runs import make, planned
from evercrawl.lab.backtest.setting import ReplaySetting, choices
from evercrawl.lab.histories import find
from evercrawl.schedule.base import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evercrawl.lab.backtest.rows import Mean

BUDGETS: Final = (0.005, 0.02)
SLOW: Final = {"webfountain": 1_500}
"""Pages of each site that are replayed where all would take hours."""


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", help="a folder of them")
    parser.add_argument("--policy", action="append", help="may be repeated (default: all there are)")
    parser.add_argument("--without", default="pyar-wiki", help="histories left out, such as a,b (default: pyar-wiki)")
    parser.add_argument("--budget", type=float, action="append", help="may be repeated (default: 0.005 and 0.02)")
    parser.add_argument("--sample", type=int, help="only so many pages of each site")
    parser.add_argument("--no-validators", action="store_true", help="pages do not say when they changed last")
    parser.add_argument("--runs", type=Path, help="keep replays in this folder, and go on from what it has")
    o = parser.parse_args()
    o.paths = [path for path in find(o.histories) if path.name not in o.without.split(",")]
    o.budget = sorted(o.budget or BUDGETS)
    asked = list(choices(o.policy or list(policies())))
    quick = [name for name in asked if name not in SLOW]
    found = [(None, rows) for rows in replayed(o, quick, o.sample)]
    for name in (name for name in asked if name in SLOW):
        pages = min(SLOW[name], o.sample or SLOW[name])
        found += [(pages, rows) for rows in replayed(o, [name], pages) if rows[0].policy == name]
    print("\n".join(table(o.budget, len(o.paths), found)))
    return 0


def policies() -> Iterable[str]:
    """Return the names of all there are."""
    base: type[Any] = Policy
    return catalog.find(schedule.policies, base)


def replayed(o: argparse.Namespace, policies: Sequence[str], sample: int | None) -> list[list[Mean]]:
    """Return the means over the sites of each policy, budget by budget; the yardsticks are there if asked for."""
    chosen = choices(list(dict.fromkeys([FLOOR, *policies, CEILING])))
    groups: list[tuple[Path, ...]] = [(path,) for path in o.paths]
    plan = planned(groups, chosen, o.budget, ReplaySetting(o.budget[0], sample=sample, validators=not o.no_validators))
    with Meter(sys.stderr, LINE_EVERY_S, "replays") as progress:
        runs = [run for group in plan for run in group]
        coming = KeptReplays(o.runs).made(runs, lambda left: make(left, tell=progress))
        made = [list(islice(coming, len(group))) for group in plan]
    every = means([of_site([each.replayed for each in group], group[0].cluster, seed=1) for group in made], seed=1)
    return [[row for row in every if row.policy == name] for name in chosen if name in policies]


def table(budgets: Sequence[float], sites: int, found: Iterable[tuple[int | None, list[Mean]]]) -> list[str]:
    """Return the lines, in Markdown; the policy that gains most over all budgets comes first."""
    ordered = sorted(found, key=lambda one: -sum(row.difference for row in one[1]))
    cells = [f"{budget:g}: fresh % | over uniform | gap | gained on" for budget in budgets]
    return [
        f"| Policy | {' | '.join(cells)} |",
        f"|---|{'---|' * 4 * len(budgets)}",
        *(
            f"| {called(rows[0].policy, pages)} | {' | '.join(told(row, sites) for row in rows)} |"
            for pages, rows in ordered
        ),
    ]


def called(policy: str, pages: int | None) -> str:
    """Return a policy's name, and on how many pages it was replayed where those are not all."""
    return f"`{policy}`" if pages is None else f"`{policy}`, {many(pages, 'pages')} a site"


def told(row: Mean, sites: int) -> str:
    """Return the cells about a policy at a budget."""
    if row.policy == FLOOR:
        return f"{100 * row.freshness:.2f} | | |"
    gained = [100 * points for points in (row.difference, row.difference_low, row.difference_high)]
    over = "{:+.2f} ({:+.2f} to {:+.2f})".format(*gained)
    gap = round(row.gap_closed, 2) + 0.0  # which has no sign where it is 0
    return f"{100 * row.freshness:.2f} | {over} | {gap:+.2f} | {row.better} of {sites}"


if __name__ == "__main__":
    sys.exit(main())
