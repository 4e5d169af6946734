"""evercrawl check: request a known page now, through the running crawl."""

from __future__ import annotations

import argparse

from evercrawl.cli import arguments, seeds
from evercrawl.cli.verbs.steering import ordering

_MORE = (
    "The page is requested once, conditionally, as soon as its host's delay has passed, whatever its place in the "
    f"queue; the visit is kept like any other. With --wait it prints what the visit found. {ordering.MORE} "
    "Examples: `evercrawl check https://example.org/ --wait`, `evercrawl check https://example.org/ --dir "
    "example`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "check", "request a known page now", run, _MORE)
    parser.add_argument("url", metavar="URL", help="the URL of the page")
    ordering.add_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Give the order."""
    from evercrawl.store.orders import CrawlOrder

    return ordering.give(args, CrawlOrder("check", urls=(seeds.read_url(args.url),)))
