"""Rates and importance that become others while a crawl goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.lab.base import Claim, Experiment, Findings
from evercrawl.lab.contest import PAGES, TURNS, chosen, contest, listed, mean, panels, plain, table
from evercrawl.lab.contestants import Contestant
from evercrawl.lab.frozen import FROZEN, frozen_claim, frozen_rows
from evercrawl.lab.promises import abandons_none, whole
from evercrawl.simulate.polling import Conditions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evercrawl.lab.base import Options, Row, Say

_BUDGETS: Final = (0.03, 0.3)
_LEAST: Final = 0.92  # of the optimum, where a tenth of all rates become others in a cycle
_WITHIN: Final = 0.03
_LEARNED: Final = "price, 10 % of rates jump"
_PLANNED: Final = "optimal by (13), 10 % of rates jump"
_PRINTED: Final = {
    "price_gamma, known rates, 10 % of rates jump": (0.995, 0.992),
    "price, known rates, 10 % of rates jump": (0.995, 0.992),
    _LEARNED: (0.93, 0.97),
    "price, forgets 0.3, 10 % of rates jump": (0.95, 0.97),
    "plug-in, Cho (13), 10 % of rates jump": (0.87, 0.86),
    "price_gamma, known rates, 30 % of rates jump": (0.97, 0.98),
    "price_gamma, known rates, 10 % swap importance": (0.98, 0.99),
    "price, 30 % of rates jump": (0.87, 0.95),
    "price, forgets 0.3, 30 % of rates jump": (0.90, 0.96),
    "price, 10 % swap importance": (0.93, 0.98),
}


def contestants() -> list[Contestant]:
    """Return who is compared: with rates known, learned, learned and forgotten sooner, and planned by one figure each.

    >>> [each.label for each in contestants() if each.label not in _PRINTED]
    ['optimal by (13), 10 % of rates jump']
    """
    makers: Mapping[str, tuple[str, dict[str, float | str], dict[str, float]]] = {
        "price_gamma, known rates": ("price_gamma", {}, {"known": True}),
        "price, known rates": ("price", {}, {"known": True}),
        "price": ("price", {}, {}),
        "price, forgets 0.3": ("price", {}, {"forget": 0.3}),
        "plug-in, Cho (13)": ("evercrawl.lab.plugged:Plugged", {"estimator": "log_corrected"}, {}),
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


class Drift(Experiment):
    """How much of the optimum is kept when, in each cycle, some pages take another rate or change their importance.

    The optimum is that of who knows every rate at every moment. Figures were printed for 10,000 pages.
    """

    pages = PAGES
    turns = TURNS
    compares = True

    def run(self, options: Options, say: Say) -> Findings:
        """Run them all, where importance and rates do not correlate."""
        plain(options, "drift")
        there = chosen(contestants(), options)
        rows = contest(there, options, _BUDGETS, say, correlations=(0.0,))
        rows += frozen_rows(options) if options.whole else []
        promised = whole(options)
        labels = [each.label for each in there]
        found = Findings("Rates and importance that drift, as a part of the optimum", rows, panels=panels(rows, labels))
        found.claims = [_as_printed(rows, label) for label in labels]
        found.claims += [frozen_claim(rows, name) for name in FROZEN if options.whole]
        reached = [mean(rows, policy=_LEARNED, budget=budget) for budget in _run(rows, _LEARNED)]
        if reached:
            found.claims.append(
                Claim("price, where 10 % of rates jump in a cycle", f"(ours) at least {_LEAST}", listed(reached),
                      min(reached) >= _LEAST, promised)
            )  # fmt: skip
        ours = {each.label for each in there if each.policy == "price"}
        found.claims += abandons_none(rows, ours, promised=promised)
        return found


def _as_printed(rows: list[Row], label: str) -> Claim:
    budgets = _run(rows, label)
    if not budgets or label not in _PRINTED:
        return table(rows, label)
    reached = [mean(rows, policy=label, budget=budget) for budget in budgets]
    printed = [_PRINTED[label][_BUDGETS.index(budget)] for budget in budgets]
    holds = all(one >= figure - _WITHIN for one, figure in zip(reached, printed, strict=True))
    at = " and ".join(f"{100 * budget:g}" for budget in budgets)
    return Claim(f"{label}: as printed, at {at} %", listed(printed), listed(reached), holds)


def _run(rows: list[Row], label: str) -> list[float]:
    """Return at which of the budgets of which something was printed a row was run."""
    run = {float(row["budget"]) for row in rows if row["policy"] == label}
    return [budget for budget in _BUDGETS if budget in run]
