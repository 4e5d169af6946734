"""evercrawl export: a crawl's pages, links or visits as a table in a file."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import Fitted, many

if TYPE_CHECKING:
    from evercrawl.ask.export.tables import Columns
    from evercrawl.store.partition import Partition

_TABLES = ("pages", "links", "visits")
_POLICY = "policy."
_MORE = (
    "The extension of FILE chooses the format: .parquet or .jsonl; - writes JSON lines to standard output. The crawl "
    "may be running: the table shows it as of the start of the export. Some policies keep tables of their own: "
    "policy.? lists those of the crawl's policy, and `evercrawl lab policies NAME` documents their columns. Examples: "
    "`evercrawl export pages -o pages.parquet --dir example`, `evercrawl export visits -o - --dir example`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "export", "write pages, links or visits to a file", run, _MORE)
    parser.add_argument(
        "table",
        metavar="TABLE",
        type=_table,
        help="pages, links, visits, or policy.NAME for a table of the policy",
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="FILE.parquet, FILE.jsonl, or -")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the table, and say how much it was."""
    from evercrawl.ask.export import files as export_file
    from evercrawl.model.stored.reader import opened

    export_file.check_name(args.output)
    began = time.monotonic()
    directory = where.directory(args)
    warm.before_reading("evercrawl.ask.export.tables")
    crawl = opened(directory)
    try:
        with Meter(sys.stderr) as meter:
            pieces, columns = _pieces(crawl, args.table, meter)
            if args.output == "-":
                rows = export_file.write(pieces, export_file.JsonRows(Fitted(sys.stdout), columns))
            else:
                with export_file.opened(Path(args.output), columns) as sink:
                    rows = export_file.write(pieces, sink)
    finally:
        crawl.close()
    _tell(args, rows, time.monotonic() - began)
    return 0


def _table(name: str) -> str:
    if name not in _TABLES and not name.startswith(_POLICY):
        raise argparse.ArgumentTypeError(f"{name!r} is none; choose {', '.join(_TABLES)} or {_POLICY}NAME")
    return name


def _pieces(crawl: Partition, name: str, meter: Meter) -> tuple[Iterable[Columns], dict[str, str]]:
    """Return a table piece by piece, and its columns' types."""
    from evercrawl.ask.export.policy_tables import policy_table
    from evercrawl.ask.export.tables import TABLES, table

    if name in _TABLES:
        return table(crawl, name, partial(meter, name)), TABLES[name]
    kinds, values = policy_table(crawl, name.removeprefix(_POLICY))
    return [values], kinds


def _tell(args: argparse.Namespace, rows: int, took_s: float) -> None:
    """Say what was written; beside the rows themselves there is no room for that."""
    out = sys.stderr if args.output == "-" else sys.stdout
    if args.json:
        print(json_line("end", {"rows": rows, "file": args.output, "seconds": round(took_s, 3)}), file=out)
    elif args.output != "-":
        what = many(rows, args.table) if args.table in _TABLES else f"{rows:,} rows of {args.table}"
        print(f"wrote {what} to {args.output} in {took_s:.1f} s")
