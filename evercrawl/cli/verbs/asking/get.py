"""evercrawl get: print the newest stored content of a page, fetched again on request."""

from __future__ import annotations

import sys
import time
from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.cli import arguments, renewal, seeds, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit
from evercrawl.cli.show.words import percent
from evercrawl.config import FILE_NAME, Config, load
from evercrawl.errors import ConfigError, EvercrawlError

if TYPE_CHECKING:
    import argparse

    from evercrawl.ask.content import StoredPage
    from evercrawl.errors import NotHeldError

_MORE = (
    "Redirects are followed within the crawl. The default format is text on a terminal and raw elsewhere. Notes about "
    "the page, such as the probability that the copy is fresh, go to standard error. With --fresh, a copy less likely "
    "to be fresh is fetched again first, under the crawl's politeness rules, and the visit is kept like any other. "
    "Examples: `evercrawl get https://example.org/ --text`, `evercrawl get https://example.org/ --fresh 90% "
    "--markdown -o page.md`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "get", "print the newest stored content of a page", run, _MORE)
    parser.add_argument("url", metavar="URL", help="the URL of the page")
    form = parser.add_mutually_exclusive_group()
    for name, meaning in (
        ("raw", "the response body, with transfer and content codings removed"),
        ("text", "the visible text"),
        ("markdown", "the main content as Markdown, with absolute links, after front matter"),
        ("html", "the main content as HTML, without scripts, forms and frames"),
    ):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=meaning)
    parser.add_argument(
        "--fresh", metavar="P", help="fetch it again first unless it is fresh with this probability: 0.9 or 90%%"
    )
    past = parser.add_mutually_exclusive_group()
    past.add_argument("--at", metavar="TIME", help="the content stored at that time: 2h, yesterday, 2026-05-01T12:00Z")
    past.add_argument("--versions", action="store_true", help="list the versions of the page instead")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the content."""
    if args.url == "-" or args.url.startswith("@"):
        raise ConfigError(f"{args.url!r} is not a URL; name one page, such as https://example.org/")
    url = seeds.read_url(args.url)
    _check(args)
    directory, least = where.directory(args), None if args.fresh is None else renewal.probability(args.fresh)
    if args.versions:
        return _list_versions(args, directory, url)
    warm.before_reading("evercrawl.ask.export.tables")  # which also reads pages
    look = partial(_look, directory, url) if args.at is None else partial(_look_back, directory, url, args.at)
    found, stale = (look(), False) if least is None else renewal.renewed(directory, look, least)
    if isinstance(found, EvercrawlError):
        raise found
    _tell(found)
    form = args.form or form_of(found, for_eyes=args.json or (args.output is None and sys.stdout.isatty()))
    data = (json_line("content", as_object(found, form)) + "\n").encode() if args.json else as_bytes(found, form)
    _put(args, data, raw=form == "raw")
    return renewal.STALE if stale else 0


def _look(directory: Path, url: str) -> StoredPage | NotHeldError:
    """Return the stored content of a page, or the reason why there is none."""
    from evercrawl.ask.content import StoredPage, content
    from evercrawl.ask.remote import remote
    from evercrawl.errors import NotHeldError
    from evercrawl.model.stored.reader import opened

    config = _config(directory)
    if (found := remote(directory, StoredPage, "get", url=url)) is not None:
        return found
    crawl = opened(directory)
    try:
        return content(crawl, url, config)
    except NotHeldError as error:
        return error
    finally:
        crawl.close()


def _check(args: argparse.Namespace) -> None:
    if args.fresh is not None and (args.at is not None or args.versions):
        raise ConfigError("--fresh is about the page as it is now; leave out --at and --versions")
    if args.versions and (args.form or args.output):
        raise ConfigError("--versions lists versions; to write one, name its time with --at")


def _look_back(directory: Path, url: str, at: str) -> StoredPage | NotHeldError:
    """Return the content of a page held at an instant, or the reason why there was none."""
    from evercrawl.ask.changes.past import content_at
    from evercrawl.ask.changes.question import moment
    from evercrawl.errors import NotHeldError
    from evercrawl.model.stored.derived.derived import asked
    from evercrawl.model.stored.reader import opened

    instant = moment(at, time.time(), "--at")
    crawl = opened(directory)
    try:
        with Meter(sys.stderr, line_every_s=1.0) as meter:
            return asked(crawl, lambda derived: content_at(crawl, derived, url, instant), meter)
    except NotHeldError as error:
        return error
    finally:
        crawl.close()


def _list_versions(args: argparse.Namespace, directory: Path, url: str) -> int:
    from evercrawl.ask.changes.past import page_history
    from evercrawl.cli.show.changes_lines import version_lines, version_objects
    from evercrawl.model.stored.derived.derived import asked
    from evercrawl.model.stored.reader import opened

    warm.before_reading("evercrawl.ask.export.tables")
    crawl = opened(directory)
    try:
        with Meter(sys.stderr, line_every_s=1.0) as meter:
            found = asked(crawl, lambda derived: page_history(crawl, derived, url), meter)
    finally:
        crawl.close()
    if args.json:
        for row in version_objects(found):
            print(json_line("version", row))
        return 0
    if not found.versions:
        raise EvercrawlError(f"no content of {url} was ever read; for the reason, run `evercrawl why {url}`")
    for line in version_lines(found):
        print(fit(line, sys.stdout))
    return 0


def _tell(found: StoredPage) -> None:
    for note in found.notes:
        _note(note)
    if found.fresh is not None:
        _note(f"the copy is fresh with a probability of {percent(found.fresh)}")


def form_of(found: StoredPage, *, for_eyes: bool) -> str:
    """Return the default format of a page; content without text is printed raw only if the output is not a terminal."""
    return "text" if for_eyes and (_has_text(found) or sys.stdout.isatty()) else "raw"


def _config(directory: Path) -> Config:
    """Return the crawl's settings, which define its scope; the content can be shown without them."""
    file = directory / FILE_NAME
    try:
        return load(file) if file.is_file() else Config()
    except (ConfigError, OSError) as error:
        _note(f"{error}; the default settings are used instead")
        return Config()


def _note(sentence: str) -> None:
    print(fit(f"evercrawl: {sentence}", sys.stderr), file=sys.stderr)


def as_bytes(found: StoredPage, form: str) -> bytes:
    """Return a page in one of the formats raw, text, markdown and html."""
    if form == "raw":
        return found.body
    text = _as_text(found, form)
    return (text if text.endswith("\n") else f"{text}\n").encode()


def _as_text(found: StoredPage, form: str) -> str:
    """Return the visible text, or the main content, of a page with text.

    Raises
    ------
    EvercrawlError
        The page has no text, or cannot be read.
    """
    from evercrawl.ask.reading.front_matter import front_matter
    from evercrawl.ask.reading.readable import ReadRequest, kind_of, read
    from evercrawl.ask.reading.reader import ContentReader
    from evercrawl.parse.encoding import decode
    from evercrawl.parse.reading.rendering import ContentForm

    kind = kind_of(found.mime, found.body)
    if not kind:
        raise EvercrawlError(f"{found.final_url} is {found.mime or 'of no type'}, which has no text; use --raw -o FILE")
    if form == "raw":
        return decode(found.body, found.content_type)[0]
    request = ReadRequest(found.body, found.final_url, found.mime, found.content_type, ContentForm(form))
    if kind == "plain" or (kind == "html" and form == "text"):
        return read(request).content
    with ContentReader(1) as reader:
        said = reader.read(request)
    if said.error:
        raise EvercrawlError(f"{found.final_url} cannot be read: {said.error}; use --raw -o FILE")
    if said.whole:
        _note("this is the whole page: its main content could not be determined in time")
    return (front_matter(_source(found)) if form == "markdown" else "") + said.content


def _source(found: StoredPage) -> dict[str, Any]:
    """Return the front matter above Markdown, which names the source of the content."""
    return {
        "url": found.final_url,
        "title": found.title,
        "fetched_at": found.visited_at,
        "changed_at": found.changed_at,
        "fresh": found.fresh,
        "language": found.language or None,
        "optouts": " ".join(found.optouts) or None,
    }


def _has_text(found: StoredPage) -> bool:
    from evercrawl.ask.reading.readable import kind_of

    return kind_of(found.mime, found.body) in ("html", "plain")


def as_object(found: StoredPage, form: str) -> dict[str, Any]:
    """Return a page in one of its formats for `--json`: in base64 if it has no text."""
    from evercrawl.store.archive.warc import iso_date

    binary = form == "raw" and not _has_text(found)
    return {
        "url": found.url,
        "final_url": found.final_url,
        "class": found.outcome.label,
        "status": found.status,
        "title": found.title,
        "mime": found.mime,
        "language": found.language,
        "visited_at": iso_date(found.visited_at),
        "visited_at_s": found.visited_at,
        "stored_at": iso_date(found.stored_at),
        "stored_at_s": found.stored_at,
        "fresh": found.fresh,
        "changes": found.changes,
        "visits": found.visits,
        "headers": found.headers,
        "notes": found.notes,
        "form": form,
        **({"content_base64": b64encode(found.body).decode()} if binary else {"content": _as_text(found, form)}),
    }


def _put(args: argparse.Namespace, data: bytes, *, raw: bool) -> None:
    from evercrawl.store.disk.whole import atomic_file

    if args.output in (None, "-"):
        if not raw:
            data = fit(data.decode(), sys.stdout).encode()
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    with atomic_file(Path(args.output)) as name:
        name.write_bytes(data)
