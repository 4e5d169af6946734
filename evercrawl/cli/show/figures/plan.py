"""The curve of `evercrawl plan` as a PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl.cli.show.chart import curve_words, here_words, period
from evercrawl.cli.show.lines import size
from evercrawl.cli.show.words import percent
from evercrawl.lab.figures.lettering import canvas, legend_below, titled

if TYPE_CHECKING:
    from evercrawl.ask.plan.outlook import Outlook

_INCHES: Final = (7.0, 4.4)
_MILLION: Final = 1e6
_FEW: Final = 1_000.0  # ratio of an axis's ends up to which each decade has three numbers


def draw(found: Outlook, path: Path) -> None:
    """Write freshness, and the gain from 10 % more, by budget, to a file; matplotlib must be installed."""
    figure(found).savefig(path, format="png")


def figure(found: Outlook) -> Any:
    """Return the figure: the curve, and the freshness at the present pace with its policy; budgets as in the table."""
    made = canvas(_INCHES)
    axes, (name, length_s) = made.add_subplot(), period(found)
    _curve(axes, found, length_s)
    _scaled(axes, found)
    axes.set_ylim(0.0, 100.0)
    axes.set_xlabel(f"{found.unit} {name}")
    axes.set_ylabel("% of the copies, weighted by importance")
    beside = axes.twinx()
    gains = [10.0 * point.marginal * point.budget for point in found.line]
    label = "gain from 10 % more" + ("" if found.curve == "price" else " in the best order") + " (right)"
    beside.plot([point.budget * length_s for point in found.line], gains, "b--", linewidth=1.0, label=label)
    beside.set_ylim(bottom=0.0)
    beside.set_ylabel("points")
    titled(axes, f"Freshness by budget{f' {found.site}' if found.site else ''}", fontsize=11)
    axes.grid(alpha=0.3)
    legend_below(made, fontsize=8)
    return made


def _scaled(axes: Any, found: Outlook) -> None:
    """Make the axis of budgets logarithmic, with round numbers at the ticks."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    wide = found.line[-1].budget > _FEW * found.line[0].budget

    def told(budget: float, _: int) -> str:
        if found.unit == "bytes":
            return size(budget)
        return f"{budget:,.6g}" if budget < _MILLION else f"{budget / _MILLION:,.6g} M"

    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
    axes.xaxis.set_major_formatter(told)
    axes.xaxis.set_minor_formatter(NullFormatter())


def _curve(axes: Any, found: Outlook, length_s: float) -> None:
    """Draw the curve, the points of the table, and the present pace: that of the policy, if it can be predicted."""
    line, places = found.line, [found.line.index(point) for point in found.points if point in found.line]
    axes.plot(
        [point.budget * length_s for point in line], [100.0 * point.freshness for point in line], "k-o",
        markevery=places, label=curve_words(found),
    )  # fmt: skip
    here = found.planned or found.now
    if found.planned is not None and found.now is not None:
        label = f"best order at the present pace: {percent(found.now.freshness)}"
        axes.plot([found.now.budget * length_s], [100.0 * found.now.freshness], "ks", markerfacecolor="w", label=label)
    if here is not None:
        label = f"{here_words(found)}: {percent(here.freshness)}"
        axes.plot([here.budget * length_s], [100.0 * here.freshness], "ro", label=label)
