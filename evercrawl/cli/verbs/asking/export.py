"""evercrawl export: a crawl's pages, links, visits, content or usage as a table in a file."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import Fitted, fit, many
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.export.tables import Columns
    from evercrawl.ask.reading.content_table import ContentTable, ReadTally
    from evercrawl.store.partition import Partition

_TABLES = ("pages", "links", "visits")
_USAGE = "usage"
_CONTENT = "content"
_WACZ = "wacz"
_ARCHIVE = "archive"
_POLICY = "policy."
_MOST_REASONS = 10
_MORE = (
    "The extension of FILE chooses the format: .parquet or .jsonl; - writes JSON lines to standard output. The "
    "crawl may be running: the table shows it as of the start of the export. content has the text of pages: their "
    "main content as Markdown, or with --html as HTML, or with --text all visible text. Some policies keep their "
    "own tables: policy.? lists those of the crawl's policy, and `evercrawl lab policies NAME` documents their "
    "columns. wacz is the archive with its index and a list of pages in one file, for replayweb.page and similar "
    "tools. archive copies the WARC files and their indexes to a folder or to object storage, and the next time "
    "only what changed since. FILE may be the URL of an object, such as s3://bucket/pages.parquet. Examples: "
    "`evercrawl export pages -o pages.parquet --dir example`, `evercrawl export visits -o - --dir example`, "
    "`evercrawl export content -o new.jsonl --since yesterday --chunks 2000 --dir example`, `evercrawl export "
    "archive -o s3://bucket/example --dir example`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "export", "write pages, links, visits, content or usage to a file", run, _MORE)
    parser.add_argument(
        "table",
        metavar="TABLE",
        type=_table,
        help="pages, links, visits, content, usage, policy.NAME for a table of the policy, or wacz or archive for the "
        "archive",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="FILE.parquet, FILE.jsonl, or -; FILE.wacz of wacz; a folder or prefix of archive; or the URL of any of "
        "them in object storage",
    )
    _add_content(parser)
    arguments.add_directory(parser)
    arguments.add_json(parser)


def _add_content(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the table of content."""
    group = parser.add_argument_group("of the table content")
    form = group.add_mutually_exclusive_group()
    for name, meaning in (
        ("markdown", "the main content as Markdown, after front matter (the default)"),
        ("html", "the main content as HTML, without scripts, forms and frames"),
        ("text", "all visible text, navigation included"),
    ):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=meaning)
    group.add_argument(
        "--since", metavar="T", help="only what appeared, changed or vanished after T: yesterday, 2026-11-20, 12h"
    )
    group.add_argument("--site", metavar="SITE", help="only pages of this registrable domain or host")
    group.add_argument("--pattern", metavar="REGEX", help="only URLs in which this regular expression is found")
    group.add_argument("--language", metavar="TAG", help="only pages in this language, such as en or de-AT")
    group.add_argument(
        "--chunks",
        metavar="N",
        help="chunks of at most N characters, for retrieval; an id stays the same while its text does",
    )


def run(args: argparse.Namespace) -> int:
    """Write the table, and report its size."""
    from evercrawl.store.objects.target import is_url

    _check(args)
    if args.table == _ARCHIVE:
        return _run_archive(args)
    if not is_url(args.output):
        return _run_file(args, args.output)
    return _run_object(args)


def _run_object(args: argparse.Namespace) -> int:
    """Write a file, and copy it to the object that the output names."""
    import tempfile

    from evercrawl.store.objects.target import put_file, url_parts

    folder, name = url_parts(args.output)
    with tempfile.TemporaryDirectory(prefix="evercrawl-export-") as made:
        file = Path(made) / name
        return _run_file(args, str(file), lambda: put_file(file, f"{folder}/{name}"))


def _run_archive(args: argparse.Namespace) -> int:
    """Copy the archive, and report how much was copied."""
    from evercrawl.store.objects.pushing import push
    from evercrawl.store.objects.target import ObjectTarget, is_url

    url = args.output if is_url(args.output) else f"file://{Path(args.output).resolve()}"
    if args.output == "-":
        raise ConfigError("the archive goes to a folder or to object storage: `evercrawl export archive -o copies/`")
    target, directory, began = ObjectTarget(url), where.directory(args), time.monotonic()
    with Meter(sys.stderr, nouns="bytes") as meter:
        made = push(directory, target, watch=partial(meter, "archive"))
    took_s = time.monotonic() - began
    if args.json:
        row = {"url": made.url, "files": made.files, "copied_files": made.copied_files, "bytes": made.copied_bytes}
        print(json_line("end", {**row, "seconds": round(took_s, 3)}))
    else:
        what = f"copied {many(made.copied_files, 'files')} of {made.files:,}, {made.copied_bytes:,} bytes"
        print(f"{what}, to {made.url} in {took_s:.1f} s")
    return 0


def _run_file(args: argparse.Namespace, output: str, then: Callable[[], object] = lambda: None) -> int:
    """Write the table to a file or to standard output, finish it with `then` if given, and report its size."""
    from evercrawl.ask.export import files as export_file
    from evercrawl.model.stored.reader import opened
    from evercrawl.store.disk.whole import placed

    if args.table == _WACZ:
        return _run_wacz(args, output, then)
    export_file.check_name(output)
    if output != "-":
        placed(Path(output))
    began = time.monotonic()
    directory = where.directory(args)
    warm.before_reading("evercrawl.ask.export.tables")
    crawl = opened(directory)
    try:
        with Meter(sys.stderr) as meter:
            content = _content(crawl, args) if args.table == _CONTENT else None
            pieces: Iterable[Columns]
            if content is not None:
                pieces, columns = content.pieces(partial(meter, "content")), content.columns
            else:
                pieces, columns = _pieces(crawl, args.table, meter)
            if output == "-":
                rows = export_file.write(pieces, export_file.JsonRows(Fitted(sys.stdout), columns))
            else:
                with export_file.opened(Path(output), columns) as sink:
                    rows = export_file.write(pieces, sink)
    finally:
        crawl.close()
    then()
    _tell(args, rows, time.monotonic() - began, None if content is None else content.tally)
    return 0


def _run_wacz(args: argparse.Namespace, output: str, then: Callable[[], object]) -> int:
    """Write the archive as one file, and report its size."""
    from evercrawl.ask.export import wacz
    from evercrawl.model.stored.reader import opened
    from evercrawl.store.disk.whole import placed

    path, began = Path(output), time.monotonic()
    if path.suffix != wacz.SUFFIX:
        raise ConfigError(f"{args.output} should end in {wacz.SUFFIX}: `evercrawl export wacz -o example.wacz`")
    placed(path)
    directory = where.directory(args)
    warm.before_reading("evercrawl.ask.export.tables")
    crawl = opened(directory)
    try:
        with Meter(sys.stderr, nouns="bytes") as meter:
            made = wacz.write(crawl, path, partial(meter, "archive"))
    finally:
        crawl.close()
    then()
    took_s = time.monotonic() - began
    if args.json:
        print(json_line("end", {**made._asdict(), "file": args.output, "seconds": round(took_s, 3)}))
    else:
        what = (
            f"{many(made.pages, 'pages')}, {many(made.captures, 'captures')}, {made.archive_bytes:,} bytes of archive"
        )
        print(f"wrote {what} to {args.output} in {took_s:.1f} s")
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse flags of the table of content for other tables, and chunks for formats without headings."""
    given = [name for name in ("form", "since", "site", "pattern", "language", "chunks") if getattr(args, name)]
    if given and args.table != _CONTENT:
        flag = args.form if given[0] == "form" else given[0]
        raise ConfigError(f"--{flag} is for the table content only: `evercrawl export content -o {args.output}`")
    if args.chunks and args.form not in (None, "markdown"):
        raise ConfigError(f"--chunks cuts Markdown, at its headings; leave --{args.form} out")


def _content(crawl: Partition, args: argparse.Namespace) -> ContentTable:
    """Return the requested table of content."""
    from evercrawl.ask.changes.question import moment
    from evercrawl.ask.named_site import known_site
    from evercrawl.ask.reading.content_table import ContentTable
    from evercrawl.ask.reading.selection import Wanted
    from evercrawl.parse.reading.rendering import ContentForm

    since = moment(args.since, time.time(), "--since") if args.since else 0.0
    site = known_site(crawl.state, args.site) if args.site else ""
    wanted = Wanted(since, site, args.pattern or "", args.language or "")
    return ContentTable(crawl, wanted, ContentForm(args.form or "markdown"), _chunk_chars(args.chunks))


def _chunk_chars(text: str | None) -> int:
    from evercrawl.parse.reading.chunks import LEAST_CHARS

    if text is None:
        return 0
    number = int(text) if text.isdecimal() and len(text) < 10 else 0
    if number < LEAST_CHARS:
        raise ConfigError(f"--chunks must be a number of characters, {LEAST_CHARS} or more, not {text!r}")
    return number


def _table(name: str) -> str:
    plain = (*_TABLES, _CONTENT, _USAGE, _WACZ, _ARCHIVE)
    if name not in plain and not name.startswith(_POLICY):
        raise argparse.ArgumentTypeError(f"{name!r} is not a table; choose {', '.join(plain)} or {_POLICY}NAME")
    return name


def _pieces(crawl: Partition, name: str, meter: Meter) -> tuple[Iterable[Columns], dict[str, str]]:
    """Return the pieces of a table, and the types of its columns."""
    from evercrawl.ask.export.policy_tables import policy_table
    from evercrawl.ask.export.tables import TABLES, table

    if name in _TABLES:
        return table(crawl, name, partial(meter, name)), TABLES[name]
    if name == _USAGE:
        from evercrawl.ask.usage.table import USAGE_COLUMNS, usage_table
        from evercrawl.model.view import View, settings

        return usage_table(View(crawl, settings(crawl.directory)[0], time.time()), partial(meter, name)), USAGE_COLUMNS
    kinds, values = policy_table(crawl, name.removeprefix(_POLICY))
    return [values], kinds


def _tell(args: argparse.Namespace, rows: int, took_s: float, tally: ReadTally | None = None) -> None:
    """Report what was written, unless the rows themselves go to standard output."""
    if tally is not None:
        _tell_troubles(tally)
    out = sys.stderr if args.output == "-" else sys.stdout
    if args.json:
        more = {} if tally is None else _counts(tally)
        fields = {"rows": rows, "file": args.output, "seconds": round(took_s, 3), **more}
        print(json_line("end", fields), file=out)
    elif args.output != "-":
        what = many(rows, args.table) if args.table in _TABLES else f"{rows:,} rows of {args.table}"
        print(f"wrote {what} to {args.output} in {took_s:.1f} s")


def _counts(tally: ReadTally) -> dict[str, int]:
    """Return the counts of pages by result, for `--json`."""
    return {
        "pages": tally.pages,
        "removed": tally.removed,
        "without_text": tally.without_text,
        "whole": tally.whole,
        "failed": sum(tally.failed.values()),
    }


def _tell_troubles(tally: ReadTally) -> None:
    """Report the pages that are missing in the file, or incomplete."""
    if tally.whole:
        note = "written whole, because their main content could not be determined in time"
        print(f"evercrawl: {many(tally.whole, 'pages')} {note}", file=sys.stderr)
    for why, count in tally.failed.most_common(_MOST_REASONS):
        print(fit(f"evercrawl: {many(count, 'pages')} left out: {why}", sys.stderr), file=sys.stderr)
    for example in tally.examples:
        print(fit(f"evercrawl: left out {example}", sys.stderr), file=sys.stderr)
