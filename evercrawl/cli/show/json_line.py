"""The lines of `--json`: one object each, which says first what it is; instants are read by people and programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

_INSTANTS: Final = frozenset({"at", "since", "until", "instant"})
EVENTS: Final = {
    "progress": "the state of a running crawl, once a second",
    "message": "a sentence worth reading",
    "start": "a run begins, in the log of a run",
    "visit": "a visit, in the log of a run: why it failed",
    "alert": "what somebody should look at",
    "end": "the last line: what the command came to",
    "error": "why the command failed, or what is wrong with its arguments",
    "status": "the state of a crawl",
    "calibration": "predicted and observed freshness",
    "memory": "what takes how much memory",
    "why": "all that decides when a page is visited",
    "page": "a page of a list",
    "site": "a site of a list",
    "hit": "a page that was found",
    "content": "a page with its content",
    "change": "what became of a page",
    "version": "one content of a page, and when it was seen",
    "plan": "freshness by budget",
    "suspicion": "a page or site that may be spam, with the evidence",
    "usage": "what people searched for, saw and opened",
    "selection": "totals of the sites chosen",
    "agreement": "how far a choice agrees with ratings",
    "verify": "whether a directory is consistent",
    "backup": "what was copied",
    "versions": "the versions in use",
    "demo": "what the demonstration learned",
    "world": "a simulated world",
    "row": "a row of a comparison",
    "claim": "a published claim, and what was found",
    "experiment": "an experiment of the lab",
    "evolution": "how a group of pages changes",
    "policy": "a policy with its parameters and tables",
}
"""Every `event` there is, and what such a line tells."""
_SUFFIX: Final = "_at"
_LATEST_S: Final = 253_402_300_799.0  # the end of the year 9999


def json_line(event: str, fields: Mapping[str, object]) -> str:
    """Return a line: `event`, then the fields; every instant in ISO 8601 (UTC), and as seconds since 1970 in NAME_s.

    An instant is a number named `at`, `since`, `until` or with a name that ends in `_at`, at any depth.

    Examples
    --------
    >>> json_line("page", {"url": "https://example.org/", "visited_at": 1.5, "due_at": None})
    '{"event": "page", "url": "https://example.org/", "visited_at": "1970-01-01T00:00:01.500Z", "visited_at_s": 1.5, \
"due_at": null}'
    """
    assert event in EVENTS, "documented"
    return json.dumps({"event": event, **dated(fields)})


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
    """Return fields with every instant in ISO 8601, and as seconds since 1970 in NAME_s."""
    found = dict[str, object]()
    for name, value in fields.items():
        if name == "event":
            continue
        instant = name in _INSTANTS or name.endswith(_SUFFIX)
        if instant and isinstance(value, int | float) and not isinstance(value, bool):
            found[name], found[f"{name}_s"] = iso(value), value
        else:
            found[name] = _inside(value)
    return found


def _inside(value: object) -> object:
    if isinstance(value, Mapping):
        return dated(cast("Mapping[str, Any]", value))
    if isinstance(value, list | tuple):
        return [_inside(each) for each in cast("list[object]", value)]
    return value
