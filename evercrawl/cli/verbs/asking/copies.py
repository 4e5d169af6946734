"""evercrawl copies: find copies of a text on the crawled web, whole or in part."""

from __future__ import annotations

import argparse
import contextlib
import errno
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments, seeds, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit, many
from evercrawl.cli.show.words import ago, percent, table
from evercrawl.config import values
from evercrawl.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from evercrawl.ask.copies import CopiesFound, TextCopy
    from evercrawl.model.view import View

_MORE = (
    "SOURCE is a file of text or HTML (- for standard input), the URL of a page of the crawl, or a text of five "
    "words or more between quotes. Pages are listed by the share of the text that they contain, in runs of five "
    "words; among equals the earliest comes first. The search index finds pages that contain part of the text; "
    "without an index, only pages that are nearly the same as a whole are found. The crawl may be running; new "
    "pages are found within seconds. The exit code is 1 if there is no copy. Examples: `evercrawl copies "
    "article.txt`, `evercrawl copies https://example.org/news/1 --least 50% --json`."
)
_HEAD = ("has", "alike", "known since", "this content since", "page")
_LEFT = frozenset({"page"})
_LEAST_WORDS: Final = 5
_MOST_BYTES: Final = 10_000_000


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "copies", "find pages that contain a text, or part of it", run, _MORE)
    parser.add_argument("source", metavar="SOURCE", help="a file, a URL, or the text itself")
    parser.add_argument(
        "--least", metavar="SHARE", default="10%", help="minimum share of the text that a page contains (default: 10%%)"
    )
    parser.add_argument("--limit", metavar="N", default="50", help="number of pages (default: 50)")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the copies; exit code 1 if there are none."""
    least = cast("float", arguments.value(values.share(), args.least, "--least"))
    limit = cast("int", arguments.value(values.whole(1), args.limit, "--limit"))
    directory = where.directory(args)
    text = None if "://" in args.source and not args.source.split()[1:] else _text(args.source)
    warm.before_reading("evercrawl.ask.copies")
    from evercrawl.ask.copies import copies
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings
    from evercrawl.search.index import FOLDER, Index
    from evercrawl.types import NO_SLOT

    with contextlib.ExitStack() as stack:
        crawl = opened(directory)
        stack.callback(crawl.close)
        view, index, own = View(crawl, settings(directory)[0], time.time()), None, NO_SLOT
        with contextlib.suppress(StoreError):  # there is none
            index = Index(directory / FOLDER, writable=False)
            stack.callback(index.close)
        if text is None:
            own, text = _page(view, seeds.read_url(args.source))
        meter = stack.enter_context(Meter(sys.stderr, line_every_s=1.0))
        found = copies(view, index, text, own=own, least=least, most=limit, tell=meter)
    for line in _objects(found) if args.json else _lines(found, time.time()):
        print(fit(line, sys.stdout))
    return 0 if found.copies else 1


def _text(source: str) -> str:
    """Return the text of a file, or the source itself if it is not a file."""
    from evercrawl.parse.html import read_text
    from evercrawl.search.schema import words_of

    path = Path(source)
    try:
        if source == "-":
            body = sys.stdin.buffer.read(_MOST_BYTES)
        elif _is_file(path):
            body = path.read_bytes()[:_MOST_BYTES]
        elif len(words_of(source)) >= _LEAST_WORDS:
            return source
        else:
            raise ConfigError(
                f"{source!r} is not a file or URL, and has fewer than {_LEAST_WORDS} words; name a file or a page, or "
                "quote a longer text"
            )
    except OSError as error:
        raise ConfigError(f"cannot read {source}: {error.strerror}; name a file that can be read") from error
    html = body.lstrip()[:1] == b"<"
    return read_text(body, "text/html" if html else "text/plain; charset=utf-8").text


def _is_file(path: Path) -> bool:
    """Return whether there is such a file; a long text is not a file name."""
    try:
        return path.is_file()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def _page(view: View, url: str) -> tuple[int, str]:
    """Return a page of the crawl, and its text."""
    from evercrawl.ask.copies import page_text

    found = page_text(view, url)
    if found is None:
        raise ConfigError(f"the crawl has no content of {url}; for the reason, run `evercrawl why`, or name a file")
    return found


def _objects(found: CopiesFound) -> list[str]:
    counts = {name: getattr(found, name) for name in ("words", "shingles", "read", "indexed")}
    lines = [json_line("copy", asdict(copy)) for copy in found.copies]
    return [*lines, json_line("copies", {**counts, "listed": len(found.copies)})]


def _lines(found: CopiesFound, now: float) -> list[str]:
    looked = f"{many(found.words, 'words')}, compared with {many(found.read, 'pages')}"
    without = "" if found.indexed else "; there is no search index, so parts of it were not searched for"
    if not found.copies:
        return [f"no copy of the text is known ({looked}{without})"]
    lines = table(_HEAD, [_row(copy, now) for copy in found.copies], _LEFT)
    return [*lines, f"{many(len(found.copies), 'pages')} contain it or part of it ({looked}{without})"]


def _row(copy: TextCopy, now: float) -> tuple[str, ...]:
    since = ago(max(now - copy.found_at, 0.0)), ago(max(now - copy.content_at, 0.0))
    same = f" (a copy of {copy.copy_of})" if copy.copy_of else ""
    return percent(copy.contains), percent(copy.resembles), *since, f"{copy.url}{same}"
