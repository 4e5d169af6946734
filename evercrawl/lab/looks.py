"""How curves of a figure look: each as no other, and the same in all panels."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.lab.base import Curve, Panel

_MARKS: Final = "os^vDPX*<>"
_DASHES: Final = ("-", "--", ":", "-.")
_HATCHES: Final = ("", "///", "...", "xxx")
_COLOURS: Final = 10  # of matplotlib's cycle, C0 to C9


class Looks:
    """Colours, marks and dashes, by the name of a curve: when the colours are used up, dashes become others.

    Examples
    --------
    >>> from evercrawl.lab.base import Curve, Panel
    >>> curves = [Curve(f"{i}", [1.0], [1.0]) for i in range(11)]
    >>> looks = Looks([Panel("", "", "", curves)])
    >>> looks.line(curves[0]), looks.line(curves[10])  # doctest: +NORMALIZE_WHITESPACE
    ({'marker': 'o', 'linestyle': '-', 'color': 'C0', 'linewidth': 1.2},
     {'marker': 's', 'linestyle': '--', 'color': 'C0', 'linewidth': 1.2})
    """

    def __init__(self, panels: Iterable[Panel]) -> None:
        every = dict.fromkeys((curve.ours, curve.label) for panel in panels for curve in panel.curves)
        numbers = {True: count(), False: count()}  # ours are black: they need no colours of their own
        self._number = {(ours, label): next(numbers[ours]) for ours, label in every}

    def line(self, curve: Curve) -> dict[str, Any]:
        """Return how its line is drawn; one of ours is black and thick."""
        again, number = divmod(self._number[curve.ours, curve.label], _COLOURS)
        style = {"marker": _MARKS[(number + again) % len(_MARKS)], "linestyle": _DASHES[again % len(_DASHES)]}
        ours = {"color": "black", "linewidth": 2.6}
        return style | (ours if curve.ours else {"color": f"C{number}", "linewidth": 1.2})

    def bar(self, curve: Curve) -> dict[str, Any]:
        """Return how its bars are drawn; one of ours is black."""
        again, number = divmod(self._number[curve.ours, curve.label], _COLOURS)
        return {
            "color": "black" if curve.ours else f"C{number}",
            "hatch": _HATCHES[again % len(_HATCHES)], "edgecolor": "white", "linewidth": 0.0,
        }  # fmt: skip
