"""evercrawl backup: copy a crawl directory, even while the crawl runs."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cli import arguments, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import many

if TYPE_CHECKING:
    from evercrawl.cluster.parted_backup import PartedBackup
    from evercrawl.store.backups.backup import BackupReport

_MORE = (
    "The copy is consistent: it is the crawl as it was at one instant. You can query it, or continue the crawl in "
    "it. A second backup into the same directory copies only what changed. The search index is left out; "
    "`evercrawl reindex` rebuilds it. All partitions of a crawl are copied so that they fit together; those on other "
    "machines are read while the crawl runs. To restore, copy the directory back, and check it with `evercrawl "
    "verify`; orders that wait in it are carried out by `evercrawl crawl --obey-orders`. "
    "Examples: `evercrawl backup /mnt/copy`, `evercrawl backup /mnt/copy --dir example --json`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "backup", "copy a crawl directory, even while the crawl runs", run, _MORE)
    parser.add_argument("target", metavar="DIRECTORY", help="new or empty, or an earlier backup of the same crawl")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Copy the directory, and report what was copied."""
    from evercrawl.model.stored.reader import see_crawl
    from evercrawl.store.backups.backup import backup

    directory = where.directory(args)
    see_crawl(directory)
    with Meter(sys.stderr) as meter:
        made = backup(directory, Path(args.target), time.time(), meter)
    return _told(args, made, "")


def run_parted(args: argparse.Namespace, directory: Path) -> int:
    """Copy all partitions so that they fit together, and report what was copied."""
    from evercrawl.cluster.parted_backup import backup_parted

    with Meter(sys.stderr) as meter:
        made = backup_parted(directory, Path(args.target), time.time(), meter)
    return _told(args, made, f" of {many(made.partitions, 'partitions')}")


def _told(args: argparse.Namespace, made: BackupReport | PartedBackup, of: str) -> int:
    """Report what was copied; return the exit code."""
    from evercrawl.cli.show.lines import size

    if args.json:
        print(json_line("backup", asdict(made)))
    else:
        copied = f"{many(made.files, 'files')}; {size(made.copied_bytes)} copied"
        print(f"{made.target} holds {many(made.events, 'events')}{of} in {copied}")
    return 0
