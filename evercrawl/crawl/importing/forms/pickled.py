"""Safe reading of untrusted pickles: no code that they name runs, and a stub replaces every class."""

from __future__ import annotations

import io
import pickle
from typing import Any

from evercrawl.crawl.importing.captures import UnusableError


class Stub:
    """A stand-in for an object of a class that is not loaded; it accepts any arguments."""

    def __new__(cls, *given: Any, **named: Any) -> Stub:
        """Return a stub, and ignore the arguments."""
        return super().__new__(cls)

    def __init__(self, *given: Any, **named: Any) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        """Store the state."""
        self.state = state

    def __call__(self, *given: Any, **named: Any) -> Stub:
        """Return another stub."""
        return Stub()

    def append(self, one: Any) -> None:
        """Ignore an item."""

    def extend(self, items: Any) -> None:
        """Ignore items."""

    def __setitem__(self, key: Any, one: Any) -> None:
        """Ignore an item."""


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
        The data is not a pickle, or not a pickle of a dictionary.

    Examples
    --------
    >>> import pickle
    >>> read(pickle.dumps({"url": "http://a.example/"}))
    {'url': 'http://a.example/'}
    """
    try:
        found = _Reader(io.BytesIO(data)).load()
    except Exception as error:  # damaged pickles may raise any error
        raise UnusableError(f"the data is not a pickle: {error!r}"[:200]) from error
    if not isinstance(found, dict):
        raise UnusableError("the data is not the pickle of a request")
    return found  # pyright: ignore[reportUnknownVariableType]
