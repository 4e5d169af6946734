"""Checks that published policies reach their published figures: a weak yardstick is a bug.

The figures were published for other pages of the same kind. If uniform visits, or the nearest rule with a closed form,
differ from their published figures by more than 0.03, the populations differ, and no implementation could reach the
published figure. The bound of a row is then shifted by the difference of the nearest rule's closed form. If a run is
shorter than two first intervals, its visits do not depend on results, and their value has a closed form of its own.
Published figures of fixed rates assume known rates; rows that learn rates are not compared with them.
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
"""For published rows without a closed form, the rule that visits mostly the same pages."""


def nearest(like: str) -> str:
    """Return the closed-form rule nearest to a published row; "" if there is none.

    >>> nearest("Carney pf"), nearest("Tianwang"), nearest("index, learned")
    ('Carney pf', 'uniform', '')
    """
    return like if like in EVEN or like in RANDOM else _NEAREST.get(like, "")


def closed_forms(likes: Sequence[str], options: LabOptions, budgets: Sequence[float], say: Say) -> list[Row]:
    """Return the rows of the rules nearest to published rows, on the same pages."""
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
    """Return the claim that a row reaches its published figure, less 0.03, at every budget and correlation run.

    Parameters
    ----------
    rows
        The rows of a contest, and those of `closed_forms`.
    label, like
        Names of the row and of the published one; there is no claim if nothing was published.
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
    by = f'; "here": shifted as "{nearest(like)}" is on this population' if any("here" in each for each in said) else ""
    claim = f"{label}: share of the optimum at least as printed, less {WITHIN:g}{by}"
    return [Claim(claim, ", ".join(said), listed(found), at_least(found, least, WITHIN), promised)]


def _shift(rows: list[Row], like: str, place: tuple[float, float]) -> float:
    """Return how much the nearest rule exceeds its published figure, if the populations differ; otherwise 0."""
    if _early(rows, like, place):
        return _early(rows, like, place) - printed()[like, *place]
    if not nearest(like):
        return 0.0
    more = _more(rows, nearest(like), place)
    return more if max(abs(more), abs(_more(rows, UNIFORM, place))) > WITHIN else 0.0


def _every(days: float) -> str:
    return f"visited every {days:g} days"


def _early(rows: list[Row], like: str, place: tuple[float, float]) -> float:
    """Return the value of visits at the first interval, if the run is shorter than two of them; otherwise 0."""
    if like not in _FIRST_DAYS:
        return 0.0
    found = mean(rows, policy=_PREFIX + _every(_FIRST_DAYS[like]), correlation=place[0], budget=place[1])
    return 0.0 if math.isnan(found) else found


def _more(rows: list[Row], rule: str, place: tuple[float, float]) -> float:
    found = mean(rows, policy=_PREFIX + rule, correlation=place[0], budget=place[1])
    return 0.0 if math.isnan(found) else found - printed()[rule, *place]
