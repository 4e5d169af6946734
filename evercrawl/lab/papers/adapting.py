"""How well estimates follow a changing web: for figures 4 to 6."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.offline import Graph, solve
from evercrawl.importance.windows.base import TURN, Window
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.lab.base import Panel, PanelCurve, Row, Say
from evercrawl.lab.engine.engine import Engine, OpicEngine, PushEngine
from evercrawl.lab.engine.living import ChangingWeb
from evercrawl.lab.engine.picking import fresh
from evercrawl.lab.engine.windows import BothWindows, Measures, Printed, Smooth, looking_on
from evercrawl.lab.figures.plotting import formed
from evercrawl.lab.papers.accuracy import MEASURES, RANKED, TrueImportance, importance
from evercrawl.lab.tables import column
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats

RATES: Final = (0.0, 0.01, 0.05, 0.1, 0.25)
"""Shares of all pages that change in a turn, which is as many visits as there are pages."""

PRINTED: Final = " as printed"
"""The suffix in the names of windows that count all cash as earned."""

INTERPOLATION: Final = "interpolation, 4 turns"
TWO: Final = "two windows (default of AOPIC)"
PUSH: Final = "push (our default)"
SETTLED: Final = "push, settling between visits"
OFF_LINE: Final = "off line, on the links that push has"
EVERYWHERE: Final[dict[str, Window]] = {INTERPOLATION: Interpolation(4 * TURN), TWO: TwoWindows()}
"""The windows that are in every figure; G-time is in turns of greedy visits."""

_STEPS: Final = 100  # number of times per turn that the web changes and that sampling pickers recompute importance
_SOLVED: Final = 1e-6  # tolerance of the off-line computation: sum of the errors
_CHEAP: Final = 2  # pushes along known links per visit, for the scheme that settles between visits
_FROM: Final = 0.6  # share of the turns after which errors count: all windows are full by then


class Onlooker(NamedTuple):
    """An estimator that observes the visits: functions for its estimate and its number of measures per page."""

    estimate: Callable[[], Floats]
    held: Callable[[], float]


def adapt(
    web: Web, turns: int, seed: int, windows: dict[str, Window], say: Say, rates: tuple[float, ...] = RATES
) -> list[Row]:
    """Return the errors after the later turns, by every window and by push, on a web that changes at each of the rates.

    The rows also contain an off-line computation on the links that push has, those of the last visits. This is the best
    estimate that is possible without another visit.

    A row has rate, scheme (the name of the window), pages, turn, `held` (average number of measures kept per page, two
    numbers each), and the fields of `Accuracy`.
    """
    rows: list[Row] = []
    for rate in rates:
        say(f"{rate:.0%} of the pages change in a turn")
        rows += follow(ChangingWeb(web, seed), rate, turns, seed, windows)
    return rows


def follow(living: ChangingWeb, rate: float, turns: int, seed: int, windows: dict[str, Window]) -> list[Row]:
    """Return the errors after the later turns, on one web that changes at one rate while it is visited; see `adapt`."""
    return list(_followed(living, rate, turns, seed, windows))


def _followed(living: ChangingWeb, rate: float, turns: int, seed: int, windows: dict[str, Window]) -> Iterator[Row]:
    watchers = {name: _looking_on(name, window, living.pages) for name, window in windows.items()}
    opic = OpicEngine(living, watchers=list(watchers.values()))
    push, settled = (PushEngine(living, fresh(seed)) for _ in range(2))
    said = {name: _watched(opic, watcher) for name, watcher in watchers.items()}
    said |= {PUSH: Onlooker(push.estimate, lambda: 1.0), SETTLED: Onlooker(settled.estimate, lambda: 1.0)}
    said |= {OFF_LINE: Onlooker(lambda: _solved(push), lambda: 1.0)}
    for turn in range(1, turns + 1):
        _turn(living, rate, [opic, push, settled], settled)
        if turn >= _FROM * turns:
            truth = TrueImportance(importance(living.now()), ranks=living.pages <= RANKED)
            for name, (estimate, held) in said.items():
                row: Row = {"rate": rate, "scheme": name, "pages": living.pages, "turn": turn, "held": held()}
                off: Row = truth.accuracy(estimate())._asdict()
                yield row | off


def _looking_on(name: str, window: Window, pages: int) -> Smooth | BothWindows | Measures | Printed:
    watcher = looking_on(window, pages)
    return Printed(watcher, pages) if name.endswith(PRINTED) else watcher


def _watched(opic: OpicEngine, watcher: Smooth | BothWindows | Measures | Printed) -> Onlooker:
    return Onlooker(lambda: watcher.estimate(opic.earned, opic.total), watcher.held)


def _solved(push: PushEngine) -> Floats:
    """Return the importance of each page computed from the links of the last visits, shape (n,)."""
    start = np.concatenate([[0], np.cumsum(np.maximum(push.known.count, 0), dtype=np.int64)])
    graph = Graph(start, push.known.all().view(np.uint32), start[:-1])
    return solve(graph, push.tax, tolerance=_SOLVED, start=push.value)


def _turn(living: ChangingWeb, rate: float, engines: list[Engine], settled: PushEngine) -> None:
    """Let every engine visit as many pages as there are, while the web changes."""
    steps = np.diff(np.linspace(0, living.pages, _STEPS + 1).astype(int))
    for visits in steps.tolist():
        for engine in engines:
            engine.run(visits)
        settled.settle(_CHEAP * visits)
        living.some_change(rate * visits)


def mean(rows: list[Row], scheme: str, rate: float, name: str = "mean") -> float:
    """Return the mean of a column over the turns that count."""
    return float(np.mean(column(rows, name, scheme=scheme, rate=rate)))


def errors(rows: list[Row], scheme: str, rate: float) -> tuple[float, float]:
    """Return the mean errors over all pages and over the most important tenth."""
    return mean(rows, scheme, rate), mean(rows, scheme, rate, "top")


def panels(rows: list[Row], measures: tuple[str, ...] = tuple(MEASURES)) -> list[Panel]:
    """Return a panel for each measure of error, with one curve over the rates per scheme."""
    schemes = list(dict.fromkeys(str(row["scheme"]) for row in rows))
    rates = sorted({float(row["rate"]) for row in rows})
    found = list[Panel]()
    for name in measures:
        title, unit, scale = MEASURES[name]
        values = {scheme: [scale * mean(rows, scheme, rate, name) for rate in rates] for scheme in schemes}
        curves = [PanelCurve(scheme, formed(rates), each, scheme == PUSH) for scheme, each in values.items()]
        found.append(Panel(title, "pages that change in a turn, %", unit, curves, log=True))
    return found
