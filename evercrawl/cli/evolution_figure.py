"""The figure of `evercrawl evolution` as a PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.histories.evolution.lasting import lifetimes
from evercrawl.histories.evolution.lives import YEAR_S
from evercrawl.histories.evolution.much import spread
from evercrawl.histories.evolution.often import CLASSES
from evercrawl.histories.evolution.regular import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evercrawl.histories.evolution.report import Evolution

MOST: Final = 10
"""Groups that are drawn: the largest."""
_INCHES: Final = (11.0, 8.0)
_DPI: Final = 100
_POINTS: Final = 400  # of a curve
_LONGEST: Final = 8.0  # means


def draw(found: Sequence[Evolution], path: Path) -> None:
    """Write four panels to a file: how often, how regularly, how much, how long; matplotlib has to be there."""
    from matplotlib import colormaps
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    groups = sorted(found[: max(len(found) - 1, 1)], key=lambda each: -each.pages)[:MOST]
    colours = [colormaps["tab10"](i) for i in range(len(groups))]
    figure: Any = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    (often, regular), (much, long) = figure.subplots(2, 2)
    _classes(often, groups)
    for draw_one, axes in ((_gaps, regular), (_extents, much), (_lives, long)):
        for group, colour in zip(groups, colours, strict=True):
            draw_one(axes, group, colour)
        axes.grid(alpha=0.3)
    _name(regular, much, long)
    handles, labels = much.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)
    figure.savefig(path, format="png")


def _classes(axes: Any, groups: list[Evolution]) -> None:
    from matplotlib import colormaps

    left = np.zeros(len(groups))
    names = [each.group for each in groups]
    for i, name in enumerate(CLASSES):
        share = 100.0 * np.nan_to_num(np.array([each.often.classes[i] for each in groups]))
        colour = colormaps["viridis_r"](i / (len(CLASSES) - 1))
        axes.barh(names, share, left=left, color=colour, label=name.replace("_", " "))
        left = left + share
    axes.invert_yaxis()
    axes.set_title("How often pages change: mean interval up to", fontsize=10)
    axes.set_xlabel("% of the pages")
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=len(CLASSES), columnspacing=1.0)


def _gaps(axes: Any, group: Evolution, colour: Any) -> None:
    gaps = normalised(group.record.changes)
    if len(gaps):
        at = np.linspace(0.0, _LONGEST, _POINTS)
        axes.plot(at, 100.0 * (1.0 - np.searchsorted(gaps, at, "right") / len(gaps)), color=colour)


def _extents(axes: Any, group: Evolution, colour: Any) -> None:
    counts = spread(group.record.changes)
    if counts.sum():
        shares = 100.0 * np.cumsum(counts) / counts.sum()
        axes.step(np.arange(65), shares, where="post", color=colour, label=group.group)


def _lives(axes: Any, group: Evolution, colour: Any) -> None:
    curve = lifetimes(group.record.lives)
    if curve.longest_s > 0:
        ages, shares = np.append(0.0, curve.ages_s), np.append(1.0, curve.shares)
        ends = np.append(ages, curve.longest_s) / YEAR_S
        axes.step(ends, 100.0 * np.append(shares, shares[-1]), where="post", color=colour)


def _name(regular: Any, much: Any, long: Any) -> None:
    at = np.linspace(0.0, _LONGEST, _POINTS)
    regular.plot(at, 100.0 * np.exp(-at), "k--", linewidth=1.0, label="random moments")
    regular.set_yscale("log")
    regular.set_ylim(0.1, 100.0)
    regular.set_xlabel("gap between two changes, over the page's mean")
    regular.set_ylabel("% longer")
    regular.set_title("How regularly", fontsize=10)
    regular.legend(fontsize=7)
    much.set(xlabel="bits of 64 that became others", ylabel="% of the changes, up to", ylim=(0.0, 100.0))
    much.set_title("How much", fontsize=10)
    long.set(xlabel="years since the page came", ylabel="% still there", ylim=(0.0, 101.0))
    long.set_title("How long", fontsize=10)
