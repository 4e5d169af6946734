"""Checks that published policies reach their published figures: a weak yardstick is a bug.

Figures were printed for pages of the same kind, but other ones. Where uniform visits alone, or the nearest rule that
has a closed form, earn other than printed by more than 0.03, the draw is another, and no implementation could reach the
same: there a row is held to what was printed plus what this draw's closed form of the nearest rule is off. Where a
run is over before two first intervals are, when its pages are visited does not hang on what was found, and what such
visits earn has a closed form itself.
Figures printed of fixed rates are of rates that are known: rows that learn are not held to them.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests.comparison import TURNS, closed_form, unrun
from evercrawl.lab.contests.printed_ratios import CORRELATIONS, WITHIN, printed
from evercrawl.lab.contests.still_rates import EVEN, RANDOM, still, visited_every
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import at_least, listed, mean, places

UNIFORM: Final = "uniform"
_FIRST_DAYS: Final = {"Nutch, start 30 days": 30.0}  # the first interval
_PREFIX: Final = "closed form: "
_NEAREST: Final = {
    "LambdaCrawl, learned, random": "LambdaCrawl, random",
    "Azar, learned, random": "Azar, random",
    "RPUC": "Carney pf",
    "Chile, known rates": "f ~ w lam",
    "Nutch, start one cycle": "f ~ w lam",
    "Nutch, start 30 days": "f ~ w lam",
    "StormCrawler": UNIFORM,
    "Tianwang": UNIFORM,
}
"""For printed rows that have no closed form, the rule that sends visits to most of the same pages."""


def nearest(like: str) -> str:
    """Return the rule in closed form that is nearest to a printed row; "" where there is none.

    >>> nearest("Carney pf"), nearest("Tianwang"), nearest("index, learned")
    ('Carney pf', 'uniform', '')
    """
    return like if like in EVEN or like in RANDOM else _NEAREST.get(like, "")


def closed_forms(likes: Sequence[str], options: LabOptions, budgets: Sequence[float], say: Say) -> list[Row]:
    """Return rows of the rules nearest to some printed rows, on the same pages."""
    names, cycles = {UNIFORM, *map(nearest, likes)}, float(options.turns or TURNS)
    first = {_FIRST_DAYS[like] for like in likes if like in _FIRST_DAYS}

    def form(pages: Population, _: int, budget: float) -> Iterator[Row]:
        days = [each for each in first if cycles / budget <= 2 * each]
        early = {_every(each): visited_every(pages, cycles, budget, each) for each in days}
        best = pages.optimum(budget).value
        for name, ratio in (still(pages, budget, names) | early).items():
            yield unrun(_PREFIX + name, ratio * best, best)

    return closed_form(form, options, budgets, say, CORRELATIONS)


def reaches(rows: list[Row], label: str, like: str, *, promised: bool) -> list[Claim]:
    """Return that a row reaches what was printed, less 0.03, at every budget and correlation at which it was run.

    Parameters
    ----------
    rows
        Of a contest, and of `closed_forms`.
    label, like
        Of the row, and of the printed one; there is no claim where nothing was printed.
    promised
        Whether we promise it.
    """
    table = printed()
    run = [place for place in places(rows, label) if (like, *place) in table]
    if not run:
        return []
    said, found, least = list[str](), list[float](), list[float]()
    for place in run:
        shift, figure = _shift(rows, like, place), table[like, *place]
        how = f", {_every(_FIRST_DAYS[like])}" if _early(rows, like, place) else ""
        said.append(f"{figure:.3f}" + (f" (here {figure + shift:.3f}{how})" if shift else ""))
        found.append(mean(rows, policy=label, correlation=place[0], budget=place[1]))
        least.append(figure + shift)
    by = f'; "here": by "{nearest(like)}" on these pages, another draw' if any("here" in each for each in said) else ""
    claim = f"{label}: at least as printed, less {WITHIN:g}{by}"
    return [Claim(claim, ", ".join(said), listed(found), at_least(found, least, WITHIN), promised)]


def _shift(rows: list[Row], like: str, place: tuple[float, float]) -> float:
    """Return how much more than printed the nearest rule earns, where it, or uniform visits, show other pages."""
    if _early(rows, like, place):
        return _early(rows, like, place) - printed()[like, *place]
    if not nearest(like):
        return 0.0
    more = _more(rows, nearest(like), place)
    return more if max(abs(more), abs(_more(rows, UNIFORM, place))) > WITHIN else 0.0


def _every(days: float) -> str:
    return f"visited every {days:g} days"


def _early(rows: list[Row], like: str, place: tuple[float, float]) -> float:
    """Return what visits a first interval apart earn, where the run is over before two of these are; else 0."""
    if like not in _FIRST_DAYS:
        return 0.0
    found = mean(rows, policy=_PREFIX + _every(_FIRST_DAYS[like]), correlation=place[0], budget=place[1])
    return 0.0 if math.isnan(found) else found


def _more(rows: list[Row], rule: str, place: tuple[float, float]) -> float:
    found = mean(rows, policy=_PREFIX + rule, correlation=place[0], budget=place[1])
    return 0.0 if math.isnan(found) else found - printed()[rule, *place]
