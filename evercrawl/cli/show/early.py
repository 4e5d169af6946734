"""Figures based on too few visits, replaced by the number of visits still needed."""

from __future__ import annotations

from typing import Final

ENOUGH: Final = 10
"""Minimum number of visits behind a share: with fewer, the 95 % interval of one half is wider than 0.6."""


def too_early(count: int, what: str = "visits", which: str = "") -> str:
    """Return the sentence that replaces a figure, or "" if `count` is sufficient.

    Examples
    --------
    >>> too_early(3, "visits", "to old pages"), too_early(9, "probes"), too_early(10)
    ('too early: needs 7 more visits to old pages', 'too early: needs 1 more probe', '')
    """
    missing = ENOUGH - count
    noun = what.removesuffix("s") if missing == 1 else what
    return f"too early: needs {missing} more {noun} {which}".rstrip() if count < ENOUGH else ""
