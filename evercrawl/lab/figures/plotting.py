"""Drawing of an experiment's results as a PNG small enough for documentation."""

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from numpy import asarray

from evercrawl.errors import ConfigError
from evercrawl.lab.base import Panel, Results
from evercrawl.lab.figures.lettering import Styles, canvas, headed, legend_below, measured, titled

_INCHES: Final = (5.2, 3.9)
_DPI: Final = 80
_ALONE: Final = (7.6, 4.4)
_ROW: Final = 0.28  # height of a curve's row in a dot plot, in inches
_DOTS: Final = 4.6  # width of a dot plot without the names, in inches
_TICK: Final = 8  # font size at ticks, in points
_COLUMNS: Final = 2
_NAMED: Final = 3  # maximum names in a row of the legend, per column of panels
_COLOURS: Final = 256


def draw(findings: Results, path: Path) -> None:
    """Write the figure to a file.

    Raises
    ------
    ConfigError
        If matplotlib is not installed.
    """
    require()
    from PIL import Image

    made = figure(findings)
    made.canvas.draw()
    drawn = Image.fromarray(asarray(made.canvas.buffer_rgba())).convert("RGB")
    drawn.quantize(_COLOURS).save(path, optimize=True)  # the same numbers make the same file


def figure(findings: Results) -> Any:
    """Return the matplotlib figure; matplotlib must be installed.

    A curve has the same style in every panel, different from all others.
    """
    columns = min(_COLUMNS, len(findings.panels))
    rows = math.ceil(len(findings.panels) / columns)
    styles = Styles(findings.panels)
    made = canvas(dpi=_DPI)
    width, height = _size(made, findings.panels)
    made.set_size_inches(width * columns, height * rows)
    headed(made, findings.title, fontsize=11)
    for number, panel in enumerate(findings.panels, 1):
        _panel(made.add_subplot(rows, columns, number), panel, styles)
    legend_below(made, fontsize=7.5, most=_NAMED * columns)
    return made


def _size(made: Any, panels: Sequence[Panel]) -> tuple[float, float]:
    """Return the size of each panel in inches, so that names beside it leave room for the drawing."""
    width, height = _INCHES if len(panels) > 1 else _ALONE
    names = [[curve.label for curve in panel.curves] for panel in panels if dotted(panel)]
    beside = max((measured(made, name, _TICK) for each in names for name in each), default=0.0)
    return max(width, _DOTS + beside / _DPI), max(height, _ROW * max(map(len, names), default=0))


def can_draw() -> bool:
    """Return whether figures can be drawn here."""
    return find_spec("matplotlib") is not None


def require() -> None:
    """Check that figures can be drawn.

    Raises
    ------
    ConfigError
        If matplotlib is not installed.
    """
    if not can_draw():
        raise ConfigError("figures need matplotlib: pip install 'evercrawl[lab]'")


def _panel(axes: Any, panel: Panel, styles: Styles) -> None:
    titled(axes, panel.title, fontsize=10)
    axes.tick_params(labelsize=_TICK)
    axes.grid(alpha=0.3)
    if dotted(panel):
        _dots(axes, panel)
        return
    draws = _bars if panel.bars else _lines
    draws(axes, panel, styles)
    axes.set_xlabel(panel.x, fontsize=9)
    axes.set_ylabel(panel.y, fontsize=9)
    if panel.log:
        axes.set_yscale("log")
    if panel.named:
        axes.set_xticks(range(len(panel.named)), panel.named)
    if panel.percent:
        axes.set_xscale("log")
        axes.set_xticks(ticks := percents(panel), [f"{each:g}" for each in ticks])
        axes.minorticks_off()


def dotted(panel: Panel) -> bool:
    """Return whether a panel of budgets has only one budget, so that its points would hide each other."""
    return panel.percent and len(percents(panel)) == 1


def percents(panel: Panel) -> list[float]:
    """Return the percentages with measurements, in ascending order."""
    return sorted({round(x, 9) for curve in panel.curves for x in curve.x})


def _dots(axes: Any, panel: Panel) -> None:
    """Draw a dot plot: a row for each curve, with its name and a point.

    References
    ----------
    Cleveland (1984). Graphical methods for data presentation: full scale breaks, dot charts, and multibased logging.
    """
    for place, curve in enumerate(panel.curves):
        axes.plot(curve.y, [place], "o", color="black" if curve.ours else "C0", markersize=7 if curve.ours else 5)
    axes.set_yticks(range(len(panel.curves)), [curve.label for curve in panel.curves])
    axes.set_ylim(len(panel.curves) - 0.5, -0.5)
    axes.set_xlabel(f"{panel.y}; {panel.x}: {percents(panel)[0]:g}", fontsize=9)


def _lines(axes: Any, panel: Panel, styles: Styles) -> None:
    for curve in panel.curves:
        axes.plot(curve.x, curve.y, markersize=4, label=curve.label, **styles.line(curve))


def _bars(axes: Any, panel: Panel, styles: Styles) -> None:
    width = 0.8 / max(len(panel.curves), 1)
    for number, curve in enumerate(panel.curves):
        places = [x + (number - (len(panel.curves) - 1) / 2) * width for x in curve.x]
        axes.bar(places, curve.y, width, label=curve.label, **styles.bar(curve))


def formed(values: Sequence[float]) -> list[float]:
    """Return shares of 1 as percentages.

    >>> formed([0.02, 0.5])
    [2.0, 50.0]
    """
    return [100.0 * value for value in values]
