"""The reliability diagram of `evercrawl status --calibration` as a PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl.lab.figures.lettering import canvas

if TYPE_CHECKING:
    from evercrawl.change.calibration import Calibration

_INCHES: Final = (6.0, 6.4)
_STYLES: Final = (("o", "tab:gray"), ("s", "tab:blue"), ("^", "tab:red"), ("d", "tab:green"))


def draw(found: Mapping[str, Calibration], path: Path) -> None:
    """Write the observed by the predicted share of fresh copies, with 95 % intervals, to a file; needs matplotlib.

    A panel below shows the frequency of predictions.

    References
    ----------
    Murphy, Winkler (1977). Reliability of subjective probability forecasts of precipitation and temperature.
    """
    figure = canvas(_INCHES)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
    for (name, of), (marker, colour) in zip(found.items(), _STYLES, strict=False):
        if of.count:
            _draw(axes, below, name.replace("_", " "), of, marker, colour)
    axes.set_ylabel("share observed fresh")
    axes.set_ylim(-0.02, 1.02)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left")
    axes.set_title("Predicted and observed freshness", fontsize=11)
    below.set_xlabel("predicted P(fresh)")
    below.set_ylabel("visits, %")
    below.set_xlim(-0.02, 1.02)
    figure.savefig(path, format="png")


def _draw(axes: Any, below: Any, name: str, of: Calibration, marker: str, colour: str) -> None:
    bins = of.table()
    label = f"{name}: {of.count:,}, expected calibration error {100 * of.expected_error:.1f} points"
    reliability(axes, of, fmt=f"-{marker}", color=colour, linewidth=0.8, label=label)
    edges = [*bins.low.tolist(), 1.0]
    below.stairs(100 * bins.count / max(of.count, 1), edges, color=colour)


def reliability(axes: Any, of: Calibration, scale: float = 1.0, **look: Any) -> None:
    """Draw the observed by the predicted share of fresh copies, with 95 % intervals."""
    bins = of.table()
    some = bins.count > 0
    said, seen = scale * bins.predicted[some], scale * bins.observed[some]
    reach = [seen - scale * bins.at_least[some], scale * bins.at_most[some] - seen]
    axes.errorbar(said, seen, reach, markersize=4, **look)
