"""evercrawl usage: record what people search for, see and open; or summarise it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit, many
from evercrawl.cli.show.words import ago, percent, table
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.usage.report import UsageReport
    from evercrawl.ask.usage.tell import BadLine

_MORE = (
    'FILE has one JSON object per line: {"at": 1714564800, "query": "green tea", "shown": [URL, ...], "clicked": '
    "[URL, ...]}; - reads standard input. Without FILE, it summarises what is recorded. A running crawl picks up new "
    "lines within seconds; the setting `weight` decides how they count. Examples: `evercrawl usage clicks.jsonl`, "
    "`tail -F clicks.jsonl | evercrawl usage -`."
)
MOST_BAD: Final = 20
"""Maximum number of invalid lines that are reported individually."""


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "usage", "record what people search for, see and open", run, _MORE)
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="JSON lines to record; - for standard input (default: print a summary)"
    )
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Record a file, with exit code 1 if a line is invalid; or print the summary."""
    directory = where.directory(args)
    if args.file is not None:
        _see(directory)
        with _opened(args) as source:
            return _take_in(directory, source, as_json=args.json)
    warm.before_reading("evercrawl.model.view")
    from evercrawl.ask.usage.report import usage_report
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings

    crawl, now = opened(directory), time.time()
    try:
        found = usage_report(View(crawl, settings(directory)[0], now))
    finally:
        crawl.close()
    for line in [json_line("usage", asdict(found))] if args.json else _lines(found, now):
        print(fit(line, sys.stdout))
    return 0


def _see(directory: Path) -> None:
    from evercrawl.store.birth import is_crawl

    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; start one: evercrawl crawl URL --dir {directory}")


def _take_in(directory: Path, source: BinaryIO, *, as_json: bool) -> int:
    from evercrawl.ask.usage.tell import take_in
    from evercrawl.model.worth.usage import UsageWriter

    writer = UsageWriter(directory)
    bad = _told(take_in(source, writer))
    if as_json:
        print(json_line("end", {"added": writer.added, "again": writer.again, "bad": bad}))
    else:
        queries = "query" if writer.added == 1 else "queries"
        print(f"recorded {writer.added:,} {queries}{_beside(writer.again, bad)}")
    return 1 if bad else 0


def _opened(args: argparse.Namespace) -> BinaryIO:
    name, lines = args.file, getattr(args, "lines", None)
    if lines is not None:  # in a partitioned crawl, each partition gets them
        return BytesIO(lines)
    if name == "-":
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise ConfigError(f"cannot read {name}: {error.strerror}; name a file of JSON lines, or -") from error


def _told(lines: Iterable[BadLine]) -> int:
    """Report the first invalid lines as they occur; return the number of invalid lines."""
    count = 0
    for line in lines:
        count += 1
        if count <= MOST_BAD:
            print(fit(f"evercrawl: line {line.number} is invalid: {line.why}", sys.stderr), file=sys.stderr)
    if count > MOST_BAD:
        print(f"evercrawl: {count - MOST_BAD:,} more lines are invalid", file=sys.stderr)
    return count


def _beside(again: int, bad: int) -> str:
    parts = [f"{again:,} recorded before"] if again else []
    parts += [f"{many(bad, 'lines')} invalid"] if bad else []
    return f"; {', '.join(parts)}" if parts else ""


def _lines(found: UsageReport, now: float) -> list[str]:
    if found.first_at is None or found.last_at is None:
        return ["no usage is recorded; record some with: evercrawl usage FILE, or evercrawl search --record"]
    words = ", ".join(f"{word} {percent(share)}" for word, share in found.words.items())
    rows = [
        ("queries", f"{found.questions:,} ({found.with_words:,} with words)"),
        ("asked", f"from {ago(now - found.first_at)} to {ago(now - found.last_at)}"),
        ("shown", f"{many(found.shown, 'results')}, {found.clicked:,} of them opened"),
        ("pages", f"{found.pages:,} ({found.known:,} known to the crawl)"),
        ("about", words or "no words recorded"),
    ]
    rows += [("damaged", f"{many(found.damaged, 'lines')} of the file")] if found.damaged else []
    used: list[tuple[str, ...]] = [(f"{page.shown:,}", f"{page.clicked:,}", page.url) for page in found.most_used]
    head = [f"{name:<11}{text}" for name, text in rows]
    return [*head, *(["", *table(("shown", "opened", "page"), used, frozenset({"page"}))] if used else [])]
