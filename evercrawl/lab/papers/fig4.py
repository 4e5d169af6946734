"""Figure 4: influence of the window's size."""

from typing import Final

from evercrawl.importance.windows.base import Window
from evercrawl.importance.windows.variable import Variable
from evercrawl.lab.base import Claim, Experiment, LabOptions, Results, Row, Say
from evercrawl.lab.papers.adapting import EVERYWHERE, PRINTED, PUSH, RATES, adapt, errors, mean, panels
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import both, percent, plainly

_SMALL, _MIDDLE, _LARGE = (f"variable, {count} measures{PRINTED}" for count in (4, 8, 16))
_EARNED: Final = "variable, 8 measures"
_WINDOWS: Final[dict[str, Window]] = {_SMALL: Variable(4), _MIDDLE: Variable(8), _LARGE: Variable(16)}
_PROMISED: Final = {0.01: (0.02, 0.025), 0.1: (0.08, 0.12)}


class Fig4(Experiment):
    """How large a window should be: 4, 8 or 16 measures of each page, on webs that change at different rates.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, figure 4.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit webs that change at five rates, greedily, and observe through each window."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        rows = adapt(web, turns, options.seed, _WINDOWS | {_EARNED: Variable(8)} | EVERYWHERE, say)
        found = Results(f"Size of the window, {web.pages:,} pages, greedy", rows, panels=panels(rows))
        found.claims = _claims(rows)
        if options.as_printed:
            promised = options.promised(web.pages, turns)
            found.claims += [_promise(rows, rate)._replace(promised=promised) for rate in _PROMISED]
        return found


def _claims(rows: list[Row]) -> list[Claim]:
    still, wild = ({name: errors(rows, name, rate) for name in _WINDOWS} for rate in (RATES[0], RATES[-1]))
    earned = [(rate, errors(rows, _EARNED, rate), errors(rows, _MIDDLE, rate)) for rate in RATES]
    said = [
        ", ".join(f"{name[10 : -len(PRINTED)]} {both(*found)}" for name, found in some.items())
        for some in (still, wild)
    ]
    return [
        Claim("on a constant web, a larger window is more precise", "", said[0],
              still[_LARGE][0] < still[_MIDDLE][0] < still[_SMALL][0]),
        Claim(f"if {plainly(RATES[-1])} of the pages change in a turn, a smaller window is more precise", "", said[1],
              wild[_SMALL][0] < wild[_MIDDLE][0] < wild[_LARGE][0]),
        Claim("a window of 8 measures is reasonably close to the truth", "8 of 4, 8, 16",
              f"{both(*still[_MIDDLE])} on a constant web, {both(*errors(rows, _MIDDLE, 0.1))} at 10 % change; push "
              f"{both(*errors(rows, PUSH, RATES[0]))} and {both(*errors(rows, PUSH, 0.1))}",
              None),
        Claim("initial cash should not count: 8 measures, earned cash only vs. all cash", "(ours)",
              "; ".join(f"{plainly(rate)}: {both(*without)} vs. {both(*whole)}" for rate, without, whole in earned),
              all(without[0] <= whole[0] for _, without, whole in earned)),
        Claim("push is better than every window of measures, at each rate", "(ours)",
              ", ".join(f"{plainly(rate)}: {percent(mean(rows, PUSH, rate))} vs. "
                        f"{percent(min(mean(rows, name, rate) for name in _WINDOWS))}" for rate in RATES),
              all(mean(rows, PUSH, rate) < min(mean(rows, name, rate) for name in _WINDOWS) for rate in RATES)),
    ]  # fmt: skip


def _promise(rows: list[Row], rate: float) -> Claim:
    found, promised = errors(rows, PUSH, rate), _PROMISED[rate]
    holds = found[0] <= promised[0] and found[1] <= promised[1]
    return Claim(
        f"push, {plainly(rate)} of the pages change in a turn",
        f"(ours) {plainly(*promised)}",
        both(*found),
        holds,
    )
