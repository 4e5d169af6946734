"""evercrawl orders: list the orders of a crawl with their results."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit
from evercrawl.cli.show.words import ago, span
from evercrawl.config import values

if TYPE_CHECKING:
    from evercrawl.ask.orders.listing import OrdersListed

_MORE = (
    "Each line is an order: when it was given, by whom, what it requests, and its result. The lines before show "
    "since when the crawl is paused, the active boosts, and the scope rules that exclude known pages. Orders that "
    "came with the directory from elsewhere are shown too; they wait for `evercrawl crawl --obey-orders`. Examples: "
    "`evercrawl orders --dir example`, `evercrawl orders --last 100 --json`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "orders", "list the orders of a crawl and their results", run, _MORE)
    parser.add_argument("--last", metavar="N", default="20", help="number of orders (default: 20)")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the orders."""
    last = cast("int", arguments.value(values.whole(), args.last, "--last"))
    directory = where.directory(args)
    warm.before_reading("evercrawl.ask.orders.listing")
    from evercrawl.ask.orders.listing import listed
    from evercrawl.model.stored.reader import opened

    crawl = opened(directory)
    try:
        found = listed(crawl, last)
    finally:
        crawl.close()
    if args.json:
        print(json_line("orders", as_object(found)))
    else:
        for line in lines(found, time.time()):
            print(fit(line, sys.stdout))
    return 0


def as_object(found: OrdersListed) -> dict[str, object]:
    """Return the list as an object for `--json`."""
    boosts = [
        {"pattern": b.pattern, "factor": b.factor, "since": b.since, "until": b.until or None} for b in found.boosts
    ]
    return {**asdict(found), "orders": [asdict(order) for order in found.orders], "boosts": boosts}


def lines(found: OrdersListed, now: float) -> list[str]:
    """Return the list as lines of text."""
    about = [found.trouble] if found.trouble else []
    if found.paused_at is not None:
        about.append(f"paused {ago(now - found.paused_at)}; continue with: evercrawl resume")
    for boost in found.boosts:
        if not 0.0 < boost.until <= now:
            end = f", for another {span(boost.until - now)}" if boost.until else ""
            about.append(f"boost: {boost.pattern} multiplies the worth of visits by {boost.factor:g}{end}")
    about += [f"rule: {rule}, {ago(now - since)}" for rule, since in found.rules.items()]
    orders = [
        f"{order.id}  {ago(now - order.at)}, {order.by or 'unknown'}: {f'{order.do} {order.what}'.strip()}; "
        f"{order.state}{f': {order.result}' if order.result else ''}"
        for order in found.orders
    ]
    return [*about, *(orders or ["no orders were given"])]
