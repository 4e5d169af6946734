"""evercrawl include: request only URLs that match an expression, from now on."""

from __future__ import annotations

from evercrawl.cli import arguments
from evercrawl.cli.verbs.steering import ordering

_MORE = (
    "Known pages that match no expression of include are not requested again until they match one or the last is "
    "lifted. Seeds need not match. The rule is added to include in crawl.toml. An expression is searched anywhere "
    f"in a URL (Python syntax); a complete URL matches all URLs that begin with it. {ordering.MORE} Examples: "
    "`evercrawl include '/private/' --wait`, `evercrawl include --host shop.example.org`, `evercrawl include "
    "'/private/' --lift`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    ordering.add_rule(verbs, "include", "request only URLs that match an expression", _MORE)
