"""evercrawl serve: the crawl in a browser."""

from __future__ import annotations

import argparse
import sys
from typing import Final, cast

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.config import values
from evercrawl.errors import ConfigError

_MORE: Final = (
    "It shows the crawl in --dir, which may run beside it or not, and answers programs under /api/v1. It listens on "
    "this machine alone unless --bind says otherwise; what changes the crawl needs the token in DIR/serve-token, which "
    "the printed link carries. Needs `pip install evercrawl[serve]`. Examples: `evercrawl serve --dir example`, "
    "`evercrawl serve --dir example --port 9000 --json`."
)
_NEEDED: Final = "this needs more packages: pip install 'evercrawl[serve]'"


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "serve", "show the crawl in a browser", run, _MORE)
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
    parser.add_argument("--open", action="store_true", help="open the link in a browser")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until stopped."""
    port = cast("int", arguments.value(values.whole(0), args.port, "--port"))
    directory = where.directory(args)
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

    serve(directory, args.bind, port, frozenset(args.host_name), args.public, ready, record=not args.no_record)
    if not args.json and sys.stdout.isatty():
        print("stopped")
    return 0
