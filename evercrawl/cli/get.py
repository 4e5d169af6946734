"""evercrawl get: the newest stored content of a page."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.cli import arguments, seeds
from evercrawl.config import FILE_NAME, Config, load
from evercrawl.errors import ConfigError, EvercrawlError, StoreError

if TYPE_CHECKING:
    import argparse

    from evercrawl.crawl.content import Content

_MORE = (
    "Redirects are followed within the crawl. Without --raw, --text or --markdown it is the text on a terminal and the "
    "raw content elsewhere. What is worth knowing about the page goes to standard error."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "get", "print the newest stored content of a page", run, _MORE)
    parser.add_argument("url", metavar="URL", help="the page")
    form = parser.add_mutually_exclusive_group()
    for name, meaning in (
        ("raw", "the content as the site sent it, codings undone"),
        ("text", "its visible text"),
        ("markdown", "as Markdown"),
    ):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=meaning)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print it."""
    from evercrawl.crawl.content import content
    from evercrawl.crawl.reader import opened

    if args.url == "-" or args.url.startswith("@"):
        raise ConfigError(f"{args.url!r} is no URL; name one page, such as https://example.org/")
    (url,) = seeds.read_seeds([args.url], sys.stdin)
    directory = arguments.directory(args)
    crawl = opened(directory)
    try:
        found = content(crawl, url, _config(directory))
    finally:
        crawl.close()
    for note in found.notes:
        print(f"evercrawl: {note}", file=sys.stderr)
    form = args.form or _form(found, for_eyes=args.json or (args.output is None and sys.stdout.isatty()))
    _put(args, (json.dumps(_as_object(found, form)) + "\n").encode() if args.json else _as_bytes(found, form))
    return 0


def _form(found: Content, *, for_eyes: bool) -> str:
    """Return what to show of a page when nobody says: what has no text is shown as it is to machines only."""
    return "text" if for_eyes and (_has_text(found) or sys.stdout.isatty()) else "raw"


def _config(directory: Path) -> Config:
    file = directory / FILE_NAME
    return load(file) if file.is_file() else Config()


def _as_bytes(found: Content, form: str) -> bytes:
    if form == "raw":
        return found.body
    text = _as_text(found, form)
    return (text if text.endswith("\n") else f"{text}\n").encode()


def _as_text(found: Content, form: str) -> str:
    """Return the visible text, or Markdown, of something that has text.

    Raises
    ------
    EvercrawlError
        It has none.
    """
    from evercrawl.crawl.content import is_html
    from evercrawl.parse import html
    from evercrawl.parse.encoding import decode

    if not _has_text(found):
        raise EvercrawlError(f"{found.final_url} is {found.mime or 'of no type'}, which has no text; use --raw -o FILE")
    if form == "raw" or not is_html(found.mime, found.body):
        return decode(found.body, found.content_type)[0]
    if form == "markdown":
        return html.markdown(found.body, found.final_url, found.content_type)
    return html.read(found.body, found.final_url, found.content_type).text


def _has_text(found: Content) -> bool:
    from evercrawl.crawl.content import is_html

    texts = ("json", "xml", "javascript")
    return is_html(found.mime, found.body) or found.mime.startswith("text/") or found.mime.endswith(texts)


def _as_object(found: Content, form: str) -> dict[str, Any]:
    from evercrawl.store.warc import iso_date

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
        "changes": found.changes,
        "visits": found.visits,
        "headers": found.headers,
        "notes": found.notes,
        "form": form,
        **({"content_base64": b64encode(found.body).decode()} if binary else {"content": _as_text(found, form)}),
    }


def _put(args: argparse.Namespace, data: bytes) -> None:
    if args.output in (None, "-"):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    try:
        Path(args.output).write_bytes(data)
    except OSError as error:
        raise StoreError(f"cannot write {args.output}: {error.strerror}; name another file with -o") from error
