"""evercrawl pause: request nothing until told otherwise."""

from __future__ import annotations

from evercrawl.cli import arguments
from evercrawl.cli.verbs.steering import ordering

_MORE = (
    "Requests under way are completed; no other begins until `evercrawl resume`. The crawl stays paused across "
    f"restarts. {ordering.MORE} Examples: `evercrawl pause --dir example`, `evercrawl pause --wait`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    ordering.add_word(verbs, "pause", "stop requesting pages", _MORE)
