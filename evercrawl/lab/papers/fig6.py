"""Figure 6: influence of the window's policy."""

from typing import Final

from evercrawl.importance.windows.base import TURN, Window
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.improved import Improved
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.variable import Variable
from evercrawl.lab.base import Claim, Experiment, LabOptions, Results, Row, Say
from evercrawl.lab.papers.adapting import EVERYWHERE, INTERPOLATION, PRINTED, RATES, TWO, adapt, errors, mean, panels
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import both, percent, plainly

VARIABLE, FIXED, IMPROVED, ONE = (
    f"{name}{PRINTED}"
    for name in ("variable, 8 measures", "fixed, 8 turns", "improved fixed, 4 turns", "interpolation, 4 turns")
)
_PLACES: Final = 32  # maximum number of measures per page in a fixed window; beyond it, old ones are merged
MEASURED: Final[dict[str, Window]] = {
    VARIABLE: Variable(8),
    FIXED: Fixed(8 * TURN, _PLACES),
    IMPROVED: Improved(4 * TURN, _PLACES),
    ONE: Interpolation(4 * TURN),
}
"""The policies of the figure; those with several measures per page were chosen to keep about equally many."""

_SMOOTH: Final[dict[str, Window]] = {
    "exponential, 1 turn": Exponential(TURN),
    "exponential, 8 turns": Exponential(8 * TURN),
}
_POINTS: Final = 0.002  # maximum difference by which two windows may be worse than interpolation


class Fig6(Experiment):
    """Which window policy is best at about equal memory, on webs that change at different rates.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, figure 6.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit webs that change at five rates, greedily, and observe through each window."""
        say("figure 6 shows errors and figure 5 memory, as in the paper; earlier releases had them swapped")
        web, turns = web_of(options, self.pages), options.turns or self.turns
        rows = adapt(web, turns, options.seed, MEASURED | _SMOOTH | EVERYWHERE, say)
        found = Results(f"Kind of window, {web.pages:,} pages, greedy", rows, panels=panels(rows))
        promise = _promise(rows)._replace(promised=options.promised(web.pages, turns))
        found.claims = [*_claims(rows), promise]
        return found


def _claims(rows: list[Row]) -> list[Claim]:
    others = [name for name in MEASURED if name != ONE]
    best = {rate: min(mean(rows, name, rate) for name in others) for rate in RATES}
    ahead = {rate: mean(rows, ONE, rate) <= best[rate] for rate in RATES}
    said = "; ".join(f"{plainly(rate)}: {percent(mean(rows, ONE, rate))} vs. {percent(best[rate])}"
                     for rate in RATES)  # fmt: skip
    fixed, improved = ([errors(rows, name, rate) for rate in RATES] for name in (FIXED, IMPROVED))
    return [
        Claim("over all pages, interpolation, with one measure, is as good as windows of 4 to 8 measures", "",
              f"{said} (the best of these)", all(ahead.values())),
        Claim("over all pages, a fixed window is better if it keeps at least three measures", "",
              "; ".join(f"{plainly(rate)}: {both(*one)} vs. {both(*other)}"
                        for rate, one, other in zip(RATES, improved, fixed, strict=True)),
              all(one[0] < other[0] for one, other in zip(improved, fixed, strict=True))),
    ]  # fmt: skip


def _promise(rows: list[Row]) -> Claim:
    pairs = [(rate, errors(rows, TWO, rate), errors(rows, INTERPOLATION, rate)) for rate in RATES]
    said = "; ".join(f"{plainly(rate)}: {both(*two)} vs. {both(*one)}" for rate, two, one in pairs)
    holds = all(two[0] <= one[0] + _POINTS and two[1] <= one[1] + _POINTS for _, two, one in pairs)
    return Claim("two windows are at no rate worse than interpolation by more than 0.2 points", "(ours)", said, holds)
