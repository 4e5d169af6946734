"""The tables of `evercrawl lab backtest`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from evercrawl.cli.show.plain import many
from evercrawl.cli.show.words import span, table

if TYPE_CHECKING:
    from evercrawl.lab.backtest.rows import Mean, ReplayRow

_LEFT: Final = frozenset({"policy", "site"})
SITES: Final = 10
"""Maximum number of sites shown per history."""


def of_one(name: str, rows: Sequence[ReplayRow]) -> list[str]:
    """Return the lines about one history."""
    one = rows[0]
    of = "" if one.drawn == one.pages else f", in {one.drawn:,} folders"
    head = f"{name}: {many(one.pages, 'pages')}; 95 % intervals for a new sample of such pages{of}"
    names = (
        "policy", "budget", "fresh %", "95 % interval", f"points over {one.policy}", "words fresh %", "mean age",
        "wasted polls %", "first sight", "never seen", "calibration error %", "gap closed",
    )  # fmt: skip
    return ["", head, *_shown(names, [_cells(row) for row in rows]), *_idle(rows)]


def _idle(rows: Sequence[ReplayRow]) -> list[str]:
    """Return a line about a replay too short for a single poll."""
    budgets = [f"{budget:g}" for budget in dict.fromkeys(row.budget for row in rows)]
    idle = [each for each in budgets if not any(row.polls for row in rows if f"{row.budget:g}" == each)]
    if not idle:
        return []
    return [f"no poll fits into so short a time at {', '.join(idle)} polls per page and day; use a larger --budget"]


def of_parts(sites: Sequence[Sequence[ReplayRow]], there: int) -> list[str]:
    """Return the lines about the largest sites of one history out of all its sites; none for a single site."""
    if not sites:
        return []
    more = there - SITES
    head = f"{f'its {SITES} largest sites' if more > 0 else 'its sites'}, which share the budget"
    names = (
        "site", "pages", "policy", "budget", "fresh %", "95 % interval", f"points over {sites[0][0].policy}", "polls",
        "wasted polls %", "calibration error %", "gap closed",
    )  # fmt: skip
    cells: list[tuple[str, ...]] = [
        (
            row.site, f"{row.pages:,}", row.policy, f"{row.budget:g}", _percent(row.freshness),
            _range(row.low, row.high), _points(row), f"{row.polls:,}", _wasted(row),
            _percent(row.expected_calibration_error, 1), _part(row.gap_closed),
        )
        for rows in sites for row in rows
    ]  # fmt: skip
    return ["", head, *_shown(names, cells), *([f"and {many(more, 'sites')} more"] if more > 0 else [])]


def of_all(rows: Sequence[Mean]) -> list[str]:
    """Return the lines about the mean over the sites."""
    one = rows[0]
    head = f"mean over {one.sites} histories; 95 % intervals for a new sample of such sites"
    names = (
        "policy", "budget", "fresh %", "95 % interval", f"points over {one.policy}", "words fresh %", "mean age",
        "better on", "gap closed", "gap, 95 % interval",
    )  # fmt: skip
    return ["", head, *_shown(names, [_mean_cells(row) for row in rows])]


def _shown(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return a table without empty columns."""
    kept = [at for at in range(len(names)) if any(row[at] for row in rows)]
    return table(tuple(names[at] for at in kept), [tuple(row[at] for at in kept) for row in rows], _LEFT)


def _cells(row: ReplayRow) -> tuple[str, ...]:
    return (
        row.policy, f"{row.budget:g}", _percent(row.freshness), _range(row.low, row.high),
        _points(row), _percent(row.content_freshness), span(row.age_s),
        _wasted(row),
        "never" if row.first_sight_s == math.inf else "" if math.isnan(row.first_sight_s) else span(row.first_sight_s),
        f"{row.unseen:,}" if row.unseen else "", _percent(row.expected_calibration_error, 1), _part(row.gap_closed),
    )  # fmt: skip


def _mean_cells(row: Mean) -> tuple[str, ...]:
    return (
        row.policy, f"{row.budget:g}", _percent(row.freshness), _range(row.low, row.high),
        _points(row), _percent(row.content_freshness), span(row.age_s),
        f"{row.better} of {row.sites}" if _points(row) else "",
        _part(row.gap_closed), f"{_part(row.gap_low)} to {_part(row.gap_high)}" if _part(row.gap_low) else "",
    )  # fmt: skip


def _points(row: ReplayRow | Mean) -> str:
    """Return the difference to the first policy in points; "" for the first policy itself.

    >>> from types import SimpleNamespace
    >>> _points(SimpleNamespace(difference=-0.0123, difference_low=-0.02, difference_high=0.001))
    '-1.23 (-2.00 to +0.10)'
    """
    if row.difference == row.difference_low == row.difference_high == 0.0:
        return ""
    low, high = 100.0 * row.difference_low, 100.0 * row.difference_high
    return f"{100.0 * row.difference:+.2f} ({low:+.2f} to {high:+.2f})"


def _wasted(row: ReplayRow) -> str:
    """Return the share of wasted polls, with its interval."""
    if math.isnan(row.wasted):
        return ""
    return f"{_percent(row.wasted, 1)} ({_percent(row.wasted_low, 1)} to {_percent(row.wasted_high, 1)})"


def _range(low: float, high: float) -> str:
    return f"{_percent(low)} to {_percent(high)}"


def _percent(share: float, digits: int = 2) -> str:
    return "" if math.isnan(share) else f"{100.0 * share:.{digits}f}"


def _part(share: float) -> str:
    return "" if math.isnan(share) else f"{share:+.2f}"
