"""Rates and importance that change while a crawl runs."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests.comparison import closed_form, unrun
from evercrawl.lab.contests.contest import Contest, abandons_none, table, whole
from evercrawl.lab.contests.contestants import PLUGGED, Contestant
from evercrawl.lab.polling.polling import Conditions
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import along, at_least, listed, near, ours, places
from evercrawl.schedule.formulas import allocation

_BUDGETS: Final = (0.03, 0.3)
_LEAST: Final = 0.92  # promised share of the optimum if a tenth of all rates change in each cycle
_WITHIN: Final = 0.03
LEARNED: Final = "price, 10 % of rates jump"
"""The row that our promise covers."""
_PLANNED: Final = "optimal by (13), 10 % of rates jump"
_PRINTED: Final = {
    "price_gamma, known rates, 10 % of rates jump": (0.995, 0.992),
    "price, known rates, 10 % of rates jump": (0.995, 0.992),
    LEARNED: (0.93, 0.97),
    "price, forgets 0.3, 10 % of rates jump": (0.95, 0.97),
    "plug-in, Cho (13), 10 % of rates jump": (0.87, 0.86),
    "price_gamma, known rates, 30 % of rates jump": (0.97, 0.98),
    "price_gamma, known rates, 10 % swap importance": (0.98, 0.99),
    "price, 30 % of rates jump": (0.87, 0.95),
    "price, forgets 0.3, 30 % of rates jump": (0.90, 0.96),
    "price, 10 % swap importance": (0.93, 0.98),
}
FROZEN: Final = {"frozen optimum, all rates re-mixed": (0.77, 0.87),
                 "frozen optimum, all importance re-mixed": (0.66, 0.80)}  # fmt: skip
"""Published figures of the old optimal schedule after all rates, or all importance, have moved to other pages."""
_DRAWS: Final = 20


def contestants() -> list[Contestant]:
    """Return the contestants: with rates known, learned, learned with faster forgetting, and point estimates of rates.

    >>> [each.label for each in contestants() if each.label not in _PRINTED]
    ['optimal by (13), 10 % of rates jump']
    """
    makers: Mapping[str, tuple[str, dict[str, float | str], dict[str, float]]] = {
        "price_gamma, known rates": ("price_gamma", {}, {"known": True}),
        "price, known rates": ("price", {}, {"known": True}),
        "price": ("price", {}, {}),
        "price, forgets 0.3": ("price", {}, {"forget": 0.3}),
        "plug-in, Cho (13)": (PLUGGED, {"estimator": "log_corrected"}, {}),
        "optimal by (13)": ("optimal", {"estimator": "log_corrected"}, {}),
    }
    troubles = {
        "10 % of rates jump": {"jumps": 0.1},
        "30 % of rates jump": {"jumps": 0.3},
        "10 % swap importance": {"swaps": 0.1},
    }
    found = list[Contestant]()
    for label in (*_PRINTED, _PLANNED):
        name, _, trouble = label.rpartition(", ")
        policy, options, kind = makers[name]
        found.append(Contestant(label, policy, options, Conditions(**(kind | troubles[trouble]))))  # type: ignore[arg-type]
    return found


class Drift(Contest):
    """How much of the optimum is kept if, in each cycle, some pages change their rate or their importance.

    The optimum knows every rate at every moment. Published figures are for 10,000 pages.
    """

    title = "Rates and importance that drift, as a share of the optimum"
    contestants, budgets = contestants(), _BUDGETS

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return the rows of schedules that are not recomputed."""
        return closed_form(_frozen, options, _BUDGETS, say) if options.whole else []

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Compare each row with its published figure, and ours with our promise."""
        there, promised = self.settings(options), whole(options)
        found = [_as_printed(rows, each.label) for each in there]
        found += [_frozen_claim(rows, name) for name in FROZEN if options.whole]
        if run := _run(rows, LEARNED):
            reached = along(rows, LEARNED, run)
            found.append(ours("price, if 10 % of rates jump in each cycle", _LEAST, reached, promised=promised))
        mine = {each.label for each in there if each.policy == "price"}
        return found + abandons_none(rows, mine, promised=promised)


def _as_printed(rows: list[Row], label: str) -> Claim:
    budgets = _run(rows, label)
    if not budgets or label not in _PRINTED:
        return table(rows, label)
    reached, printed = along(rows, label, budgets), [_PRINTED[label][_BUDGETS.index(budget)] for budget in budgets]
    at = " and ".join(f"{100 * budget:g}" for budget in budgets)
    holds = at_least(reached, printed, _WITHIN)
    return Claim(
        f"{label}: share of the optimum at {at} %, at least as printed, less {_WITHIN:g}",
        listed(printed),
        listed(reached),
        holds,
    )


def _run(rows: list[Row], label: str) -> list[float]:
    """Return the budgets with published figures at which a row was run."""
    run = {budget for _, budget in places(rows, label)}
    return [budget for budget in _BUDGETS if budget in run]


def frozen(pages: Population, budget: float, seed: int) -> tuple[float, float]:
    """Return the share of the new optimum that the old schedule keeps, if rates, or importance, move to other pages."""
    draw, rate = np.random.default_rng([seed, 3]), pages.optimum(budget).rate
    kept = list[tuple[float, float]]()
    for _ in range(_DRAWS):
        order = draw.permutation(len(pages))
        each = ((pages.weight, pages.lam_per_day[order]), (pages.weight[order], pages.lam_per_day))
        one, other = (
            float(np.dot(w, allocation.freshness(rate, lam))) / allocation.optimum(w, lam, budget * len(pages)).value
            for w, lam in each
        )
        kept.append((one, other))
    rates, importance = np.mean(kept, axis=0).tolist()
    return float(rates), float(importance)


def _frozen(pages: Population, seed: int, budget: float) -> Iterator[Row]:
    best = pages.optimum(budget).value
    for name, ratio in zip(FROZEN, frozen(pages, budget, seed), strict=True):
        yield unrun(name, ratio * best, best)


def _frozen_claim(rows: list[Row], name: str) -> Claim:
    found, printed = along(rows, name, _BUDGETS), FROZEN[name]
    holds = near(found, printed, _WITHIN)
    return Claim(f"{name}: share of the optimum at 3 and 30 %", listed(printed), listed(found), holds)
