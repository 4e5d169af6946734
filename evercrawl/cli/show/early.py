"""Figures that rest on too few visits: they say how many more it takes."""

from __future__ import annotations

from typing import Final

ENOUGH: Final = 10
"""Visits that a share has to rest on: with fewer, the 95 % interval of one half is wider than 0.6."""


def too_early(count: int, what: str = "visits", which: str = "") -> str:
    """Return the sentence that stands in place of a figure, or "" where `count` is enough.

    Examples
    --------
    >>> too_early(3, "visits", "to old pages"), too_early(9, "probes"), too_early(10)
    ('too early: needs 7 more visits to old pages', 'too early: needs 1 more probe', '')
    """
    missing = ENOUGH - count
    noun = what.removesuffix("s") if missing == 1 else what
    return f"too early: needs {missing} more {noun} {which}".rstrip() if count < ENOUGH else ""
