"""evercrawl suspects: list suspected attempts to mislead the crawl, with the evidence."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit, many

if TYPE_CHECKING:
    from evercrawl.model.web.suspicion import Suspicion

_MORE = (
    "It lists link farms, mirrors and stuffed pages with the numbers behind each suspicion; you judge whether they "
    "are right. The setting `suspects` decides whether the importance of farms is capped. The crawl may be "
    "running; nothing is changed. Examples: `evercrawl suspects`, `evercrawl suspects --json --dir example`."
)
_SHOWN: Final = 5


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "suspects", "list suspected spam, with the evidence", run, _MORE)
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the suspicions."""
    directory = where.directory(args)
    warm.before_reading("evercrawl.model.view")
    from evercrawl.ask.suspects.suspects import suspects
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings

    crawl = opened(directory)
    try:
        found, sites = suspects(View(crawl, settings(directory)[0], time.time())), len(crawl.state.sites)
    finally:
        crawl.close()
    for line in _objects(found, sites) if args.json else _told(found, sites):
        print(fit(line, sys.stdout))
    return 0


def _objects(found: list[Suspicion], sites: int) -> list[str]:
    rows = [json_line("suspicion", asdict(one)) for one in found]
    return [*rows, json_line("end", {"suspicions": len(rows), "sites": sites})]


def _told(found: list[Suspicion], sites: int) -> list[str]:
    lines: list[str] = []
    for one in found:
        lines += [f"{one.kind}: {_some(one.sites)}", f"  {one.reason}", *(f"  {url}" for url in one.examples)]
    return [*lines, f"{many(len(found), 'suspicions')} among {many(sites, 'sites')}"]


def _some(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
