"""A curve drawn with characters, for terminals and files of text."""

import math
from collections.abc import Sequence
from typing import Final

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
    r"""Return lines that show y, shares from 0 to 1, over x on a logarithmic scale; between points it is a line.

    Parameters
    ----------
    x, y
        At least one point, x above 0 and ascending.
    here
        A point that is marked.
    width, height
        Characters of the drawing, the axes left aside.

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
    """Return y where the logarithm of x is `at`, straight between two points."""
    for (x0, y0), (x1, y1) in zip(zip(x, y, strict=True), list(zip(x, y, strict=True))[1:], strict=False):
        begun, ended = math.log(x0), math.log(x1)
        if at <= ended:
            return y0 + (y1 - y0) * max(at - begun, 0.0) / (ended - begun) if ended > begun else y1
    return y[-1]
