"""Figures that rest on too few visits: they say how many more it takes."""

from __future__ import annotations

from typing import Final

from evercrawl.cli.show.plain import many

ENOUGH: Final = 10
"""Visits that a share has to rest on: with fewer, the 95 % interval of one half is wider than 0.6."""


def too_early(count: int, what: str = "visits", which: str = "") -> str:
    """Return the sentence that stands in place of a figure, or "" where `count` is enough.

    Examples
    --------
    >>> too_early(3, "visits", "to old pages"), too_early(9, "probes"), too_early(10)
    ('too early: 7 visits more to old pages', 'too early: 1 probe more', '')
    """
    return f"too early: {many(ENOUGH - count, what)} more {which}".rstrip() if count < ENOUGH else ""
