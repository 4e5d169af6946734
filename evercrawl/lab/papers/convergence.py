"""Speed of convergence on a static web: for figures 2 and 3."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from evercrawl.importance.offline import damped
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.lab.base import Panel, PanelCurve, Row, Say
from evercrawl.lab.engine.engine import OpicEngine, PushEngine
from evercrawl.lab.engine.picking import CyclePicker, GreedyPicker, Picker, RandomPicker, xyleme
from evercrawl.lab.engine.windows import looking_on
from evercrawl.lab.papers.accuracy import MEASURES, RANKED, TrueImportance, graph_of, importance
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats

ORDERS: Final[dict[str, Callable[[int], Picker]]] = {
    "random": RandomPicker, "cycle": CyclePicker, "greedy": lambda _: GreedyPicker(), "80/20": xyleme,
}  # fmt: skip
_WATCHED: Final = "greedy"
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


def converge(web: Web, turns: int, seed: int, say: Say, orders: dict[str, Any] = ORDERS) -> list[Row]:
    """Return the errors after each turn, by scheme and order; a turn is as many visits as there are pages.

    A row has scheme (`opic`, `push`, `off line`), order, estimate, pages, turn, clock, `far_max` and `far_sum` (the
    change of H/G in one step of the matrix, times G: maximum and sum), and the fields of `Accuracy`.
    """
    truth = TrueImportance(importance(web), ranks=web.pages <= RANKED)
    rows: list[Row] = []
    for name, order in orders.items():
        say(f"OPIC, {name}")
        rows += _opic(web, turns, name, order(seed), truth)
    best = "greedy" if "greedy" in orders else "cycle"
    say(f"push, {best}")
    rows += _push(web, turns, best, ORDERS[best](seed), truth)
    say("off line")
    return [*rows, *_offline(web, turns, truth)]


def _opic(web: Web, turns: int, order: str, picker: Picker, truth: TrueImportance) -> Iterator[Row]:
    two = looking_on(TwoWindows(), web.pages)
    opic = OpicEngine(web, picker, watchers=[two] if order == _WATCHED else ())
    for turn in range(1, turns + 1):
        opic.run(web.pages)
        off = np.abs(opic.cash - 1 / web.pages)
        far: Row = {"clock": opic.total, "far_max": float(off.max()), "far_sum": float(off.sum())}
        for estimate, values in (("history", opic.history), ("paper", opic.paper()), ("identity", opic.estimate())):
            yield _row(web, "opic", order, estimate, turn, truth, values) | far
        if order == _WATCHED:
            now = two.estimate(opic.earned, opic.total)
            yield _row(web, "opic", order, "two windows", turn, truth, now) | far


def _push(web: Web, turns: int, order: str, picker: Picker, truth: TrueImportance) -> Iterator[Row]:
    push = PushEngine(web, picker)
    for turn in range(1, turns + 1):
        push.run(web.pages)
        yield _row(web, "push", order, "residual", turn, truth, push.estimate())


def _offline(web: Web, turns: int, truth: TrueImportance) -> Iterator[Row]:
    """Yield the errors of the power iteration; one step uses each page once."""
    graph = graph_of(web)
    each = damped(graph)
    value = np.full(web.pages, 1 / web.pages)
    for turn in range(1, turns + 1):
        passed = graph.pass_on(value, each)
        value = passed + (1 - passed.sum()) / web.pages
        yield _row(web, "off line", "", "power", turn, truth, value)


def _row(web: Web, scheme: str, order: str, estimate: str, turn: int, truth: TrueImportance, values: Floats) -> Row:
    row: Row = {"scheme": scheme, "order": order, "estimate": estimate, "pages": web.pages, "turn": turn}
    blank: Row = dict.fromkeys(("clock", "far_max", "far_sum"), float("nan"))
    errors: Row = truth.accuracy(values)._asdict()
    return row | blank | errors


def chosen(rows: list[Row], turn: int | None = None, **named: str) -> list[Row]:
    """Return the rows whose columns have the given values, ordered by turn; those of one turn if it is given.

    >>> chosen([{"order": "cycle", "turn": 2}, {"order": "cycle", "turn": 1}], order="cycle")
    [{'order': 'cycle', 'turn': 1}, {'order': 'cycle', 'turn': 2}]
    """
    kept = [row for row in rows if all(row[name] == value for name, value in named.items())]
    return sorted((row for row in kept if turn in (None, row["turn"])), key=lambda row: row["turn"])


def errors_at(rows: list[Row], turn: int, scheme: str, order: str, estimate: str) -> tuple[float, float]:
    """Return the mean errors after a turn: over all pages, and over the most important tenth."""
    (row,) = chosen(rows, turn, scheme=scheme, order=order, estimate=estimate)
    return float(row["mean"]), float(row["top"])


def panels(rows: list[Row], measures: tuple[str, ...]) -> list[Panel]:
    """Return a panel for each measure of error, with a curve for each scheme."""
    return [_panel(rows, *MEASURES[name], name) for name in measures if rows[0][name] == rows[0][name]]


def _panel(rows: list[Row], title: str, unit: str, scale: float, name: str) -> Panel:
    curves = list[PanelCurve]()
    for label, (scheme, order, estimate) in _CURVES.items():
        at = chosen(rows, scheme=scheme, order=order, estimate=estimate)
        if not at:
            continue
        x, y = [float(row["turn"]) for row in at], [scale * float(row[name]) for row in at]
        curves.append(PanelCurve(label, x, y, ours=scheme == "push"))
    return Panel(title, "visits per page", unit, curves, log=True)
