"""The figures of `evercrawl lab backtest` as PNG: freshness by budget, and calibration of P(fresh)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from evercrawl.cli.show.figures.calibration import reliability
from evercrawl.lab.figures.lettering import DASHES, MARKS, canvas, legend_below

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evercrawl.lab.backtest.rows import Mean, ReplayRow

_INCHES: Final = (4.6, 3.6)
_COLUMNS: Final = 3
_LEAST: Final = 1e-5  # smallest stale share of the time on the axis


def freshness(sites: Mapping[str, Sequence[ReplayRow | Mean]], path: Path) -> None:
    """Write freshness by budget with intervals, a panel for each site; matplotlib must be installed.

    The scale is logarithmic in the stale share, because each halving of it is as hard as the last.
    """
    figure, panels = _panels(len(sites))
    for axes, (name, rows) in zip(panels, sites.items(), strict=True):
        for number, policy in enumerate(dict.fromkeys(row.policy for row in rows)):
            _curve(axes, [row for row in rows if row.policy == policy], number)
        _scaled(axes, sorted({row.budget for row in rows}))
        _named(axes, name, "polls per page and day", "% of the time fresh")
    _saved(figure, path)


def calibration(rows: Sequence[ReplayRow | Mean], path: Path) -> None:
    """Write the observed share of fresh copies by the predicted one, with 95 % intervals, to a file.

    There is a panel for each budget, with a curve for each policy that makes predictions.
    """
    budgets = list(dict.fromkeys(row.budget for row in rows))
    figure, panels = _panels(len(budgets))
    for axes, budget in zip(panels, budgets, strict=True):
        axes.plot([0, 100], [0, 100], color="grey", linewidth=0.8)
        for number, row in enumerate(row for row in rows if row.budget == budget):
            if row.calibration.count:
                reliability(axes, row.calibration, 100.0, **_look(number), capsize=2, linewidth=1.0, label=row.policy)
        _named(axes, f"{budget:g} polls per page and day", "P(fresh) as believed, %", "fresh, %")
    _saved(figure, path)


def _look(number: int) -> dict[str, Any]:
    """Return the mark and the dashes of a curve; colours repeat with the marks, and then the dashes change."""
    again, place = divmod(number, len(MARKS))
    return {"marker": MARKS[place], "linestyle": DASHES[again % len(DASHES)], "color": f"C{place}"}


def _scaled(axes: Any, budgets: Sequence[float]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    axes.set_yscale("log")
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(_fresh)


def _fresh(stale: float, _: int) -> str:
    """Return the label of a tick."""
    return f"{100.0 * (1.0 - stale):.6g}"


def _curve(axes: Any, rows: Sequence[ReplayRow | Mean], number: int) -> None:
    stale = [max(1.0 - row.freshness, _LEAST) for row in rows]
    below = [max(at - max(1.0 - row.high, _LEAST), 0.0) for at, row in zip(stale, rows, strict=True)]
    above = [max(max(1.0 - row.low, _LEAST) - at, 0.0) for at, row in zip(stale, rows, strict=True)]
    axes.errorbar(
        [row.budget for row in rows], stale, [below, above], **_look(number), markersize=4,
        capsize=2, linewidth=1.2, label=rows[0].policy,
    )  # fmt: skip


def _panels(count: int) -> tuple[Any, list[Any]]:
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    figure = canvas((_INCHES[0] * columns, _INCHES[1] * rows))
    return figure, [figure.add_subplot(rows, columns, number + 1) for number in range(count)]


def _named(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)


def _saved(figure: Any, path: Path) -> None:
    legend_below(figure, fontsize=8)
    figure.savefig(path, format="png")
