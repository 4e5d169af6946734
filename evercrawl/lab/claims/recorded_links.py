"""Error by window size on recorded links: AOPIC vs. push, while a link log is replayed."""

from typing import Final

from evercrawl.errors import ConfigError
from evercrawl.importance.windows.base import TURN, Window
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.importance.windows.variable import Variable
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say, judged
from evercrawl.lab.engine.recorded import RecordedWeb
from evercrawl.lab.papers.adapting import PUSH, follow, mean
from evercrawl.lab.tables import both

_TURNS: Final = (1, 2, 4, 8, 16)
_MEASURES: Final = (2, 4, 8, 16)
_TWO: Final = "two windows"
_LOGGED: Final = 1.0  # placeholder for the rate of change: the log decides what changes
_FAMILIES: Final[dict[str, dict[float, Window]]] = {
    "variable, measures": {k: Variable(k) for k in _MEASURES},
    "fixed, turns": {t: Fixed(t * TURN, 32) for t in _TURNS},
    "interpolation, turns": {t: Interpolation(t * TURN) for t in _TURNS},
    "exponential, turns": {t: Exponential(t * TURN) for t in _TURNS},
}


class RecordedLinks(Experiment):
    """How large a window should be on recorded links: a link log replayed through AOPIC (`--graph FILE`).

    The log's last seven tenths pass while each page is visited `--turns` times on average. The file has the columns t,
    src, dst and present: from time t on, page src links to page dst if `present` is true, and does not otherwise.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, sections 4.1 and 4.4.
    """

    turns = 20

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit the web greedily while its links come and go, and observe through windows of each size."""
        if options.graph is None:
            raise ConfigError("recorded_links replays a link log: name one, such as --graph SITE.links.parquet")
        turns = options.turns or self.turns
        log = RecordedWeb.read(options.graph, turns)
        windows = {
            f"{family} {size:g}": window for family, sizes in _FAMILIES.items() for size, window in sizes.items()
        }
        say(f"{log.pages:,} pages, {turns} visits each")
        rows = follow(log, _LOGGED, turns, options.seed, windows | {_TWO: TwoWindows()})
        title = f"Size of the window on {options.graph.name}, {log.pages:,} pages, {turns} visits each"
        found = Results(title, rows, _claims(rows, log.changed / max(turns * log.pages, 1)))
        found.panels = [_panel(rows, measure) for measure in ("mean", "top", "weighted")]
        return found


def _claims(rows: list[Row], changes: float) -> list[Claim]:
    error = {
        family: {size: (_at(rows, f"{family} {size:g}"), _at(rows, f"{family} {size:g}", "top")) for size in sizes}
        for family, sizes in _FAMILIES.items()
    }
    best = {family: min(sizes, key=sizes.__getitem__) for family, sizes in error.items()}
    claims = [
        Claim(f"both too small and too large a window are worse: {family}", "",
              "; ".join(f"{size:g}: {both(*value)}" for size, value in sizes.items())
              + f" (best: {best[family]:g}; {100 * changes:.2g} % of the pages change their links in a turn)",
              best[family] not in (min(sizes), max(sizes)))
        for family, sizes in error.items()
    ]  # fmt: skip
    least, push = min(value for sizes in error.values() for value, _ in sizes.values()), _at(rows, PUSH)
    two = _at(rows, _TWO)
    claims.append(
        judged("two windows need no size: over all pages, their error is within a tenth of the best window's", "(ours)",
               f"{100 * two:.2f} % vs. {100 * least:.2f} %; push {100 * push:.2f} %", [two <= 1.1 * least])
    )  # fmt: skip
    claims.append(
        judged("push, which stores the links of the last visit, is better than every window", "(ours)",
               f"{both(push, _at(rows, PUSH, 'top'))}", [push < least])
    )  # fmt: skip
    return claims


def _at(rows: list[Row], name: str, measure: str = "mean") -> float:
    return mean(rows, name, _LOGGED, measure)


def _panel(rows: list[Row], measure: str) -> Panel:
    curves = [
        PanelCurve(
            family, [float(size) for size in sizes], [100 * _at(rows, f"{family} {size:g}", measure) for size in sizes]
        )
        for family, sizes in _FAMILIES.items()
    ]
    flat = [float(_TURNS[0]), float(_TURNS[-1])]
    curves.append(PanelCurve(PUSH, flat, [100 * _at(rows, PUSH, measure)] * 2, ours=True))
    what = {"mean": "all pages", "top": "the most important tenth", "weighted": "weighted by importance"}[measure]
    return Panel(f"error by size, {what}", "size of the window", "error, %", curves, log=True)
