"""What the parameters of a policy may be: numbers within bounds, durations, and one of a few words."""

import math
from collections.abc import Sequence

from evercrawl.config.values import duration
from evercrawl.errors import ConfigError
from evercrawl.types import RETIRED


def within(name: str, value: float, least: float, most: float = math.inf, *, because: str = "") -> float:
    """Return the value of a parameter; `because` tells why it has such bounds.

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
        raise ConfigError(f"{name} must be {form}, not {value:g}{because and f': {because}'}")
    return value


def misses(name: str, value: float) -> float:
    """Return at how many visits in a row that find a page gone a policy gives it up; the crawl does so at `RETIRED`.

    Raises
    ------
    ConfigError
        Where it is less than one, or later than the crawl itself would.

    Examples
    --------
    >>> misses("rpuc: drop_after", 9)
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: rpuc: drop_after must be from 1 to 6, not 9: at 6 the crawl itself gives a page up
    """
    return within(name, value, 1, RETIRED, because=f"at {RETIRED} the crawl itself gives a page up")


def seconds(name: str, value: float | str, least_s: float = 1e-3, besides: str = "") -> float:
    """Return how long a duration such as 1d or 90 is, in seconds.

    Parameters
    ----------
    name
        Of the parameter.
    value
        As it was written.
    least_s
        No duration is shorter.
    besides
        What may be written in its place, for the message: " or cycle".

    Raises
    ------
    ConfigError
        Where it is none, or too short.

    Examples
    --------
    >>> seconds("rpuc: periods", "1d"), seconds("rpuc: periods", 90)
    (86400.0, 90.0)
    """
    kind = duration(least_s)
    try:
        return float(str(kind.read(value)))
    except ValueError as error:
        raise ConfigError(f"{name} must be {kind.form}{besides}, not {value!r}") from error


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
    evercrawl.errors.ConfigError: rpuc: scale must be one of log, rank, not 'ranks'
    """
    if value not in known:
        raise ConfigError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value
