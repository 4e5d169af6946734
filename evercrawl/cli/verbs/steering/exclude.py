"""evercrawl exclude: never request URLs that match an expression, from now on."""

from __future__ import annotations

from evercrawl.cli import arguments
from evercrawl.cli.verbs.steering import ordering

_MORE = (
    "Known pages that match are not requested again; their copies and history stay, and return to use when the "
    "rule is lifted. The rule is added to exclude in crawl.toml. An expression is searched anywhere in a URL "
    f"(Python syntax); a complete URL matches all URLs that begin with it. {ordering.MORE} Examples: `evercrawl "
    "exclude '/private/' --wait`, `evercrawl exclude --host shop.example.org`, `evercrawl exclude '/private/' "
    "--lift`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    ordering.add_rule(verbs, "exclude", "never request URLs that match an expression", _MORE)
