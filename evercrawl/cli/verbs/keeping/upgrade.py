"""evercrawl upgrade: convert a crawl directory of an older format."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.crawl.mending.upgrading import FormatState

_MORE = (
    "Crawls of older versions can be used without an upgrade; this lists the formats of their files, and rewrites "
    "those for which there is a newer format. Stop the crawl first. An upgrade that was killed can be run again. "
    "Older versions of evercrawl may not be able to read the result, so make a backup first if you may want to go "
    "back. A crawl in partitions is upgraded one partition after the other. Examples: `evercrawl upgrade`, `evercrawl "
    "upgrade example --dry-run`."
)

_DONE = "done; check it with: evercrawl verify --dir {}"
_AFAR = "partition {0} is on another machine; upgrade it there: evercrawl upgrade --dir .../part-{0}"


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
    warm.before_reading("evercrawl.crawl.mending.upgrading")
    from evercrawl.crawl.mending.upgrading import formats, upgrade

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
            print(fit(_DONE.format(directory), sys.stdout))
    else:
        print("already current")
    return 0


def run_parted(args: argparse.Namespace, directory: Path) -> int:
    """Report and convert the partitions that are on this machine, one after the other.

    All of them are checked before the first is converted. A partition is readable in the old and in the new format,
    whatever formats the others have, so an interrupted upgrade can be repeated, or left as it is.
    """
    from evercrawl.cluster.birth import part_directories, read_birth
    from evercrawl.store.birth import is_crawl
    from evercrawl.store.disk.lock import Lock

    warm.before_reading("evercrawl.crawl.mending.upgrading")
    from evercrawl.crawl.mending.upgrading import formats, upgrade

    begun, afar = read_birth(directory), list[int]()
    parts: dict[Path, list[FormatState]] = {}
    with Lock.take(directory, "evercrawl upgrade", time.time()):  # so that no crawl starts meanwhile
        for number, part in enumerate(part_directories(directory)):
            if is_crawl(part):
                parts[part] = formats(part)
            elif begun.places and not part.is_dir():
                afar.append(number)
            elif number in begun.begun:
                raise ConfigError(f"{part} has no partition, though it was crawled there; is its disk mounted?")
        for part, found in parts.items():
            converted = not args.dry_run and any(state.then == "converted" for state in found)
            if args.json:
                rows = [asdict(state) for state in found]
                print(json_line("upgrade", {"directory": str(part), "done": not args.dry_run, "formats": rows}))
            else:
                print(fit("\n".join([f"{part.name}:", *(_line(each, dry=args.dry_run) for each in found)]), sys.stdout))
            sys.stdout.flush()
            if converted:
                upgrade(part)
    changed = any(state.then == "converted" for found in parts.values() for state in found)
    if not args.json and (not changed or not args.dry_run):
        print(fit(_DONE.format(directory) if changed else "already current", sys.stdout))
    for number in afar:
        print(fit(f"evercrawl: {_AFAR.format(number)}", sys.stderr), file=sys.stderr)
    return int(bool(afar))


def _line(state: FormatState, *, dry: bool) -> str:
    if state.found is None:
        return f"{state.part}: none"
    if state.then == "current":
        return f"{state.part}: format {state.found}, the newest"
    what = f"{state.part}: format {state.found}, the newest is {state.newest}; "
    if state.then == "kept":
        return f"{what}it is kept and read: {state.why}"
    return what + ("it would be converted" if dry else "it is being converted")
