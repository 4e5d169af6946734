"""evercrawl lab contest: compare your own policy with all others."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments, warm
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.words import table
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from evercrawl.lab.entering.entering import ContestPlace, ContestRules

_MORE: Final = (
    "POLICY is your own class, as package.module:Class, derived from evercrawl.schedule.Policy. It is compared "
    "with every shipped policy, at equal budget, on the shipped recorded histories and on simulated pages. The "
    "table is written to contest.md and contest.parquet. Rules: docs/research/CONTEST.md. Examples: `evercrawl lab "
    "contest my_policies:Mine --beside price,uniform,nutch_adaptive`."
)
_FOLDER: Final = "lab"


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "contest", "compare your own policy with all others", run, _MORE, lab=True)
    parser.add_argument(
        "policy",
        metavar="POLICY",
        nargs="*",
        help="package.module:Class, or several (default: the shipped policies only)",
    )
    parser.add_argument("--beside", metavar="A,B", help="policies to compare with (default: all shipped ones)")
    parser.add_argument("--history", metavar="NAME", action="append", help="a history that ships, FOLDER/NAME or a "
                        "FOLDER of them; may be repeated (default: peps and ota-contrib)")  # fmt: skip
    parser.add_argument("--budget", metavar="N,M", help="polls per page and day on histories (default: 0.005,0.02,0.1)")
    parser.add_argument("--made", metavar="N,M", help="the same on made-up pages, or off for none (default: 0.03,0.3)")
    parser.add_argument("--pages", metavar="N", default="2000", help="number of made-up pages (default: 2000)")
    parser.add_argument("--sample", metavar="N", help="pages of each history, sampled at random (default: all)")
    parser.add_argument("--years", metavar="N", default="3", help="replay the last N years (default: 3)")
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the random numbers (default: 1)")
    parser.add_argument("--jobs", metavar="N", default="1", help="number of processes (default: 1)")
    parser.add_argument("--out", metavar="DIR", help=f"folder for the table and the page (default: {_FOLDER})")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the contest, and print the ranking."""
    from evercrawl.lab.entering.contest_page import keep
    from evercrawl.lab.entering.entering import beside, contest

    entrants = [str(each) for each in args.policy]
    if strange := [each for each in entrants if ":" not in each]:
        raise ConfigError(f"{strange[0]} ships with evercrawl: name it with --beside; enter package.module:Class")
    others = [each.strip().replace("-", "_") for each in args.beside.split(",")] if args.beside else beside()
    rules = _rules(args)
    warm.before_reading("evercrawl.lab.backtest.runs")
    found = contest(entrants, others, rules, lambda line: print(f"... {line}", file=sys.stderr, flush=True))
    files = list(keep(found, rules, entrants, Path(args.out or _FOLDER)))
    if args.json:
        for each in found:
            print(json_line("row", _fields(each)))
        print(json_line("end", {"files": [str(file) for file in files]}))
    else:
        _print(found)
        print("\n" + ", ".join(map(str, files)))
    return 0


def _rules(args: argparse.Namespace) -> ContestRules:
    from evercrawl.lab.entering.entering import ContestRules

    usual = ContestRules()
    pages, seed, jobs = (
        cast("int", arguments.value(values.whole(least), raw, flag))
        for raw, least, flag in ((args.pages, 10, "--pages"), (args.seed, 0, "--seed"), (args.jobs, 1, "--jobs"))
    )
    sample = None if args.sample is None else cast("int", arguments.value(values.whole(1), args.sample, "--sample"))
    years = cast("float", arguments.value(values.number(), args.years, "--years"))
    if not years > 0:
        raise ConfigError("--years must be more than 0, such as 3 or 0.5")
    made = () if args.made == "off" else _budgets(args.made, "--made", usual.made_budgets)
    return usual._replace(
        histories=tuple(args.history or usual.histories), budgets=_budgets(args.budget, "--budget", usual.budgets),
        made_budgets=made, pages=pages, sample=sample, years=years, seed=seed, jobs=jobs,
    )  # fmt: skip


def _budgets(raw: str | None, flag: str, usual: tuple[float, ...]) -> tuple[float, ...]:
    if raw is None:
        return usual
    try:
        found = tuple(sorted({float(each) for each in raw.split(",")}))
    except ValueError:
        found = ()
    if not found or not all(0 < each < float("inf") for each in found):
        raise ConfigError(f"{flag} must be polls per page and day, such as 0.02, or several: 0.005,0.02; not {raw!r}")
    return found


def _fields(each: ContestPlace) -> dict[str, object]:
    told: dict[str, object] = dict(each._asdict())
    return told | {"gap_closed": None if math.isnan(each.gap_closed) else each.gap_closed}


def _print(found: list[ContestPlace]) -> None:
    head = ("", "policy", "score", "95 %", "gap closed")
    for place in dict.fromkeys((each.field, each.budget) for each in found):
        print(f"\n{place[0]}, {place[1]:g} polls a page and day")
        rows = [_cells(each) for each in found if (each.field, each.budget) == place]
        print("\n".join(table(head, rows, frozenset({"policy"}))))


def _cells(each: ContestPlace) -> tuple[str, ...]:
    name = f"{each.policy} <" if each.entered else each.policy
    gap = "" if math.isnan(each.gap_closed) else f"{each.gap_closed:.2f}"
    return str(each.rank), name, f"{each.score:.3f}", f"{each.low:.3f} to {each.high:.3f}", gap
