"""Draw what an experiment found, as a PNG that is small enough for a page of documentation."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from numpy import asarray

from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evercrawl.lab.base import Findings, Panel

_INCHES: Final = (5.2, 3.9)
_DPI: Final = 80
_COLUMNS: Final = 2
_NAMED: Final = 2  # names in a row of the legend, a column of panels
_COLOURS: Final = 64
_MARKS: Final = "os^vDPX*<>"


def draw(findings: Findings, path: Path) -> None:
    """Write the figure.

    Raises
    ------
    ConfigError
        When matplotlib is not there.
    """
    require()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    columns = min(_COLUMNS, len(findings.panels))
    rows = math.ceil(len(findings.panels) / columns)
    figure: Any = Figure(figsize=(_INCHES[0] * columns, _INCHES[1] * rows), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(findings.title, fontsize=11)
    for number, panel in enumerate(findings.panels, 1):
        _panel(figure.add_subplot(rows, columns, number), panel)
    _legend(figure, columns)
    figure.canvas.draw()
    drawn = Image.fromarray(asarray(figure.canvas.buffer_rgba())).convert("RGB")
    drawn.quantize(_COLOURS).save(path, optimize=True)  # the same numbers make the same file


def can_draw() -> bool:
    """Whether figures can be drawn here."""
    return find_spec("matplotlib") is not None


def require() -> None:
    """See that figures can be drawn.

    Raises
    ------
    ConfigError
        When matplotlib is not there.
    """
    if not can_draw():
        raise ConfigError("figures need matplotlib: pip install evercrawl[lab]")


def _panel(axes: Any, panel: Panel) -> None:
    if panel.bars:
        _bars(axes, panel)
    else:
        _lines(axes, panel)
    axes.set_title(panel.title, fontsize=10)
    axes.set_xlabel(panel.x, fontsize=9)
    axes.set_ylabel(panel.y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
    if panel.log:
        axes.set_yscale("log")
    if panel.named:
        axes.set_xticks(range(len(panel.named)), panel.named)
    if panel.percent:
        axes.set_xscale("log")
        axes.set_xticks(ticks := percents(panel), [f"{each:g}" for each in ticks])
        axes.minorticks_off()


def percents(panel: Panel) -> list[float]:
    """Return the percentages at which something was measured, in their order."""
    return sorted({round(x, 9) for curve in panel.curves for x in curve.x})


def _legend(figure: Any, columns: int) -> None:
    """Name all curves of all panels, each once, below the panels, where they hide nothing."""
    named = dict[str, Any]()
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if named:
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=_NAMED * columns, fontsize=7.5)


def _lines(axes: Any, panel: Panel) -> None:
    for number, curve in enumerate(panel.curves):
        style: dict[str, Any] = {"linewidth": 2.6, "color": "black"} if curve.ours else {"linewidth": 1.2}
        style["linestyle"] = "-" if number < len(_MARKS) else "--"  # colours and marks come again
        axes.plot(curve.x, curve.y, marker=_MARKS[number % len(_MARKS)], markersize=4, label=curve.label, **style)


def _bars(axes: Any, panel: Panel) -> None:
    width = 0.8 / max(len(panel.curves), 1)
    for number, curve in enumerate(panel.curves):
        places = [x + (number - (len(panel.curves) - 1) / 2) * width for x in curve.x]
        axes.bar(places, curve.y, width, label=curve.label, **({"color": "black"} if curve.ours else {}))


def formed(values: Sequence[float]) -> list[float]:
    """Return parts of 1 as percentages.

    >>> formed([0.02, 0.5])
    [2.0, 50.0]
    """
    return [100.0 * value for value in values]
