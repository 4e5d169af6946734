"""evercrawl lab backtest: replay recorded histories of change under policies, at equal budget."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.cli import arguments, warm
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from evercrawl.cli.backtest_asked import ReplayRequest
    from evercrawl.cli.show.meter import Meter
    from evercrawl.lab.backtest.report import OfSite
    from evercrawl.lab.backtest.rows import Mean, ReplayRow
    from evercrawl.lab.backtest.runs import Made

_MORE: Final = (
    "HISTORY is one that ships with evercrawl (peps, ota-contrib), FOLDER/NAME, a FOLDER of them, or a crawl "
    "directory. Every policy gets the same number of polls, at the same pace, and sees only what a crawl would see. "
    "The first third of the period is warm-up; the rest is measured. Examples: `evercrawl lab backtest peps`, "
    "`evercrawl lab backtest example --policy price,uniform,notices --budget 0.005,0.02,0.1 --plot example.png`."
)


class HistorySummary(NamedTuple):
    """The results of one history, and of its sites if it has several, largest first; and the number of sites."""

    name: str
    site: OfSite
    parts: list[OfSite]
    sites: int


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(
        verbs, "backtest", "compare policies on recorded histories, at equal budget", run, _MORE, lab=True
    )
    parser.add_argument("history", metavar="HISTORY", nargs="+", help="name, FOLDER/NAME, FOLDER or crawl directory")
    _add_what(parser)
    _add_conditions(parser)
    parser.add_argument("--plot", metavar="FILE", help="also plot freshness by budget to FILE, as PNG")
    parser.add_argument(
        "--calibration", metavar="FILE", help="also print the calibration of P(fresh), and plot it to FILE, as PNG"
    )
    parser.add_argument("--jobs", metavar="N", default="1", help="number of processes (default: 1)")
    arguments.add_json(parser)


def _add_what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy", metavar="A,B", action="append", help="policies to compare; the first is the baseline "
        "(default: price,uniform); notices is an oracle that knows which copies are stale",
    )  # fmt: skip
    parser.add_argument(
        "--policy-option", metavar="NAME=VALUE", action="append", default=[], help="parameter of every policy "
        "that has it; POLICY.NAME=VALUE sets it for one policy; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--budget", metavar="N,M", action="append", help="polls per live page and day (default: 0.005,0.02,0.1)"
    )
    parser.add_argument("--pooled", action="store_true", help="replay all histories together, under one budget")
    parser.add_argument("--sample", metavar="N", help="replay N pages of each site, sampled at random")
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the random numbers (default: 1)")
    parser.add_argument("--years", metavar="N", default="3", help="replay the last N years (default: 3)")
    parser.add_argument("--since", metavar="DATE", help="start of the replay, such as 2020-01-31, instead of --years")
    parser.add_argument("--until", metavar="DATE", help="end of the replay")


def _add_conditions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--discovery", metavar="HOW", default="born", help="when a page becomes known: at its birth (born, the "
        "default), or when a page that links to it is polled (links)",
    )  # fmt: skip
    parser.add_argument(
        "--lasting", metavar="DAYS", default="0", help="count lasting content: a state that returns within DAYS "
        "counts as present in between (default: 0, a copy is fresh only while it equals the page)",
    )  # fmt: skip
    parser.add_argument("--no-validators", action="store_true", help="ignore Last-Modified dates")
    parser.add_argument(
        "--lastmod", metavar="SHARE", default="off", help="share of changes that a sitemap announces: 0.25, on or off "
        "(default: off)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Replay, and print the results history by history."""
    from evercrawl.cli.backtest_asked import asked
    from evercrawl.cli.show.calibration import believed
    from evercrawl.cli.show.tables.backtest import SITES, of_all, of_one, of_parts
    from evercrawl.lab.backtest.report import means

    what = asked(args)
    if files := [Path(each) for each in (args.plot, args.calibration) if each]:
        from evercrawl.lab.figures.plotting import require
        from evercrawl.store.disk.whole import placed

        require()
        for file in files:
            placed(file)
    warm.before_reading("evercrawl.lab.backtest.runs")
    found = list[HistorySummary]()
    for told in _replayed(what, most=None if args.json else SITES):
        found.append(told)
        rows = [each.rows for each in told.parts]
        if args.json:
            _print([line for each in (told.site.rows, *rows) for line in _objects(each)])
        else:
            _print(of_one(told.name, told.site.rows) + of_parts(rows, told.sites))
    mean = means([told.site for told in found], what.setting.seed) if len(found) > 1 else []
    if mean:
        _print(_objects(mean) if args.json else of_all(mean))
    if args.calibration and not args.json:
        _print(believed(mean or found[0].site.rows))
    _draw(args, found, mean)
    return 0


def _replayed(what: ReplayRequest, most: int | None) -> Iterator[HistorySummary]:
    """Yield the results of each history once its replays are complete, and of `most` of its sites (None: all)."""
    from evercrawl.cli.show.meter import LINE_EVERY_S, Meter
    from evercrawl.lab.backtest.report import of_site
    from evercrawl.lab.backtest.runs import make, planned

    plan = planned(what.groups, what.policies, what.budgets, what.setting)
    with Meter(sys.stderr, LINE_EVERY_S, "replays") as progress:
        coming = make([each for group in plan for each in group], what.jobs, progress)
        for group in plan:
            made = list(islice(coming, len(group)))
            runs = [each.replayed for each in made]
            whole = of_site(runs, made[0].cluster, what.setting.seed)
            told = HistorySummary(runs[0].site, whole, *_parts(made, what.setting.seed, most, progress))
            progress.hide()
            yield told


def _parts(made: list[Made], seed: int, most: int | None, progress: Meter) -> tuple[list[OfSite], int]:
    """Return the results of the largest sites of a history, and the number of sites; none for a single site."""
    from evercrawl.lab.backtest.report import part, sites_of

    runs, (_, cluster, site, names) = [each.replayed for each in made], made[0]
    sites = sites_of(runs[0], site)
    found: list[OfSite] = []
    for number in sites[:most] if len(sites) > 1 else []:
        found.append(part(runs, cluster, site, number, names[number], seed))
        progress(f"{runs[0].site}: intervals", len(found), len(sites[:most]), "sites")
    return found, len(sites)


def _draw(args: argparse.Namespace, found: list[HistorySummary], mean: list[Mean]) -> None:
    from evercrawl.cli.show.figures import backtest as backtest_figure
    from evercrawl.cli.show.tables.backtest import SITES
    from evercrawl.lab.backtest.rows import MEAN
    from evercrawl.store.disk.whole import atomic_file

    if args.plot:
        with atomic_file(Path(args.plot)) as temporary:
            panels: dict[str, Sequence[ReplayRow | Mean]] = {}
            for told in found:
                panels[told.name] = told.site.rows
                panels |= {f"{told.name}: {each.rows[0].site}": each.rows for each in told.parts[:SITES]}
            backtest_figure.freshness(panels | ({MEAN: mean} if mean else {}), temporary)
    if args.calibration:
        with atomic_file(Path(args.calibration)) as temporary:
            backtest_figure.calibration(mean or found[0].site.rows, temporary)


def _objects(rows: Sequence[ReplayRow] | Sequence[Mean]) -> list[str]:
    from evercrawl.lab.backtest.rows import as_object

    return [json_line("row", as_object(row)) for row in rows]


def _print(lines: list[str]) -> None:
    for line in lines:
        print(fit(line, sys.stdout), flush=True)
