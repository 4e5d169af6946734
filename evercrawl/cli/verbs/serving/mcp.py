"""evercrawl mcp: serve the crawl to assistants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.cli import arguments, warm, where
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    import argparse

_MORE: Final = (
    "It offers the tools search, get, why, changes and status over standard input and output. Each answer has the "
    "freshness of the copy and a sentence to cite it by. --write adds add_seed, and lets get fetch a page again "
    "through the running crawl. Needs `pip install evercrawl[mcp]`. Examples: `evercrawl mcp --dir example`, "
    "`evercrawl mcp --dir example --write`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "mcp", "serve assistants over the Model Context Protocol", run, _MORE)
    parser.add_argument("--write", action="store_true", help="allow add_seed, and fetching pages again")
    arguments.add_directory(parser)


def run(args: argparse.Namespace) -> int:
    """Answer requests until the input ends."""
    directory = where.directory(args)
    try:
        from evercrawl.serve.mcp.server import serve_stdio
    except ImportError as error:
        raise ConfigError("this needs more packages: pip install 'evercrawl[mcp]'") from error
    warm.before_reading("evercrawl.model.view")
    serve_stdio(directory, may_order=args.write)
    return 0
