"""The comparison of schedules by what is known of rates: closed forms, and ours with rates known and learned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from evercrawl.lab.base import Claim, Experiment, Findings
from evercrawl.lab.contest import PAGES, TURNS, as_printed, contest, mean, panels, plain, populations
from evercrawl.lab.contestants import INDEX
from evercrawl.lab.printed_ratios import BUDGETS, CORRELATIONS
from evercrawl.lab.still_rates import EVEN, RANDOM, still

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Row, Say

LEAST: Final = {
    **{
        f"price, known rates, start price x {times:g}": {(c, b): 0.995 for c in CORRELATIONS for b in BUDGETS}
        for times in (0.01, 100.0)
    },
    "price": {
        (0.0, 0.01): 0.95, (0.0, 0.1): 0.98, (0.0, 1.0): 0.99, (0.5, 0.01): 0.90, (0.5, 0.1): 0.96, (0.5, 1.0): 0.99,
    },
    "price, all dated": {(c, b): least for c in CORRELATIONS for b, least in ((0.01, 0.94), (0.1, 0.98), (1.0, 0.99))},
}  # fmt: skip
"""What we promise of each row, by correlation and budget."""
_DRAWN: Final = (
    "price",
    "price, known rates, start price x 100",
    "Azar, even",
    "LambdaCrawl, random",
    "f ~ w",
    "Carney pf",
    "uniform",
)


class Freshness(Experiment):
    """How much of the best possible freshness each way of choosing reaches, at budgets from 1 to 100 % of pages a day.

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers. Figures were printed for 10,000 pages.
    """

    pages = PAGES
    turns = TURNS

    def run(self, options: Options, say: Say) -> Findings:
        """Work out fixed rates in closed form, and run ours with rates known and learned."""
        plain(options, "freshness")
        rows = _still(options, say) + contest(INDEX, options, BUDGETS, say)
        title = f"Freshness by budget, {options.pages or PAGES:,} pages, as a part of the optimum"
        whole = (options.pages or PAGES) >= PAGES and (options.turns or TURNS) >= TURNS
        found = Findings(title, rows, panels=panels(rows, _DRAWN))
        for label in (*EVEN, *RANDOM):
            found.claims += as_printed(rows, label, label, promised=False)
        for each in INDEX:
            found.claims += as_printed(rows, each.label, each.like, promised=False, reached=True)
        found.claims += [promise(rows, label, least, promised=whole) for label, least in LEAST.items()]
        found.claims.append(_abandoned(rows, promised=whole))
        return found


def promise(rows: list[Row], label: str, least: dict[tuple[float, float], float], *, promised: bool) -> Claim:
    """Return what we promise of a row, beside what was found."""
    found = {place: mean(rows, policy=label, correlation=place[0], budget=place[1]) for place in least}
    places = [place for place in least if not math.isnan(found[place])]
    said = ", ".join(f"{c:g}/{100 * b:g} %: {least[c, b]:g}" for c, b in places)
    told = ", ".join(f"{found[place]:.3f}" for place in places)
    holds = all(found[place] >= least[place] for place in places)
    return Claim(f"{label}: what we promise at least (correlation/budget)", f"(ours) {said}", told, holds, promised)


def _abandoned(rows: list[Row], *, promised: bool) -> Claim:
    most = max(int(row["abandoned"]) for row in rows if row["policy"] == "price")
    told = f"{most} pages in the worst run that have no visit to come"
    return Claim("price abandons no page", "(ours) 0", told, most == 0, promised)


def _still(options: Options, say: Say) -> list[Row]:
    rows = list["Row"]()
    for correlation, seed, pages in populations(options):
        say(f"fixed rates in closed form, correlation {correlation:g}, seed {seed}")
        for budget in BUDGETS:
            best = pages.optimum(budget).value
            for label, ratio in still(pages, budget).items():
                rows.append(
                    {
                        "policy": label, "seed": seed, "budget": budget, "ratio": ratio, "value": ratio * best,
                        "optimum": best, "unused": 0.0, "abandoned": 0, "left": 0.0, "seconds": 0.0,
                        "correlation": correlation,
                    }
                )  # fmt: skip
    return rows
