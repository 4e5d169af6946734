"""evercrawl lab: repeat a published experiment, and check its claims."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evercrawl.cli import arguments, warm
from evercrawl.cli.show.json_line import json_line
from evercrawl.config import values
from evercrawl.errors import ConfigError
from evercrawl.extras import require_parquet

if TYPE_CHECKING:
    from evercrawl.lab.base import Claim, Experiment, LabOptions, Results

_MORE: Final = (
    "Without NAME, it lists the experiments. An experiment generates or reads a web, visits it under each scheme "
    "compared, and prints each published claim with the measured figures and a verdict. Numbers go to NAME.parquet "
    "and the figure to NAME.png. The same seed gives the same numbers. Comparisons of many runs save each run to "
    "NAME.runs.jsonl, so that an interrupted command continues. `evercrawl lab backtest`, `lab contest`, `lab "
    "evolution`, `lab policies` and `lab simulate` are separate verbs, each with its --help. Examples: `evercrawl lab "
    "fig2`, `evercrawl lab systems --pages 2000 --policy price --policy 'azar, random' --budget 10%`."
)
_PAGES: Final = "pages of the web (default: as published: 100,000 for most figures, 10,000 where policies are compared)"
_TURNS: Final = (
    "mean visits per page, or cycles where policies are compared (default: as published, mostly 10 visits or 15 cycles)"
)
_FOLDER: Final = "lab"
_RUNS: Final = ".runs.jsonl"
_ENGINE: Final = "evercrawl.lab.engine.windows"


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "lab", "repeat a published experiment, and check its claims", run, _MORE)
    parser.add_argument("name", metavar="NAME", nargs="?", help="the experiment, such as fig2 (default: list them)")
    parser.add_argument("--pages", metavar="N", help=_PAGES)
    parser.add_argument("--turns", metavar="N", help=_TURNS)
    parser.add_argument("--seed", metavar="N", default="1", help="seed of the random numbers (default: 1)")
    parser.add_argument(
        "--budget",
        metavar="N",
        action="append",
        help="for freshness, systems and drift: run only this budget, in visits per page and day, such as 0.1 or 10%%; "
        "may be repeated (default: all published budgets)",
    )
    parser.add_argument(
        "--policy",
        metavar="NAME",
        action="append",
        help="for freshness, systems and drift: run only this policy or row (nutch_adaptive, 'partition, pf'); may be "
        "repeated (default: all)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        help="for freshness, systems, drift, signals, sensitivity, vanishing and flickering: number of processes "
        "(default: one per core)",
    )
    parser.add_argument(
        "--graph-kind",
        metavar="KIND",
        help="power-law, poisson, copying, bow-tie, sites or cooper-frieze (default: mostly power-law)",
    )
    parser.add_argument("--graph", metavar="FILE", help="read the links from a Parquet file with columns src and dst")
    parser.add_argument("--out", metavar="DIR", help=f"folder for the numbers and the figure (default: {_FOLDER})")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Run the experiment, print the verdicts, and save the numbers."""
    from evercrawl.lab.catalogue import experiment, keep
    from evercrawl.lab.figures.plotting import can_draw, require

    if args.name is None:
        return _list(as_json=args.json)
    made = experiment(args.name)
    _fit(args, made)
    if args.out:
        require()
    elif not can_draw():
        print("no figure will be drawn: that needs matplotlib: pip install 'evercrawl[lab]'", file=sys.stderr)
    require_parquet()
    warm.before_reading(_ENGINE)
    began = time.monotonic()
    name, folder = args.name.partition(":")[0].replace("-", "_"), Path(args.out or _FOLDER)
    options = replace(_options(args), kept=folder / f"{name}{_RUNS}")
    findings = made.run(options, lambda line: print(f"... {line}", file=sys.stderr, flush=True))
    files = keep(findings, folder, name)
    if args.json:
        _as_json(findings, files)
    else:
        _tell(findings, files, time.monotonic() - began)
    return 1 if findings.missed else 0


def _options(args: argparse.Namespace) -> LabOptions:
    from evercrawl.lab.base import LabOptions

    pages, turns, seed = (
        None if raw is None else cast("int", arguments.value(values.whole(least), raw, flag))
        for raw, least, flag in ((args.pages, 1, "--pages"), (args.turns, 1, "--turns"), (args.seed, 0, "--seed"))
    )
    asked: list[str] = args.budget or []
    budgets = tuple(dict.fromkeys(map(_budget, asked)))
    jobs = cast("int", arguments.value(values.whole(1), args.jobs or os.cpu_count() or 1, "--jobs"))
    graph = Path(args.graph) if args.graph else None
    return LabOptions(pages, seed or 0, args.graph_kind, graph, turns, budgets, tuple(args.policy or ()), jobs)


def _budget(raw: str) -> float:
    try:
        text = raw.strip()
        budget = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        budget = math.nan
    if not 0.0 < budget < math.inf:
        raise ConfigError(f"--budget must be visits per page and day, such as 0.1 or 10%, not {raw!r}")
    return budget


def _fit(args: argparse.Namespace, made: Experiment) -> None:
    """Check that --budget and --policy are given only to comparisons of policies."""
    if (args.budget or args.policy) and not made.compares:
        asked = "--budget" if args.budget else "--policy"
        raise ConfigError(
            f"{args.name} compares no policies by budget: leave out {asked}, or run `evercrawl lab systems`"
        )


def _list(*, as_json: bool) -> int:
    from evercrawl.lab.catalogue import experiments, summary

    wide = max(map(len, experiments()))
    for name, kind in experiments().items():
        told = summary(kind)
        print(json_line("experiment", {"name": name, "about": told}) if as_json else f"{name:<{wide}}  {told}")
    return 0


def _tell(findings: Results, files: list[Path], took_s: float) -> None:
    print(findings.title)
    for claim in findings.claims:
        print(f"\n  {claim.verdict.upper():<12} {claim.claim}")
        if claim.printed:
            print(f"  {'printed':<12} {claim.printed}")
        print(f"  {'found':<12} {claim.found}")
    print(f"\n{len(findings.rows):,} rows in {took_s:.1f} s" + "".join(f", {file}" for file in files))


def _as_json(findings: Results, files: list[Path]) -> None:
    for row in findings.rows:
        print(json_line("row", {name: _number(value) for name, value in row.items()}))
    for claim in findings.claims:
        print(json_line("claim", _claim(claim)))
    print(json_line("end", {"title": findings.title, "files": [str(file) for file in files]}))


def _claim(claim: Claim) -> dict[str, Any]:
    return claim._asdict() | {"verdict": claim.verdict}


def _number(value: float | str) -> float | str | None:
    """Return a value for JSON, which has no infinity and no nan: these become null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
