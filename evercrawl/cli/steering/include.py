"""evercrawl include: request only URLs that match an expression, from now on."""

from __future__ import annotations

import argparse

from evercrawl.cli import arguments
from evercrawl.cli.steering import ordering

_MORE = (
    "Known pages that match no expression of include are not requested again, and come back when they match one "
    "or when the last is lifted. The rule is added to include in crawl.toml; seeds need not match. "
    "An expression is found anywhere in a URL (Python syntax); a complete URL stands for all that begin with it. "
    f"{ordering.MORE} Examples: `evercrawl include '/private/' --wait`, `evercrawl include --host shop.example.org`, "
    "`evercrawl include '/private/' --lift`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "include", "request only URLs that match an expression", run, _MORE)
    ordering.add_pattern(parser)
    parser.add_argument("--lift", action="store_true", help="remove the rule instead")
    ordering.add_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Give the order."""
    return ordering.rule(args, "include")
