"""Noise filtering by interpolation: the variation of estimates while nothing changes."""

from typing import Final

import numpy as np

from evercrawl.importance.windows.base import TURN, Window
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.variable import Variable
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say, judged
from evercrawl.lab.engine.engine import OpicEngine
from evercrawl.lab.engine.picking import CyclePicker, GreedyPicker, Picker, RandomPicker
from evercrawl.lab.engine.windows import looking_on
from evercrawl.lab.papers.accuracy import TrueImportance, importance
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import column, percent
from evercrawl.types import Floats

_ONE: Final = "one interval, no filter"
_INTERPOLATION: Final = "interpolation, 4 turns"
_WINDOWS: Final[dict[str, Window]] = {
    _ONE: Variable(2), "variable, 8 measures": Variable(8), _INTERPOLATION: Interpolation(4 * TURN),
}  # fmt: skip
_LOOKS: Final = 10  # observations per turn
_FROM: Final = 0.6  # share of the turns after which observation begins: all windows are full by then
_FILTERS: Final = 0.5  # maximum share of the variation that a filter leaves


class Filtering(Experiment):
    """Whether interpolation filters noise: how much a page's importance varies while no link changes.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.3.
    """

    pages = 20_000

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit a static web in three orders, and observe through three windows."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        truth = TrueImportance(importance(web), ranks=False)
        orders: dict[str, Picker] = {
            "random": RandomPicker(options.seed), "cycle": CyclePicker(options.seed), "greedy": GreedyPicker(),
        }  # fmt: skip
        rows = list[Row]()
        for order, picker in orders.items():
            say(order)
            watchers = {name: looking_on(window, web.pages) for name, window in _WINDOWS.items()}
            opic = OpicEngine(web, picker, watchers=list(watchers.values()))
            seen: dict[str, list[Floats]] = {name: [] for name in watchers}
            for step in range(turns * _LOOKS):
                opic.run(web.pages // _LOOKS)
                if step >= _FROM * turns * _LOOKS:
                    for name, watcher in watchers.items():
                        seen[name].append(watcher.estimate(opic.earned, opic.total))
            rows += [_row(order, name, np.array(looks), truth) for name, looks in seen.items()]
        found = Results(f"Noise that windows leave, {web.pages:,} pages", rows, _claims(rows, list(orders)))
        found.panels = [_panel(rows, list(orders), name) for name in ("varies", "error")]
        return found


def _row(order: str, window: str, looks: Floats, truth: TrueImportance) -> Row:
    """Return the variation of a page's estimates, relative to its importance, and their error."""
    varies = looks.std(axis=0) / truth.importance
    error = float(np.mean([truth.accuracy(each).mean for each in looks]))
    tenth = float(varies[truth.top].mean())
    return {"order": order, "window": window, "varies": float(varies.mean()), "tenth": tenth, "error": error}


def _panel(rows: list[Row], orders: list[str], name: str) -> Panel:
    places = [float(k) for k in range(len(orders))]
    curves = [
        PanelCurve(
            window, places, [100 * value for value in column(rows, name, window=window)], window == _INTERPOLATION
        )
        for window in _WINDOWS
    ]
    what = {"varies": "variation of estimates", "error": "mean error"}[name]
    return Panel(f"{what}, constant web", "order of visits", "%", curves, bars=True, named=tuple(orders))


def _claims(rows: list[Row], orders: list[str]) -> list[Claim]:
    left, said = list[bool](), list[str]()
    for order in orders:
        one, filtered = (column(rows, "varies", order=order, window=name)[0] for name in (_ONE, _INTERPOLATION))
        left.append(filtered <= _FILTERS * one)
        said.append(f"{order} {percent(filtered)} vs. {percent(one)}")
    several = [
        column(rows, "varies", order=order, window=_INTERPOLATION)[0]
        <= column(rows, "varies", order=order, window="variable, 8 measures")[0]
        for order in orders
    ]
    eight = ", ".join(
        f"{order} {percent(column(rows, 'varies', order=order, window='variable, 8 measures')[0])}" for order in orders
    )
    return [
        judged("interpolation filters noise: its estimates vary at most half as much as those of one interval", "",
               "; ".join(said), left),
        judged("interpolation, with one measure, filters as well as a window of eight measures", "",
               f"variation with eight measures: {eight}", several),
    ]  # fmt: skip
