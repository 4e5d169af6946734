"""What may be wrong with a figure whatever it shows."""

from typing import Any

_SLACK = 1.0  # pixels


def outside(figure: Any) -> list[str]:
    """Return the texts of a matplotlib figure that are not wholly within it."""
    from matplotlib.text import Text

    figure.canvas.draw()
    renderer, page = figure.canvas.get_renderer(), figure.bbox
    found, unseen = [], _out_of_view(figure)
    for text in figure.findobj(Text):
        box = text.get_window_extent(renderer)
        if not text.get_visible() or not text.get_text().strip() or text in unseen:
            continue
        if min(box.x0, box.y0) < -_SLACK or box.x1 > page.x1 + _SLACK or box.y1 > page.y1 + _SLACK:
            found.append(text.get_text())
    return found


def _out_of_view(figure: Any) -> set[Any]:
    """Return the labels of ticks beyond the ends of their axis, which are there and never drawn."""
    found = set[Any]()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            found |= set() if low <= tick.get_loc() <= high else {tick.label1, tick.label2}
    return found


def alike(figure: Any) -> list[str]:
    """Return the names in a figure's legends that look like one before."""
    found, seen = [], set()
    for legend in figure.legends:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            look = tuple(str(getattr(handle, f"get_{name}")()) for name in _LOOKS if hasattr(handle, f"get_{name}"))
            found += [text.get_text()] if look in seen else []
            seen.add(look)
    return found


_LOOKS = ("color", "linestyle", "marker", "facecolor", "hatch")
