"""The figure of `evercrawl lab evolution` as a PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl.lab.figures.lettering import canvas

if TYPE_CHECKING:
    from evercrawl.lab.histories.evolution.report import Evolution

MOST: Final = 10
"""Maximum number of groups drawn, the largest ones."""
_INCHES: Final = (11.0, 8.0)


def draw(found: Sequence[Evolution], path: Path) -> None:
    """Write four panels to a file: frequency, regularity and extent of changes, and lifetimes; needs matplotlib."""
    groups = sorted(found[: max(len(found) - 1, 1)], key=lambda each: -each.pages)[:MOST]
    figure = canvas(_INCHES)
    (often, regular), (much, long) = figure.subplots(2, 2)
    _classes(often, groups)
    _curves(regular, much, long, groups)
    _name(regular, much, long)
    handles, labels = much.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)
    figure.savefig(path, format="png")


def _classes(axes: Any, groups: list[Evolution]) -> None:
    from matplotlib import colormaps

    from evercrawl.lab.histories.evolution.rate import CLASSES

    left, names = [0.0] * len(groups), [each.group for each in groups]
    for i, name in enumerate(CLASSES):
        share = [100.0 * each.often.classes[i] if each.often.classed else 0.0 for each in groups]
        colour = colormaps["viridis_r"](i / (len(CLASSES) - 1))
        axes.barh(names, share, left=left, color=colour, label=name.replace("_", " "))
        left = [start + width for start, width in zip(left, share, strict=True)]
    axes.invert_yaxis()
    axes.set_title("How often pages change: mean interval up to", fontsize=10)
    axes.set_xlabel("% of the pages")
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=len(CLASSES), columnspacing=1.0)


def _curves(regular: Any, much: Any, long: Any, groups: list[Evolution]) -> None:
    from matplotlib import colormaps

    from evercrawl.lab.histories.evolution.curves import longer_gaps, random_gaps, smaller_changes, still_there

    for i, group in enumerate(groups):
        look = {"color": colormaps["tab10"](i), "label": group.group}
        regular.plot(*longer_gaps(group.record), **look)
        much.step(*smaller_changes(group.record), where="post", **look)
        long.step(*still_there(group.record), where="post", **look)
    regular.plot(*random_gaps(), "k--", linewidth=1.0)


def _name(regular: Any, much: Any, long: Any) -> None:
    regular.set(yscale="log", ylim=(0.1, 100.0), ylabel="% longer")
    regular.set_xlabel("gap over the page's mean (dashed: random moments)")
    regular.set_title("How regularly", fontsize=10)
    much.set(xlabel="bits of 64 that became others", ylabel="% of the changes, up to", ylim=(0.0, 100.0))
    much.set_title("How much", fontsize=10)
    long.set(xlabel="years since the page came", ylabel="% still there", ylim=(0.0, 101.0))
    long.set_title("How long", fontsize=10)
    for axes in (regular, much, long):
        axes.grid(alpha=0.3)
