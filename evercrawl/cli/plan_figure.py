"""The curve of `evercrawl plan` as a PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

    from evercrawl.crawl.outlook import Outlook

_INCHES: Final = (7.0, 4.4)
_DPI: Final = 100
_DAY_S: Final = 86_400.0


def draw(found: Outlook, path: Path) -> None:
    """Write freshness and what a tenth more would bring, by budget, to a file; matplotlib has to be there."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    budgets = [point.budget * _DAY_S for point in found.points]
    axes.plot(budgets, [100.0 * point.freshness for point in found.points], "k-o", label="fresh in the long run")
    if found.now is not None:
        axes.plot([found.now.budget * _DAY_S], [100.0 * found.now.freshness], "ro", label="at the present pace")
    axes.set_xscale("log")
    axes.set_ylim(0.0, 100.0)
    axes.set_xlabel(f"{found.unit} a day")
    axes.set_ylabel("% of the copies, by what they are worth")
    beside = axes.twinx()
    gains = [10.0 * point.marginal * point.budget for point in found.points]
    beside.plot(budgets, gains, "b--", linewidth=1.0, label="what 10 % more bring (right)")
    beside.set_ylim(bottom=0.0)
    beside.set_ylabel("points")
    axes.set_title(f"What a budget brings{f' {found.site}' if found.site else ''}", fontsize=11)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(path, format="png")
