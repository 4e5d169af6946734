"""The lines of `--json`: an object per line, which begins with its kind; times are in two formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from evercrawl.ask.instants import dated

EVENTS: Final = {
    "progress": "the state of a running crawl, once a second",
    "message": "a message for people",
    "start": "a run begins, in the log of a run",
    "visit": "a visit, in the log of a run: why it failed",
    "alert": "a condition that needs attention",
    "end": "the last line: the result of the command",
    "error": "why the command failed, or what is wrong with its arguments",
    "status": "the state of a crawl",
    "target": "the rate that meets the targets",
    "calibration": "predicted and observed freshness",
    "memory": "memory use by part",
    "why": "everything that decides when a page is visited",
    "page": "a page of a list",
    "site": "a site of a list",
    "hit": "a page that was found",
    "copy": "a page that contains a text, or part of it",
    "copies": "the text searched for, and the number of copies found",
    "content": "a page with its content",
    "change": "a change of a page",
    "version": "one content of a page, and when it was seen",
    "plan": "freshness by budget",
    "suspicion": "a page or site that may be spam, with the evidence",
    "usage": "what people searched for, saw and opened",
    "selection": "totals of the sites chosen",
    "agreement": "how well a choice agrees with ratings",
    "verify": "whether a directory is consistent",
    "backup": "what was copied",
    "moved": "where a partition is now",
    "drained": "what a machine of a cluster still has of a crawl",
    "rebalanced": "how many partitions move between machines",
    "upgrade": "the formats of a directory, and what was converted",
    "versions": "the versions in use",
    "demo": "what the demonstration learned",
    "world": "a simulated world",
    "counts": "what a crawl in partitions would come to",
    "row": "a row of a comparison",
    "claim": "a published claim, and what was found",
    "experiment": "an experiment of the lab",
    "evolution": "how a group of pages changes",
    "order": "an order and its result",
    "forgotten": "what was removed, and which copies cannot be reached",
    "orders": "how the crawl is steered, and its last orders",
    "serving": "the address of the server, once it answers",
    "policy": "a policy with its parameters and tables",
}
"""Every kind of `event`, and the content of its line."""


def json_line(event: str, fields: Mapping[str, object]) -> str:
    """Return a line: `event`, then the fields; every time in ISO 8601 (UTC), and as seconds since 1970 in NAME_s.

    A time is a number named `at`, `since`, `until`, or with a name that ends in `_at`, at any depth.

    Examples
    --------
    >>> json_line("page", {"url": "https://example.org/", "visited_at": 1.5, "due_at": None})
    '{"event": "page", "url": "https://example.org/", "visited_at": "1970-01-01T00:00:01.500Z", "visited_at_s": 1.5, \
"due_at": null}'
    """
    assert event in EVENTS, "documented"
    return json.dumps({"event": event, **dated(fields)})
