"""Figure 5: memory used by window policies."""

from typing import Final

from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say, judged
from evercrawl.lab.papers.accuracy import MEASURES, told_of
from evercrawl.lab.papers.adapting import EVERYWHERE, PUSH, RATES, TWO, adapt, mean
from evercrawl.lab.papers.fig6 import FIXED, IMPROVED, MEASURED, ONE, VARIABLE
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import percent, plainly

_PRINTED: Final = {VARIABLE: 8.0, FIXED: 8.4, IMPROVED: 6.1, ONE: 1.0}
_NEAR: Final = 0.25  # maximum relative difference from the published number of measures
_RATES: Final = (RATES[0], 0.1)
_MEASURES: Final = ("top", "variance", "weighted", "rank")


class Fig5(Experiment):
    """How many measures each window policy keeps per page, and how large its error is.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, figure 5.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit a constant and a changing web, greedily, and observe through each window."""
        say("figure 5 shows memory and figure 6 errors, as in the paper; earlier releases had them swapped")
        web, turns = web_of(options, self.pages), options.turns or self.turns
        rows = adapt(web, turns, options.seed, MEASURED | EVERYWHERE, say, _RATES)
        found = Results(f"Memory of windows, {web.pages:,} pages, greedy", rows, _claims(rows, turns))
        found.panels = [_panel(rows, rate) for rate in _RATES]
        found.panels += [_panel(rows, _RATES[-1], name) for name in _MEASURES if rows[0][name] == rows[0][name]]
        return found


def _panel(rows: list[Row], rate: float, measure: str = "mean") -> Panel:
    schemes = dict.fromkeys(str(row["scheme"]) for row in rows)
    scale = MEASURES[measure].scale
    curves = [
        PanelCurve(name, [mean(rows, name, rate, "held")], [scale * mean(rows, name, rate, measure)], name == PUSH)
        for name in schemes
    ]
    title = f"{plainly(rate)} of the pages change in a turn"
    return Panel(title, "measures kept per page (two numbers each)", told_of(measure), curves, log=True)


def _claims(rows: list[Row], turns: int) -> list[Claim]:
    held = {name: mean(rows, name, 0.0, "held") for name in (*MEASURED, *EVERYWHERE, PUSH)}
    error = {name: mean(rows, name, 0.1) for name in held}
    several = [name for name in MEASURED if name != ONE]
    seen = "; ".join(f"{name} {held[name]:.1f}" for name in _PRINTED)
    return [
        judged("windows keep as many measures per page as printed", "8, 8.4, 6.1 and 1",
               f"{seen}; most visits are to few pages, whose old measures are merged; other pages have fewer visits "
               "than a window has room for",
               [abs(held[name] - figure) <= _NEAR * figure for name, figure in _PRINTED.items()]),
        Claim("interpolation keeps fewest measures", "1 measure",
              ", ".join(f"{name} {value:.1f}" for name, value in held.items()),
              held[ONE] < min(held[name] for name in several)),
        Claim(f"two windows, and push, which stores the links of the last visit, keep fewer measures and have smaller "
              f"errors if 10 % of the pages change in a turn, after {turns} turns", "(ours)",
              ", ".join(f"{name} {percent(value)}" for name, value in error.items()),
              all(held[name] < min(held[other] for other in several) and error[name] < min(error[n] for n in several)
                  for name in (TWO, PUSH))),
    ]  # fmt: skip
