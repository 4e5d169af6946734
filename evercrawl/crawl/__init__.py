"""The loop that holds everything together, and what can be asked of a crawl directory. Start reading at loop.py."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
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


class _Callable(ModuleType):
    """The package as a function: `evercrawl.crawl(...)`, whether something has imported the package or not."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Return a crawl that the caller runs; see `evercrawl.library.live_crawl.crawl`."""
        return import_module("evercrawl.library.live_crawl").crawl(*arguments, **settings)


sys.modules[__name__].__class__ = _Callable
