"""evercrawl serve: show the crawl in a browser."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.ask.parted import PartedQuestions
    from evercrawl.serve.running import SignalOptions

_MORE: Final = (
    "It serves web pages about the crawl in --dir, and an API under /api/v1, whether the crawl is running or not. "
    "It listens only on this machine unless --bind says otherwise. Changing the crawl needs the token in "
    "DIR/serve-token, which the printed link contains. Needs `pip install evercrawl[serve]`. Examples: `evercrawl "
    "serve --dir example`, `evercrawl serve --dir example --port 9000 --json`."
)
_NEEDED: Final = "this needs more packages: pip install 'evercrawl[serve]'"


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "serve", "serve the crawl to browsers and programs", run, _MORE)
    parser.add_argument(
        "--port", metavar="N", default="8400", help="port to listen on; 0 takes a free one (default: 8400)"
    )
    parser.add_argument("--bind", metavar="ADDR", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--host-name",
        metavar="NAME",
        action="append",
        default=[],
        help="a name that the server answers to (repeatable)",
    )
    parser.add_argument(
        "--public", metavar="WHAT", choices=["search"], default="", help="search: anybody may search, without the token"
    )
    parser.add_argument("--no-record", action="store_true", help="do not record what people search for and open")
    parser.add_argument(
        "--signals",
        metavar="PORT",
        default="",
        help="accept change notices from publishers (IndexNow, WebSub) on this port; needs --public-url",
    )
    parser.add_argument(
        "--signals-bind", metavar="ADDR", default="127.0.0.1", help="address of that port (default: 127.0.0.1)"
    )
    parser.add_argument("--public-url", metavar="URL", default="", help="URL of that port on the Internet")
    parser.add_argument(
        "--websub", metavar="URL", action="append", default=[], help="subscribe to this page or feed (repeatable)"
    )
    parser.add_argument("--open", action="store_true", help="open the link in a browser")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until stopped."""
    return served(args, where.directory(args))


def served(args: argparse.Namespace, directory: Path, parted: PartedQuestions | None = None) -> int:
    """Serve a crawl until stopped; `parted` answers for all partitions of one that has several."""
    port = cast("int", arguments.value(values.whole(0), args.port, "--port"))
    try:
        from evercrawl.serve.running import serve
    except ImportError as error:
        raise ConfigError(_NEEDED) from error
    warm.before_reading("evercrawl.model.view")

    def ready(link: str) -> None:
        print(json_line("serving", {"link": link}) if args.json else f"the crawl is at {link}", flush=True)
        if args.open:
            import webbrowser

            webbrowser.open(link)

    names = frozenset(args.host_name)
    signals = _signals(args)
    serve(
        directory, args.bind, port, names, args.public, ready, record=not args.no_record, signals=signals, parted=parted
    )
    if not args.json and sys.stdout.isatty():
        print("stopped")
    return 0


def _signals(args: argparse.Namespace) -> SignalOptions | None:
    """Return the address at which publishers may announce changes; None if none is requested."""
    from evercrawl.parse.urls import normalise
    from evercrawl.serve.running import SignalOptions

    if not args.signals:
        if args.public_url or args.websub:
            raise ConfigError("--public-url and --websub go with --signals PORT, where publishers are listened to")
        return None
    port = cast("int", arguments.value(values.whole(0), args.signals, "--signals"))
    public = normalise(args.public_url)
    if public is None:
        raise ConfigError("--signals needs --public-url, the address at which publishers reach that port")
    topics = [(raw, normalise(raw)) for raw in args.websub]
    for raw, topic in topics:
        if topic is None:
            raise ConfigError(f"--websub must be an http or https URL, not {raw[:200]!r}")
    found = tuple(topic for _, topic in topics if topic is not None)
    return SignalOptions(args.signals_bind, port, public.rstrip("/"), found)
