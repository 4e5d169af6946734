"""Instants in answers: ISO 8601, and seconds since the epoch beside it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

_INSTANTS: Final = frozenset({"at", "since", "until", "instant"})
_SUFFIX: Final = "_at"
_LATEST_S: Final = 253_402_300_799.0  # the end of the year 9999


def iso(at: float) -> str:
    """Return an instant in seconds since the epoch as ISO 8601, in UTC with milliseconds.

    Examples
    --------
    >>> iso(0)
    '1970-01-01T00:00:00.000Z'
    """
    at = min(max(at, 0.0), _LATEST_S)
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def dated(fields: Mapping[str, object]) -> dict[str, object]:
    """Return fields with every instant in ISO 8601, and in seconds since 1970 as NAME_s.

    An instant is a number named `at`, `since`, `until` or with a name that ends in `_at`, at any depth.

    Examples
    --------
    >>> dated({"visited_at": 1.5, "due_at": None})
    {'visited_at': '1970-01-01T00:00:01.500Z', 'visited_at_s': 1.5, 'due_at': None}
    """
    found = dict[str, object]()
    for name, value in fields.items():
        if is_instant(name) and isinstance(value, int | float) and not isinstance(value, bool):
            found[name], found[f"{name}_s"] = iso(value), value
        else:
            found[name] = _inside(value)
    return found


def is_instant(name: str) -> bool:
    """Return whether a number in a field of that name is an instant.

    >>> is_instant("visited_at"), is_instant("took_s")
    (True, False)
    """
    return name in _INSTANTS or name.endswith(_SUFFIX)


def _inside(value: object) -> object:
    if isinstance(value, Mapping):
        return dated(cast("Mapping[str, Any]", value))
    if isinstance(value, list | tuple):
        return [_inside(each) for each in cast("list[object]", value)]
    return value
