"""Pickles of strangers, read without running any of what they name: every class becomes an empty one."""

from __future__ import annotations

import io
import pickle
from typing import Any

from evercrawl.crawl.importing.captures import UnusableError


class Stub:
    """Stands for an object of a class that is not loaded; takes whatever is given to it."""

    def __new__(cls, *given: Any, **named: Any) -> Stub:
        """Return one, whatever is given."""
        return super().__new__(cls)

    def __init__(self, *given: Any, **named: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        """Keep the state."""
        self.state = state

    def __call__(self, *given: Any, **named: Any) -> Stub:
        """Return another one."""
        return Stub()

    def append(self, one: Any) -> None:
        """Take an item, and drop it."""

    def extend(self, items: Any) -> None:
        """Take items, and drop them."""

    def __setitem__(self, key: Any, one: Any) -> None:
        """Take an item, and drop it."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return Stub

    def persistent_load(self, pid: Any) -> Any:
        return None


def read(data: bytes) -> dict[Any, Any]:
    """Return the dictionary in a pickle.

    Raises
    ------
    UnusableError
        It is no pickle, or not of a dictionary.

    Examples
    --------
    >>> import pickle
    >>> read(pickle.dumps({"url": "http://a.example/"}))
    {'url': 'http://a.example/'}
    """
    try:
        found = _Reader(io.BytesIO(data)).load()
    except Exception as error:  # damaged pickles fail in every way
        raise UnusableError(f"it is no pickle: {error!r}"[:200]) from error
    if not isinstance(found, dict):
        raise UnusableError("it is a pickle of something else than a request")
    return found  # pyright: ignore[reportUnknownVariableType]
