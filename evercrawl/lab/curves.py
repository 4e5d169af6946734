"""Figures 2 and 3 as panels: the same runs, seen over all pages or over the important ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.lab.base import Curve, Panel
from evercrawl.lab.convergence import chosen

if TYPE_CHECKING:
    from evercrawl.lab.base import Row

_CURVES: Final = {
    "random": ("opic", "random", "history"),
    "cycle": ("opic", "cycle", "history"),
    "greedy": ("opic", "greedy", "history"),
    "greedy, identity": ("opic", "greedy", "identity"),
    "greedy, two windows (default of AOPIC)": ("opic", "greedy", "two windows"),
    "off line (power iteration)": ("off line", "", "power"),
    "push, cycle": ("push", "cycle", "residual"),
    "push, greedy (our default)": ("push", "greedy", "residual"),
}
MEASURES: Final = {
    "mean": ("mean error, all pages", "%", 100.0),
    "top": ("mean error, the most important tenth", "%", 100.0),
    "variance": ("variance of the error, all pages", "", 1.0),
    "top_variance": ("variance of the error, the most important tenth", "", 1.0),
    "weighted": ("error weighted by importance", "%", 100.0),
    "rank": ("rank error, 1 - Spearman", "", 1.0),
    "top_rank": ("pairs of the top 1,000 in wrong order", "%", 100.0),
}
"""Of each measure of error what it is called, its unit, and how many of that are 1."""


def panels(rows: list[Row], measures: tuple[str, ...]) -> list[Panel]:
    """Return a panel for each measure of error, with a curve for each scheme."""
    return [_panel(rows, *MEASURES[name], name) for name in measures if rows[0][name] == rows[0][name]]


def _panel(rows: list[Row], title: str, unit: str, scale: float, name: str) -> Panel:
    curves = list[Curve]()
    for label, (scheme, order, estimate) in _CURVES.items():
        at = chosen(rows, scheme=scheme, order=order, estimate=estimate)
        if not at:
            continue
        x, y = [float(row["turn"]) for row in at], [scale * float(row[name]) for row in at]
        curves.append(Curve(label, x, y, ours=scheme == "push"))
    return Panel(title, "visits a page", unit, curves, log=True)
