"""How `evercrawl plan` writes rates and budgets: in a table each in its own period, on an axis all in one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evercrawl.cli.plan_budget import DAY_S
from evercrawl.cli.show.lines import size

if TYPE_CHECKING:
    from evercrawl.ask.plan.curve import Point
    from evercrawl.ask.plan.outlook import Outlook

_PERIODS: Final = (("a second", 1.0), ("a minute", 60.0), ("an hour", 3_600.0), ("a day", DAY_S))


def rate(per_s: float, nouns: str = "visits") -> str:
    """Return a rate in the shortest period of which it is at least one.

    Examples
    --------
    >>> rate(20.0), rate(0.5), rate(1e-6)
    ('20 visits a second', '30 visits a minute', '0.086 visits a day')
    """
    name, length_s = _period(per_s)
    count = per_s * length_s
    return f"{count:,.0f} {nouns} {name}" if count >= 9.95 else f"{count:.2g} {nouns} {name}"


def budget(found: Outlook, point: Point) -> str:
    """Return what a point spends."""
    if found.unit == "bytes":
        return f"{size(point.budget * DAY_S)} a day"
    return rate(point.budget, "fetches")


def period(found: Outlook) -> tuple[str, float]:
    """Return the period of most budgets of the table, the longer of two, and how many seconds it has."""
    if found.unit == "bytes":
        return _PERIODS[-1]
    often = Counter(_period(point.budget) for point in found.points)
    return max(often, key=lambda each: (often[each], each[1]))


def curve_words(found: Outlook) -> str:
    """Return what the curve is of."""
    return "fresh in the long run" if found.curve == "price" else "fresh in the best order"


def here_words(found: Outlook) -> str:
    """Return what the present pace brings, as it is drawn: what the policy keeps, where that can be foretold."""
    if found.planned is not None:
        return f"at the present pace, as {found.policy} spreads it"
    return "at the present pace" if found.curve == "price" else "in the best order at the present pace"


def _period(per_s: float) -> tuple[str, float]:
    return next(((name, s) for name, s in _PERIODS if per_s * s >= 1.0), _PERIODS[-1])
