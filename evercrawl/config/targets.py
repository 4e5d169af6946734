"""Freshness targets by URL pattern: the `[target."/news/"]` sections of crawl.toml."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from evercrawl.config import network, values
from evercrawl.config.sections import see_keys, value_of
from evercrawl.config.values import ValueKind
from evercrawl.errors import ConfigError

MOST: Final = 15
"""Maximum number of sections."""


@dataclass(frozen=True, slots=True)
class Target:
    """One section: the share of matching pages' copies that should be fresh at any moment.

    Attributes
    ----------
    pattern
        Regular expression to search for in URLs.
    fresh
        Share of the copies, each with the same weight, above 0 and at most 0.999.
    within
        Tolerance, in seconds: a copy counts as fresh for this long after its page has changed.

    Raises
    ------
    ConfigError
        A value is of the wrong kind.

    Examples
    --------
    >>> Target("/news/", fresh="95%", within="1h")
    Target(pattern='/news/', fresh=0.95, within=3600.0)
    """

    pattern: str
    fresh: float
    within: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", value_of("the pattern", PATTERN, self.pattern))
        for name, kind in KINDS.items():
            object.__setattr__(self, name, value_of(name, kind, getattr(self, name)))

    def given(self) -> dict[str, object]:
        """Return the keys that it sets, by name."""
        found: dict[str, object] = {"fresh": self.fresh}
        return found | ({"within": self.within} if self.within else {})


def read(raw: object, source: Callable[[str, str], str] = lambda name, key: f'target."{name}"') -> tuple[Target, ...]:
    """Return the sections from TOML or from a program, in order.

    Parameters
    ----------
    raw
        Pattern -> content of the section; or sections.
    source
        Function of the pattern and a key of a section, or "", that returns its location, for messages.

    Raises
    ------
    ConfigError
        A section is invalid; the message begins with its location.

    Examples
    --------
    >>> read({"/news/": {"fresh": 0.95, "witin": "1h"}})
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: target."/news/": witin is not a key of a target section; did you mean within?
    """
    if isinstance(raw, tuple | list):
        sections = cast("Sequence[object]", raw)
        if not all(isinstance(section, Target) for section in sections):
            raise ConfigError('targets must be sections, each under a line such as [target."/news/"]')
        made = tuple(cast("Sequence[Target]", sections))
    elif isinstance(raw, Mapping):
        tables = cast("Mapping[str, object]", raw)
        made = tuple(_section(pattern, table, source) for pattern, table in tables.items())
    else:
        raise ConfigError(f'{source("", "")} must be sections, each under a line such as [target."/news/"]')
    if len(made) > MOST:
        raise ConfigError(f"{source('', '')}: {len(made)} sections are too many; write {MOST} at most")
    return made


def _section(pattern: str, table: object, source: Callable[[str, str], str]) -> Target:
    if not isinstance(table, dict):
        raise ConfigError(f'{source(pattern, "")} must be a section, under a line such as [target."/news/"]')
    given = cast("dict[str, Any]", table)
    if any(isinstance(value, dict) for value in given.values()):
        raise ConfigError(f'{source(pattern, "")}: put the pattern between quotes, as in [target."{pattern}"]')
    see_keys(given, KINDS, "a target section", partial(source, pattern))
    if "fresh" not in given:
        raise ConfigError(f"{source(pattern, '')}: fresh is missing; write the share of copies, such as fresh = 0.95")
    at = ""
    try:
        value_of("the pattern", PATTERN, pattern)
        for at, value in given.items():
            value_of(at, KINDS[at], value)
    except ConfigError as error:
        raise ConfigError(f"{source(pattern, at)}: {error}") from error
    return Target(pattern, **given)


def _fresh(raw: object) -> float:
    value = values.share().read(raw)
    if not isinstance(value, float) or not 0.0 < value <= _MOST_FRESH:
        raise ValueError("a page that changes is never fresh all the time")
    return value


def _pattern(raw: object) -> str:
    if not isinstance(raw, str) or not raw:
        raise ValueError
    return str(network.pattern().read(raw))


_MOST_FRESH: Final = 0.999
PATTERN: Final = ValueKind("REGEX", "a regular expression (Python syntax)", _pattern)
KINDS: Final = {
    "fresh": ValueKind("SHARE", "a share above 0 and up to 0.999, or a percentage such as 95%", _fresh),
    "within": values.duration(),
}
