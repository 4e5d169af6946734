"""evercrawl import: import files of other programs into a crawl."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.cli import arguments, running, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import LINE_EVERY_S, Meter
from evercrawl.cli.show.plain import fit, many
from evercrawl.cli.verbs.starting.crawl import configured
from evercrawl.errors import ConfigError
from evercrawl.progress import Summary

if TYPE_CHECKING:
    import asyncio

    from evercrawl.crawl.importing.running import Imported

FORMS: Final = ("warc", "cdxj", "scrapy", "scrapy-cache", "nutch", "heritrix", "sitemap", "csv")
_MORE = (
    "FILE is a WARC file, a CDXJ or CDX index (also from Common Crawl), a job directory or a cache of Scrapy, a "
    "dump by `nutch readdb CRAWLDB -dump`, Heritrix's crawl.log, a sitemap, or a table of URLs with dates, plain "
    "or gzipped; or a folder with such files. Contents go into the archive and the search index, histories into "
    "the estimates of each page's rate of change, and URLs into the queue, all with their own dates. Several files "
    "are read as one, sorted by date. Name all files of the past in one command, because records older than a "
    "page's last visit are left out. A new crawl uses the hosts of the files as its scope; an existing one imports "
    "what its scope allows. Importing the same files again changes nothing, and an import that was stopped or "
    "killed continues where it was. Stop the crawl first. Examples: `evercrawl import crawl-*.warc.gz --dir "
    "example`, `evercrawl import logs/crawl.log --dry-run`, `evercrawl import pages.csv sitemap.xml --dir "
    "example`."
)
_NOUNS: Final = {"reading": "bytes", "importing": "captures"}


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "import", "import what other crawlers gathered", run, _MORE)
    parser.add_argument("files", metavar="FILE", nargs="+", help="file or folder of another program")
    arguments.add_directory(parser)
    parser.add_argument("--form", choices=FORMS, help="format of the files (default: detected)", metavar="FORM")
    parser.add_argument("--all-types", action="store_true", help="also import images, styles, scripts and fonts")
    parser.add_argument("--dry-run", action="store_true", help="list what the files contain, and change nothing")
    parser.add_argument(
        "--config", metavar="FILE", help="TOML file of settings for this run, in the format of crawl.toml"
    )
    arguments.add_json(parser)
    arguments.add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Import the files, and report the result; exit code 1 if some of it could not be read."""
    directory = _directory(args)
    config = configured(args, directory)
    warm.before_reading("evercrawl.crawl.importing.running")
    from evercrawl.crawl.importing.opening import sources
    from evercrawl.crawl.importing.running import imported

    found, made = sources([Path(name) for name in args.files], args.form or "", everything=args.all_types), None
    try:
        with Meter(sys.stderr, LINE_EVERY_S) as meter:

            def watch(what: str, done: int, total: int) -> None:
                meter(what, done, total, _NOUNS[what])

            def tell(sentence: str) -> None:
                meter.hide()
                print(fit(sentence, sys.stderr), file=sys.stderr, flush=True)

            async def work(stop: asyncio.Event) -> Summary:
                nonlocal made
                made = await imported(directory, config, found, watch, stop, dry_run=args.dry_run, tell=tell)
                return Summary(made.pages, made.pages, 0, made.elapsed_s, "imported")

            running.until_stopped(work, lambda: tell("stopping: what was imported is being stored"))
    finally:
        for source in found:
            source.close()
    if made is None:
        return 1
    if args.json:
        print(json_line("end", {"directory": str(directory), "dry_run": args.dry_run, **asdict(made)}))
    else:
        lines = [f"{source.name}: {source.form}" for source in found] if args.dry_run else []
        print(fit("\n".join([*lines, *_said(made, directory, dry=args.dry_run)]), sys.stdout))
    return 1 if made.bad or not made.whole else 0


def _directory(args: argparse.Namespace) -> Path:
    """Return the crawl directory, which need not exist; the current folder only if it is a crawl, or empty."""
    from evercrawl.store.birth import is_crawl

    directory = where.directory(args)
    if args.dir is None and not is_crawl(directory) and any(os.scandir(directory)) and not args.dry_run:
        raise ConfigError("there is no crawl here; name its directory, or one for a new crawl, with --dir")
    return directory


def _said(made: Imported, directory: Path, *, dry: bool) -> list[str]:
    from evercrawl.ask.instants import iso

    lines = [f"not read: {trouble}" for trouble in made.troubles]
    if made.bad > len(made.troubles):
        lines.append(f"not read: {made.bad - len(made.troubles):,} more")
    lines += [f"ignored: {count:,} x {why}" for why, count in sorted(made.left_out.items())]
    span = f" from {iso(made.first_at)} to {iso(made.last_at)}" if made.captures else ""
    if dry:
        return [*lines, f"{many(made.captures, 'captures')}{span}, {many(made.urls, 'URLs')} without a date"]
    lines += [f"excluded by {_setting(why)}: {count:,}" for why, count in sorted(made.outside.items())]
    lines += [f"already known: {many(made.known, 'records')}"] if made.known else []
    lines.append(
        f"{many(made.pages, 'contents')}, {many(made.histories, 'visits')} without content and "
        f"{many(made.made_known, 'URLs')} without a date were imported in {made.elapsed_s:.1f} s"
    )
    where_to = f"--dir {directory}"
    if not made.whole:
        lines.append("the import was stopped before its end; repeat the command to continue")
    else:
        lines.append(f"check it with: evercrawl verify {where_to}; continue with: evercrawl crawl {where_to}")
    return lines


def _setting(why: str) -> str:
    return "the limits on unread pages" if why == "budget" else why
