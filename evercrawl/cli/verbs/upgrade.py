"""evercrawl upgrade: convert a crawl directory of an older format."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit

if TYPE_CHECKING:
    from evercrawl.crawl.upgrading import FormatState

_MORE = (
    "Crawls of older versions can be used without an upgrade; this lists the formats of their files, and rewrites "
    "those for which there is a newer format. Stop the crawl first. An upgrade that was killed can be run again. "
    "Older versions of evercrawl may not be able to read the result, so make a backup first if you may want to go "
    "back. Examples: `evercrawl upgrade`, `evercrawl upgrade example --dry-run`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "upgrade", "convert a crawl directory of an older format", run, _MORE)
    parser.add_argument("crawl", metavar="DIRECTORY", nargs="?", help="crawl directory, as with --dir")
    arguments.add_directory(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be converted, and change nothing")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Report the present format, and convert the directory."""
    directory = Path(args.crawl) if args.crawl is not None else where.directory(args)
    warm.before_reading("evercrawl.crawl.upgrading")
    from evercrawl.crawl.upgrading import formats, upgrade

    found = formats(directory)
    if args.json:
        if not args.dry_run:
            upgrade(directory)
        rows = [asdict(state) for state in found]
        print(json_line("upgrade", {"directory": str(directory), "done": not args.dry_run, "formats": rows}))
        return 0
    for state in found:
        print(fit(_line(state, dry=args.dry_run), sys.stdout), flush=True)
    if any(state.then == "converted" for state in found):
        if not args.dry_run:
            upgrade(directory)
            print(fit(f"done; check it with: evercrawl verify --dir {directory}", sys.stdout))
    else:
        print("already current")
    return 0


def _line(state: FormatState, *, dry: bool) -> str:
    if state.found is None:
        return f"{state.part}: none"
    if state.then == "current":
        return f"{state.part}: format {state.found}, the newest"
    what = f"{state.part}: format {state.found}, the newest is {state.newest}; "
    if state.then == "kept":
        return f"{what}it is kept and read: {state.why}"
    return what + ("it would be converted" if dry else "it is being converted")
