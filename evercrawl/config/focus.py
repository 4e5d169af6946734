"""Pages wanted more, or less, than their importance: the `[[focus]]` entries of crawl.toml."""

import re
from dataclasses import dataclass, fields
from typing import Any, Final, cast

from evercrawl.config import network, values
from evercrawl.config.sections import see_keys, value_of
from evercrawl.errors import ConfigError

MOST: Final = 16
"""Maximum number of entries; one entry can hold alternatives, such as `/news/|/press/` or several words."""
LIGHTEST: Final = 1e-3
HEAVIEST: Final = 1e3
_TYPE: Final = re.compile(r"[a-z0-9*][a-z0-9.+*-]*/[a-z0-9*][a-z0-9.+*-]*")


@dataclass(frozen=True, slots=True)
class Focus:
    """One entry: pages that match all of its conditions count `weight` times as much as others.

    Attributes
    ----------
    url
        Regular expression to search for in the URL; "" for any.
    content_type
        Content type of a page that was read, such as application/pdf or text/*; "" for any.
    words
        Words or phrases, one of which is near the link by which the page was found, or in its title once it is read.
    weight
        From a thousandth to a thousand; below 1, such pages count less.

    Raises
    ------
    ConfigError
        The entry has no condition, or a value of the wrong kind.

    Examples
    --------
    >>> Focus(url="/news/", words=["storm", " high  water"]).words
    ('storm', 'high water')
    >>> Focus(weight=2)
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: focus selects no pages; add a url, a content_type or words
    """

    url: str = ""
    content_type: str = ""
    words: tuple[str, ...] = ()
    weight: float = 4.0

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            object.__setattr__(self, name, value_of(name, kind, getattr(self, name)))
        if not (self.url or self.content_type or self.words):
            raise ConfigError("focus selects no pages; add a url, a content_type or words")


def read(raw: object, source: str = "focus") -> tuple[Focus, ...]:
    """Return the entries from TOML or from a program.

    Raises
    ------
    ConfigError
        An entry is invalid; the message begins with `source` and the number of the entry, counted from 1.

    Examples
    --------
    >>> read([{"url": "/news/"}, {"content_type": "application/pdf", "weight": 8}])[1].weight
    8.0
    >>> read([{"url": "/news/"}, {"wrods": ["storm"]}])
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: focus, entry 2: wrods is not a key of [[focus]]; did you mean words?
    """
    if not isinstance(raw, list | tuple):
        raise ConfigError(f"{source}: focus must be a list of tables, each under a line [[focus]]")
    entries = cast("list[object]", raw)
    if len(entries) > MOST:
        raise ConfigError(f"{source}: {len(entries)} entries are too many; write {MOST} at most, and join some with |")
    return tuple(_entry(entry, f"{source}, entry {number}") for number, entry in enumerate(entries, 1))


def _entry(raw: object, source: str) -> Focus:
    if isinstance(raw, Focus):
        return raw
    if not isinstance(raw, dict):
        raise ConfigError(f"{source} must be a table with url, content_type, words and weight, not {raw!r}")
    given = cast("dict[str, Any]", raw)
    see_keys(given, KINDS, "[[focus]]", lambda _: source)
    try:
        return Focus(**given)
    except ConfigError as error:
        raise ConfigError(f"{source}: {str(error).removeprefix('focus ')}") from error


def _content_type(raw: object) -> str:
    value = raw.strip().lower() if isinstance(raw, str) else None
    if value is None or (value and not _TYPE.fullmatch(value)):
        raise ValueError
    return value


def _words(raw: object) -> tuple[str, ...]:
    listed = [raw] if isinstance(raw, str) else cast("list[object]", raw)
    if not isinstance(listed, list | tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError
    words = [" ".join(word.split()) if isinstance(word, str) else "" for word in listed]
    if not all(re.search(r"\w", word) for word in words):
        raise ValueError
    return tuple(words)


def _weight(raw: object) -> float:
    value = values.number().read(raw)
    if not isinstance(value, float) or not LIGHTEST <= value <= HEAVIEST:
        raise ValueError
    return value


KINDS: Final = {
    "url": network.pattern(),
    "content_type": values.ValueKind("TYPE", "a type such as application/pdf or text/*", _content_type),
    "words": values.ValueKind("WORDS", 'a list of words or phrases, such as ["storm", "high water"]', _words),
    "weight": values.ValueKind("N", f"a number from {LIGHTEST:g} to {HEAVIEST:g}", _weight),
}
assert list(KINDS) == [field.name for field in fields(Focus)]
