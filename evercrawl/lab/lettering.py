"""Titles and legends of figures: as wide as there is room, and never wider. Widths are measured, not guessed."""

from __future__ import annotations

from typing import Any, Final

_MOST: Final = 6  # names in a row of a legend
_SIDES: Final = 0.04  # of a figure's width that is left free beside legends and titles


def legend_below(figure: Any, fontsize: float, most: int = _MOST) -> None:
    """Name all that is drawn in any panel, each once, below the panels, where it hides nothing.

    The legend has as many columns as fit; the figure grows by its height, so that panels stay as large as they were,
    and in width where a single name is too long.

    Parameters
    ----------
    figure
        Of matplotlib, with a constrained layout; all panels are drawn.
    fontsize
        In points.
    most
        Columns, at most.
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
    """Write a title above a panel, in lines that are no longer than its part of the figure is wide."""
    axes.set_title(wrapped(axes.figure, title, fontsize, _width(axes)), fontsize=fontsize)


def headed(figure: Any, title: str, fontsize: float) -> None:
    """Write a title above all panels, in lines that are no longer than the figure is wide."""
    figure.suptitle(wrapped(figure, title, fontsize, figure.bbox.width * (1.0 - _SIDES)), fontsize=fontsize)


def wrapped(figure: Any, text: str, fontsize: float, width: float) -> str:
    """Return a text in lines that are no wider than `width` pixels, unless a single word is."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measured(figure, longer, fontsize) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def measured(figure: Any, text: str, fontsize: float) -> float:
    """Return how wide a text is, in pixels."""
    from matplotlib.text import Text

    return float(
        Text(0, 0, text, fontsize=fontsize, figure=figure).get_window_extent(figure.canvas.get_renderer()).width
    )


def _width(axes: Any) -> float:
    """Return how much room there is above a panel, in pixels: its part of the figure."""
    columns: int = axes.get_subplotspec().get_gridspec().ncols
    return float(axes.figure.bbox.width) / columns * (1.0 - 4 * _SIDES)
