"""evercrawl resume: let a paused crawl request pages again."""

from __future__ import annotations

from evercrawl.cli import arguments
from evercrawl.cli.verbs.steering import ordering

_MORE = (
    "This ends a pause made by `evercrawl pause`. To start a crawl that is not running, use `evercrawl crawl`. "
    f"{ordering.MORE} Examples: `evercrawl resume --dir example`, `evercrawl resume --wait`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    ordering.add_word(verbs, "resume", "continue a paused crawl", _MORE)
