"""An importance-driven, incremental web crawler: it knows which page next.

The public names are those of `__all__`; docs/guide/LIBRARY.md documents them. They are imported when they are first
used, so that `import evercrawl` takes milliseconds.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
__all__ = ["Crawl", "Table", "__version__", "change", "crawl", "importance", "schedule"]  # pyright: ignore[reportUnsupportedDunderAll]

_PLACES = {
    "Crawl": ("evercrawl.library.stored_crawl", "StoredCrawl"),
    "Table": ("evercrawl.library.crawl_table", "CrawlTable"),
    "change": ("evercrawl.change", ""),
    "crawl": ("evercrawl.crawl", ""),
    "importance": ("evercrawl.importance", ""),
    "schedule": ("evercrawl.schedule", ""),
}


def __getattr__(name: str) -> Any:
    """Return a public name; its module is imported at the first use."""
    if name not in _PLACES:
        raise AttributeError(f"module 'evercrawl' has no attribute {name!r}; docs/guide/LIBRARY.md lists what it has")
    module, member = _PLACES[name]
    found = import_module(module)
    return getattr(found, member) if member else found


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
