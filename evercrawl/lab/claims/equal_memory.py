"""Quality of windows at equal memory: interpolation vs. 16 measures, variable vs. fixed."""

from itertools import combinations
from typing import Final

import numpy as np

from evercrawl.importance.windows.base import TURN, Window
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.variable import Variable
from evercrawl.lab.base import Claim, Experiment, LabOptions, Results, Row, Say, judged
from evercrawl.lab.papers.accuracy import MEASURES
from evercrawl.lab.papers.adapting import EVERYWHERE, PRINTED, RATES, adapt, errors, mean, panels
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import both, percent, plainly

_PLACES: Final = 32
_SIXTEEN, _ONE = (f"{name}{PRINTED}" for name in ("variable, 16 measures", "interpolation, 4 turns"))
_VARIABLE: Final = {count: f"variable, {count} measures{PRINTED}" for count in (4, 8, 16)}
_FIXED: Final = {turns: f"fixed, {turns} turns{PRINTED}" for turns in (2, 4, 8, 16)}
_WINDOWS: Final[dict[str, Window]] = {
    **{name: Variable(count) for count, name in _VARIABLE.items()},
    **{name: Fixed(turns * TURN, _PLACES) for turns, name in _FIXED.items()},
    _ONE: Interpolation(4 * TURN),
}
_NEAR: Final = 1.5  # maximum ratio of two errors that are about the same
_LOW: Final = 0.01
_AGREE: Final = 0.5  # minimum Kendall's tau between the window orders of two measures of error


class EqualMemory(Experiment):
    """How good windows are for their memory: interpolation vs. 16 measures, and variable vs. fixed windows.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.3.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit webs that change at five rates, greedily, and observe through each window."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        rows = adapt(web, turns, options.seed, _WINDOWS | EVERYWHERE, say)
        found = Results(f"Windows at equal memory, {web.pages:,} pages, greedy", rows, panels=panels(rows))
        found.claims = [*_interpolation(rows), _fixed(rows), _agreement(rows)]
        return found


def _interpolation(rows: list[Row]) -> list[Claim]:
    """Compare interpolation with a window of 16 measures per page."""
    pairs = {rate: (errors(rows, _ONE, rate), errors(rows, _SIXTEEN, rate)) for rate in RATES}
    low = [one / sixteen for rate in RATES if rate <= _LOW for one, sixteen in zip(*pairs[rate], strict=True)]
    high = [one < sixteen for rate in RATES if rate > _LOW for one, sixteen in zip(*pairs[rate], strict=True)]

    def said(rates: list[float]) -> str:
        return "; ".join(f"{plainly(rate)}: {both(*pairs[rate][0])} vs. {both(*pairs[rate][1])}" for rate in rates)

    return [
        judged("if few pages change, interpolation is about as good as 16 measures, all pages / most important tenth",
               "at most 1 % change", said([rate for rate in RATES if rate <= _LOW]), [ratio <= _NEAR for ratio in low]),
        judged("if more pages change, interpolation is better than 16 measures", "above 1 %",
               said([rate for rate in RATES if rate > _LOW]), high),
    ]  # fmt: skip


def _fixed(rows: list[Row]) -> Claim:
    """Compare each variable window with the fixed window whose number of measures is nearest."""
    held = {turns: mean(rows, name, 0.0, "held") for turns, name in _FIXED.items()}
    cases, said = list[bool](), list[str]()
    for name in _VARIABLE.values():
        keeps = mean(rows, name, 0.0, "held")
        like = min(_FIXED, key=lambda turns: abs(np.log(held[turns] / keeps)))
        for rate in RATES:
            one, other = errors(rows, name, rate), errors(rows, _FIXED[like], rate)
            cases += [each < than for each, than in zip(one, other, strict=True)]
            if name == _VARIABLE[8]:
                said.append(f"{plainly(rate)}: {both(*one)} vs. {both(*other)}")
        if name == _VARIABLE[8]:
            said[-1] += f" ({keeps:.1f} measures vs. {held[like]:.1f}, {like} turns)"
    wins = f"{sum(cases)} of {len(cases)} errors are smaller (4, 8, 16 measures; five rates; all pages and the tenth)"
    return judged("with equal memory, a variable window is better than a fixed one", "",
                  f"{wins}; {'; '.join(said)}", cases)  # fmt: skip


def _agreement(rows: list[Row]) -> Claim:
    """Compare the window orders that result from the measures of error."""
    names, said, cases = list(_WINDOWS), dict[str, float](), list[bool]()
    for measure in ("top", "weighted", "rank", "top_rank"):
        taus = [
            tau([mean(rows, name, rate) for name in names], [mean(rows, name, rate, measure) for name in names])
            for rate in RATES if not np.isnan(mean(rows, names[0], rate, measure))
        ]  # fmt: skip
        if taus:
            said[MEASURES[measure].what] = float(np.mean(taus))
            cases += [each >= _AGREE for each in taus]
    told = "; ".join(f"{name}: {value:.2f}" for name, value in said.items())
    return judged("other measures of error rank the windows as the mean error does", "",
                  f"Kendall's tau with the order by mean error ({len(names)} windows, mean over the rates): {told}; "
                  f"{percent(float(np.mean(cases)))} of all values are at least {_AGREE}", cases)  # fmt: skip


def tau(one: list[float], other: list[float]) -> float:
    """Return Kendall's rank correlation of two lists without ties.

    >>> tau([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
    0.3333333333333333
    """
    signs = [
        np.sign(one[i] - one[j]) * np.sign(other[i] - other[j]) for i, j in combinations(range(len(one)), 2)
    ]  # fmt: skip
    return float(np.mean(signs))
