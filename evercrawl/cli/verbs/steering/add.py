"""evercrawl add: name more seeds for a crawl, running or not."""

from __future__ import annotations

import argparse
import sys

from evercrawl.cli import arguments, seeds
from evercrawl.cli.verbs.steering import ordering

_MORE = (
    "The hosts of the URLs join the scope. A known page whose visits failed is tried again now; an excluded URL is "
    f"refused. {ordering.MORE} Examples: `evercrawl add https://example.org/news/ --dir example`, `evercrawl add "
    "@more.txt --wait`."
)
AT_ONCE = 500


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "add", "add seeds to a crawl, even while it runs", run, _MORE)
    parser.add_argument("urls", metavar="URL", nargs="+", help="a URL; @FILE reads a list, - standard input")
    ordering.add_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Give the orders, each with some of the URLs."""
    from evercrawl.store.orders import CrawlOrder

    urls, worst = list(seeds.read_seeds(args.urls, sys.stdin, strict=True).urls), 0
    for first in range(0, len(urls), AT_ONCE):
        worst = max(worst, ordering.give(args, CrawlOrder("seed", urls=tuple(urls[first : first + AT_ONCE]))))
    return worst
