"""What a parameter of a policy may be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evercrawl.config.values import duration
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


def within(name: str, value: float, least: float, most: float = math.inf) -> float:
    """Return the value of a parameter.

    Raises
    ------
    ConfigError
        Where it is less than `least` or more than `most`.

    Examples
    --------
    >>> within("tianwang: new_percent", 120, 0, 100)
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: tianwang: new_percent must be from 0 to 100, not 120
    """
    if not least <= value <= most:
        form = f"from {least:g} to {most:g}" if most < math.inf else f"{least:g} or more"
        raise ConfigError(f"{name} must be {form}, not {value:g}")
    return value


def seconds(name: str, value: float | str) -> float:
    """Return how long a duration such as 1d or 90 is, in seconds.

    Raises
    ------
    ConfigError
        Where it is none, or none above 0.

    Examples
    --------
    >>> seconds("rpuc: periods", "1d"), seconds("rpuc: periods", 90)
    (86400.0, 90.0)
    """
    kind = duration()
    try:
        found = kind.read(value)
    except ValueError:
        found = 0.0
    if not isinstance(found, float) or found <= 0:
        raise ConfigError(f"{name} must be a duration above 0 such as 30s, 12h or 4d, not {value!r}")
    return found


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """Return the value of a parameter that has a few.

    Raises
    ------
    ConfigError
        Where it is none of them.

    Examples
    --------
    >>> one_of("rpuc: scale", "ranks", ["log", "rank"])
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: rpuc: scale must be log or rank, not 'ranks'
    """
    if value not in known:
        raise ConfigError(f"{name} must be {' or '.join(known)}, not {value!r}")
    return value
