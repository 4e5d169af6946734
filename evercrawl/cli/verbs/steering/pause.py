"""evercrawl pause: request nothing until told otherwise."""

from __future__ import annotations

import argparse

from evercrawl.cli import arguments
from evercrawl.cli.verbs.steering import ordering

_MORE = (
    "Requests under way are completed; no other begins until `evercrawl resume`. The crawl stays paused across "
    f"restarts. {ordering.MORE} Examples: `evercrawl pause --dir example`, `evercrawl pause --wait`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    ordering.add_flags(arguments.add_verb(verbs, "pause", "stop requesting pages", run, _MORE))


def run(args: argparse.Namespace) -> int:
    """Give the order."""
    from evercrawl.store.orders import CrawlOrder

    return ordering.give(args, CrawlOrder("pause"))
