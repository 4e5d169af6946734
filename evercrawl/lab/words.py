"""Figures as claims have them."""

from __future__ import annotations

from typing import Final

_SMALL: Final = 0.1


def percent(part: float) -> str:
    """Return a part of 1 as a percentage with as many digits as tell something.

    >>> percent(0.08379), percent(0.0193601), percent(0.00046), percent(0.3604), percent(0.0)
    ('8.4 %', '1.94 %', '0.046 %', '36 %', '0 %')
    """
    value = 100.0 * part
    if abs(value) < _SMALL:
        return f"{value:.2g} %"
    return f"{value:.{0 if abs(value) >= 20 else 1 if abs(value) >= 5 else 2}f} %"


def both(mean: float, top: float) -> str:
    """Return two errors, of all pages and of the most important tenth.

    >>> both(0.0193601, 0.0083)
    '1.94 / 0.83 %'
    """
    return f"{percent(mean)[:-2]} / {percent(top)}"


def plain(*parts: float) -> str:
    """Return round parts of 1, which were chosen and not measured, as percentages.

    >>> plain(0.1), plain(0.025, 0.011)
    ('10 %', '2.5 / 1.1 %')
    """
    return " / ".join(f"{100 * part:.6g}" for part in parts) + " %"
