"""Safe reading of untrusted pickles: no code that they name runs, and a stub replaces every class."""

from __future__ import annotations

import io
import pickle
from pickletools import genops
from typing import Any, Final

from evercrawl.crawl.importing.captures import UnusableError

MOST_BYTES: Final = 16 << 20
"""Size limit of a pickle; Scrapy's cache and queues store one page or request in each."""
MOST_STEPS: Final = 20_000
"""Number of instructions in a pickle: keys with equal hashes take the square of it."""
_TO_MEMO: Final = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})


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
        The data is not a pickle, or not a pickle of a dictionary, or would take far more memory than its size.

    Examples
    --------
    >>> import pickle
    >>> read(pickle.dumps({"url": "http://a.example/"}))
    {'url': 'http://a.example/'}
    """
    try:
        _see_bounded(data)
        found = _Reader(io.BytesIO(data)).load()
    except UnusableError:
        raise
    except Exception as error:  # damaged pickles may raise any error
        raise UnusableError(f"the data is not a pickle: {error!r}"[:200]) from error
    if not isinstance(found, dict):
        raise UnusableError("the data is not the pickle of a request")
    return found  # pyright: ignore[reportUnknownVariableType]


def _see_bounded(data: bytes) -> None:
    """Check that a pickle takes no more memory and time than its size suggests.

    The unpickler allocates a memo as long as the highest index that is stored, whatever the length of the data.
    `genops` also refuses arguments that are longer than the data.
    """
    if len(data) > MOST_BYTES:
        raise UnusableError(f"the pickle has {len(data):,} bytes; the limit is {MOST_BYTES:,}")
    for number, (opcode, argument, _) in enumerate(genops(data)):
        if opcode.name in _TO_MEMO and not 0 <= int(argument or 0) <= len(data):
            raise UnusableError(f"the pickle stores an object at index {argument} of a table, with {len(data)} bytes")
        if number == MOST_STEPS:
            raise UnusableError(f"the pickle has over {MOST_STEPS:,} instructions")
