"""Style of figures: colours, marks, and titles and legends that fit the available width."""

from collections.abc import Iterable
from itertools import count
from typing import Any, Final

from evercrawl.lab.base import Panel, PanelCurve

MARKS: Final = "os^vDPX*<>"
DASHES: Final = ("-", "--", ":", "-.")
_HATCHES: Final = ("", "///", "...", "xxx")
_COLOURS: Final = 10  # of matplotlib's cycle, C0 to C9

_MOST: Final = 6  # maximum names in a row of a legend
_SIDES: Final = 0.04  # share of a figure's width that legends and titles leave free


def canvas(inches: tuple[float, float] | None = None, dpi: float = 100) -> Any:
    """Return an empty matplotlib figure; matplotlib must be installed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made: Any = Figure(figsize=inches, dpi=dpi, layout="constrained")
    FigureCanvasAgg(made)
    return made


class Styles:
    """Colours, marks and dashes by the name of a curve; when all colours are used, the dashes change.

    Examples
    --------
    >>> from evercrawl.lab.base import PanelCurve, Panel
    >>> curves = [PanelCurve(f"{i}", [1.0], [1.0]) for i in range(11)]
    >>> styles = Styles([Panel("", "", "", curves)])
    >>> styles.line(curves[0]), styles.line(curves[10])  # doctest: +NORMALIZE_WHITESPACE
    ({'marker': 'o', 'linestyle': '-', 'color': 'C0', 'linewidth': 1.2},
     {'marker': 's', 'linestyle': '--', 'color': 'C0', 'linewidth': 1.2})
    """

    def __init__(self, panels: Iterable[Panel]) -> None:
        every = dict.fromkeys((curve.ours, curve.label) for panel in panels for curve in panel.curves)
        numbers = {True: count(), False: count()}  # our curves are black and use up no colour
        self._number = {(ours, label): next(numbers[ours]) for ours, label in every}

    def line(self, curve: PanelCurve) -> dict[str, Any]:
        """Return the style of a curve's line; ours is black and thick."""
        again, number = divmod(self._number[curve.ours, curve.label], _COLOURS)
        style = {"marker": MARKS[(number + again) % len(MARKS)], "linestyle": DASHES[again % len(DASHES)]}
        ours = {"color": "black", "linewidth": 2.6}
        return style | (ours if curve.ours else {"color": f"C{number}", "linewidth": 1.2})

    def bar(self, curve: PanelCurve) -> dict[str, Any]:
        """Return the style of a curve's bars; ours are black."""
        again, number = divmod(self._number[curve.ours, curve.label], _COLOURS)
        return {
            "color": "black" if curve.ours else f"C{number}",
            "hatch": _HATCHES[again % len(_HATCHES)], "edgecolor": "white", "linewidth": 0.0,
        }  # fmt: skip


def legend_below(figure: Any, fontsize: float, most: int = _MOST) -> None:
    """Draw one legend for all panels below them, with each name once.

    The legend has as many columns as fit; the figure grows by its height, so that panels stay as large as they were,
    and in width where a single name is too long.

    Parameters
    ----------
    figure
        A matplotlib figure with a constrained layout and all panels drawn.
    fontsize
        In points.
    most
        Maximum number of columns.
    """
    named = dict[str, Any]()
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if not named:
        return
    room = figure.bbox.width * (1.0 - _SIDES)
    legend, columns = _legend(figure, named, fontsize, 1), 1
    while columns < min(most, len(named)):
        wider = _legend(figure, named, fontsize, columns + 1)
        if _extent(wider).width > room:
            wider.remove()
            break
        legend.remove()
        legend, columns = wider, columns + 1
    width, height = figure.get_size_inches()
    box = _extent(legend)
    wide = box.width / figure.dpi / (1.0 - _SIDES)
    figure.set_size_inches(max(width, wide), height + box.height / figure.dpi)


def _legend(figure: Any, named: dict[str, Any], fontsize: float, columns: int) -> Any:
    return figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, fontsize=fontsize)


def _extent(drawn: Any) -> Any:
    """Return the box of a text or a legend, in pixels."""
    return drawn.get_window_extent(drawn.get_figure().canvas.get_renderer())


def titled(axes: Any, title: str, fontsize: float) -> None:
    """Write a title above a panel, wrapped to the width of its part of the figure."""
    axes.set_title(wrapped(axes.figure, title, fontsize, _width(axes)), fontsize=fontsize)


def headed(figure: Any, title: str, fontsize: float) -> None:
    """Write a title above all panels, wrapped to the width of the figure."""
    figure.suptitle(wrapped(figure, title, fontsize, figure.bbox.width * (1.0 - _SIDES)), fontsize=fontsize)


def wrapped(figure: Any, text: str, fontsize: float, width: float) -> str:
    """Return a text wrapped to `width` pixels; a longer single word is not broken."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measured(figure, longer, fontsize) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def measured(figure: Any, text: str, fontsize: float) -> float:
    """Return the width of a text, in pixels."""
    from matplotlib.text import Text

    return float(
        Text(0, 0, text, fontsize=fontsize, figure=figure).get_window_extent(figure.canvas.get_renderer()).width
    )


def _width(axes: Any) -> float:
    """Return the width of a panel's part of the figure, in pixels."""
    columns: int = axes.get_subplotspec().get_gridspec().ncols
    return float(axes.figure.bbox.width) / columns * (1.0 - 4 * _SIDES)
