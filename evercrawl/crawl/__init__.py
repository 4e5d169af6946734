"""The loop that holds everything together, and what can be asked of a crawl directory. Start reading at loop.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evercrawl.crawl.session import crawl

__all__ = ["crawl"]


def __getattr__(name: str) -> Any:
    """Import the engine when it is asked for; who asks a question of a directory does without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evercrawl.crawl import session

    return session.crawl
