"""The budgets of `evercrawl plan`: per day, in the unit that the crawl counts."""

import math
from typing import Final, cast

from evercrawl.cli import arguments
from evercrawl.config import values
from evercrawl.config.values import ValueKind

DAY_S: Final = 86_400.0
_LEAST: Final = 1.0


def per_s(raw: str, *, in_bytes: bool) -> float:
    """Return a budget given per day, in units per second.

    Parameters
    ----------
    raw
        The value of the flag.
    in_bytes
        Whether the crawl counts bytes instead of fetches.

    Raises
    ------
    ConfigError
        It is not a budget in the crawl's unit; the message says what to write.

    Examples
    --------
    >>> per_s("86400", in_bytes=False), per_s("8.64e5", in_bytes=False), per_s("86.4kB", in_bytes=True)
    (1.0, 10.0, 1.0)
    """
    return cast("float", arguments.value(_BYTES if in_bytes else _FETCHES, raw, "--budget")) / DAY_S


def check(raw: str) -> None:
    """Check that a budget is valid in either unit; the crawl's unit is known only once the crawl has been read.

    Raises
    ------
    ConfigError
        It is valid in neither.

    Examples
    --------
    >>> check("5GB")
    """
    arguments.value(_EITHER, raw, "--budget")


def _fetches(raw: object) -> float:
    """Return a number written in digits or like 1e6."""
    value = float(str(raw))
    if not _LEAST <= value < math.inf:
        raise ValueError
    return value


def _bytes(raw: object) -> float:
    """Return a size, or a number of fetches."""
    try:
        return float(cast("int", values.size(int(_LEAST)).read(raw)))
    except ValueError:
        return _fetches(raw)


_FETCHES: Final = ValueKind("N", "a number of fetches a day, 1 or more, because this crawl counts these", _fetches)
_BYTES: Final = ValueKind("N", "bytes a day, 1 or more, such as 5GB, because this crawl counts these", _bytes)
_EITHER: Final = ValueKind("N", "fetches a day, 1 or more, or bytes, such as 5GB, if the crawl counts bytes", _bytes)
