"""evercrawl boost: let the pages of an expression count for more, for a while."""

from __future__ import annotations

import argparse
from typing import cast

from evercrawl.cli import arguments
from evercrawl.cli.verbs.steering import ordering
from evercrawl.config import values

_MORE = (
    "A visit to a matching page is worth FACTOR times as much to the policy, from 0.001 to 1000; rankings by "
    "importance do not change. Another boost on the same expression replaces the first. "
    f"{ordering.MORE} Examples: `evercrawl boost '/election/' 10 --for 6h`, `evercrawl boost '/election/' --lift`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "boost", "raise or lower the worth of visits to some pages", run, _MORE)
    ordering.add_pattern(parser)
    parser.add_argument("factor", metavar="FACTOR", nargs="?", default="2", help="factor of the worth (default: 2)")
    parser.add_argument("--for", dest="lasts", metavar="TIME", help="how long, such as 30m, 6h or 2d (default: no end)")
    parser.add_argument("--lift", action="store_true", help="remove the boost instead")
    ordering.add_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Give the order."""
    from evercrawl.store.orders import CrawlOrder

    pattern = ordering.pattern(args)  # which with --host takes the only word for the factor
    factor = cast("float", arguments.value(values.number(1e-3, 1e3), args.factor, "FACTOR"))
    lasts_s = 0.0 if args.lasts is None else cast("float", arguments.value(values.duration(1), args.lasts, "--for"))
    return ordering.give(args, CrawlOrder("boost", pattern=pattern, factor=factor, lasts_s=lasts_s, lift=args.lift))
