"""The crawl loop with its parts, and operations on a crawl directory. Start reading at loop.py."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evercrawl.crawl.session import crawl

__all__ = ["crawl"]


def __getattr__(name: str) -> Any:
    """Import the engine on first use, because most questions about a directory do without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evercrawl.crawl import session

    return session.crawl


class _Callable(ModuleType):
    """The package as a callable, so that `evercrawl.crawl(...)` works even if the package was imported before."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Return a crawl that the caller runs; see `evercrawl.library.live_crawl.crawl`."""
        return import_module("evercrawl.library.live_crawl").crawl(*arguments, **settings)


sys.modules[__name__].__class__ = _Callable
