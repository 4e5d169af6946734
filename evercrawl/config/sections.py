"""Checks of the keys and values of the sections of crawl.toml."""

from collections.abc import Callable, Mapping
from typing import Any

from evercrawl.config import values
from evercrawl.config.values import ValueKind
from evercrawl.errors import ConfigError


def see_keys(given: Mapping[str, Any], kinds: Mapping[str, ValueKind], what: str, source: Callable[[str], str]) -> None:
    """Check that a section has only keys that there are.

    Parameters
    ----------
    given, kinds
        The section, and the kind of each key's value.
    what, source
        The section in words, and the place of a key.

    Raises
    ------
    ConfigError
        It has another key; the message names a similar one, or all that there are.

    Examples
    --------
    >>> see_keys({"wieght": 2.0}, {"weight": values.number(0.0)}, "[[focus]]", lambda key: "focus, entry 1")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: focus, entry 1: wieght is not a key of [[focus]]; did you mean weight?
    """
    for key in given:
        if key not in kinds:
            raise ConfigError(f"{source(key)}: {key} is not a key of {what}; {_nearest(key, kinds)}")


def _nearest(key: str, kinds: Mapping[str, ValueKind]) -> str:
    import difflib

    near = difflib.get_close_matches(key.lower(), list(kinds), n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"choose among {', '.join(kinds)}"


def value_of(name: str, kind: ValueKind, raw: object, *, secret: bool = False) -> values.Value:
    """Return the value of a key.

    Parameters
    ----------
    name, kind, raw
        The key in words, the kind of its value, and what was given.
    secret
        Whether what was given may be a secret, so that no message may show it.

    Raises
    ------
    ConfigError
        It is no value of that kind.
    """
    try:
        return kind.read(raw)
    except ValueError as error:
        why = f": {error}" if str(error) else ""
        given = "which this is not" if secret else f"not {raw!r}"
        raise ConfigError(f"{name} must be {kind.form}, {given}{why}") from error
