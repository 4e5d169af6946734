"""evercrawl move: move a partition of a crawl to another directory, even while the crawl runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import cast

from evercrawl.cli import arguments, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.lines import size
from evercrawl.config import values
from evercrawl.errors import ConfigError

_MORE = (
    "Most is copied while the partition runs; it pauses for the rest, and continues in its new directory. The old "
    "directory stays, and can be removed afterwards. "
    "Examples: `evercrawl move 2 /disk3/part-2 --dir wide`, `evercrawl move 0 /disk4/part-0 --dir wide --json`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "move", "move a partition to another directory", run, _MORE)
    parser.add_argument("part", metavar="PARTITION", help="its number, from 0")
    parser.add_argument("goal", metavar="DIRECTORY", help="new or empty, in a folder that exists")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Say that a crawl without partitions has none to move."""
    raise ConfigError(f"the crawl in {where.directory(args)} has no partitions; move its directory while it is stopped")


def run_parted(args: argparse.Namespace, directory: Path) -> int:
    """Move it, and say what was done."""
    from evercrawl.cluster.birth import part_directories
    from evercrawl.cluster.moving import move_part

    number = cast("int", arguments.value(values.whole(0), args.part, "PARTITION"))
    before = part_directories(directory)[number : number + 1]
    moved = move_part(directory, number, Path(args.goal), lambda said: print(f"evercrawl: {said}", file=sys.stderr))
    if args.json:
        row = {"number": number, "from": str(before[0]), "to": moved.goal}
        print(json_line("moved", {**row, "copied_bytes": moved.copied_bytes, "pause_s": round(moved.pause_s, 3)}))
    else:
        print(
            f"partition {number} is in {moved.goal}: {size(moved.copied_bytes)} copied, paused {moved.pause_s:.1f} s; "
            f"{before[0]} can be removed"
        )
    return 0
