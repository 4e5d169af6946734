"""A curve drawn with characters, for terminals and text files.

`evercrawl plan` writes rates and budgets in a table each in its own period, and on an axis all in the same period.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from evercrawl.cli.plan_budget import DAY_S
from evercrawl.cli.show.lines import size

if TYPE_CHECKING:
    from evercrawl.ask.plan.curve import Point
    from evercrawl.ask.plan.outlook import Outlook


_PERIODS: Final = (("a second", 1.0), ("a minute", 60.0), ("an hour", 3_600.0), ("a day", DAY_S))


def rate(per_s: float, nouns: str = "visits") -> str:
    """Return a rate in the shortest period in which it is at least 1.

    Examples
    --------
    >>> rate(20.0), rate(0.5), rate(1e-6)
    ('20 visits a second', '30 visits a minute', '0.086 visits a day')
    """
    name, length_s = _period(per_s)
    count = per_s * length_s
    return f"{count:,.0f} {nouns} {name}" if count >= 9.95 else f"{count:.2g} {nouns} {name}"


def budget(found: Outlook, point: Point) -> str:
    """Return the budget of a point."""
    if found.unit == "bytes":
        return f"{size(point.budget * DAY_S)} a day"
    return rate(point.budget, "fetches")


def period(found: Outlook) -> tuple[str, float]:
    """Return the most frequent period of the table's budgets (the longer of two), and its length in seconds."""
    if found.unit == "bytes":
        return _PERIODS[-1]
    often = Counter(_period(point.budget) for point in found.points)
    return max(often, key=lambda each: (often[each], each[1]))


def curve_words(found: Outlook) -> str:
    """Return the title of the curve."""
    return "fresh in the long run" if found.curve == "price" else "fresh in the best order"


def here_words(found: Outlook) -> str:
    """Return the freshness at the present pace, as drawn: that of the policy, if it can be predicted."""
    if found.planned is not None:
        return f"at the present pace, ordered by {found.policy}"
    return "at the present pace" if found.curve == "price" else "in the best order at the present pace"


def _period(per_s: float) -> tuple[str, float]:
    return next(((name, s) for name, s in _PERIODS if per_s * s >= 1.0), _PERIODS[-1])


WIDTH: Final = 60
HEIGHT: Final = 12
_LINE, _HERE = "*", "O"


def chart(
    x: Sequence[float],
    y: Sequence[float],
    here: tuple[float, float] | None = None,
    *,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> list[str]:
    r"""Return lines that draw y, shares from 0 to 1, over x on a logarithmic scale, with straight lines between points.

    Parameters
    ----------
    x, y
        At least one point; x is positive and ascending.
    here
        A point that is marked.
    width, height
        Size of the drawing in characters, without the axes.

    Examples
    --------
    >>> print("\n".join(chart([1.0, 10.0, 100.0], [0.0, 0.5, 1.0], (10.0, 0.5), width=5, height=3)))
    100 %|   **
         |  O
      0 %|**
         +-----
    """
    low, high = math.log(x[0]), math.log(x[-1])
    cells = [[" "] * width for _ in range(height)]
    for column in range(width):
        level = _between(x, y, low + (high - low) * column / max(width - 1, 1))
        cells[_row(level, height)][column] = _LINE
    if here is not None and x[0] <= here[0] <= x[-1]:
        span = high - low
        cells[_row(here[1], height)][round((math.log(here[0]) - low) / span * (width - 1)) if span else 0] = _HERE
    marks = {0: "100 %", height - 1: "  0 %"}
    lines = [f"{marks.get(row, ''):>5}|{''.join(line)}".rstrip() for row, line in enumerate(cells)]
    return [*lines, f"{'':5}+{'-' * width}"]


def _row(level: float, height: int) -> int:
    return round((1.0 - min(max(level, 0.0), 1.0)) * (height - 1))


def _between(x: Sequence[float], y: Sequence[float], at: float) -> float:
    """Return y where the logarithm of x is `at`, interpolated linearly."""
    for (x0, y0), (x1, y1) in zip(zip(x, y, strict=True), list(zip(x, y, strict=True))[1:], strict=False):
        begun, ended = math.log(x0), math.log(x1)
        if at <= ended:
            return y0 + (y1 - y0) * max(at - begun, 0.0) / (ended - begun) if ended > begun else y1
    return y[-1]
