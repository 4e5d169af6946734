"""The comparison of schedules by what is known of rates: closed forms, and ours with rates known and learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.lab import blends, byte_costs, ends
from evercrawl.lab.base import Experiment, Findings
from evercrawl.lab.contest import PAGES, TURNS, as_printed, contest, drawn, labels, panels, plain, populations, unrun
from evercrawl.lab.contestants import INDEX, STARTS
from evercrawl.lab.printed_ratios import BUDGETS, CORRELATIONS
from evercrawl.lab.promises import abandons_none, promise, whole, worst
from evercrawl.lab.still_rates import EVEN, RANDOM, still

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Row, Say

LEAST: Final = {
    **{
        f"{policy}, known rates, start price x {times:g}": {(c, b): 0.995 for c in CORRELATIONS for b in BUDGETS}
        for policy in ("price", "price_gamma")
        for times in STARTS
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
    compares = True

    def run(self, options: Options, say: Say) -> Findings:
        """Work out fixed rates in closed form, and run ours with rates known and learned."""
        plain(options, "freshness")
        rows = [] if options.policies else _still(options, say)
        rows += (
            blends.rows(options, say) + byte_costs.rows(options, say) + ends.rows(options, say) if options.whole else []
        )
        rows += contest(INDEX, options, BUDGETS, say)
        title = f"Freshness by budget, {options.pages or PAGES:,} pages, as a part of the optimum"
        promised = whole(options)
        found = Findings(title, rows, panels=panels(rows, drawn(rows, options, _DRAWN)))
        for label in (*EVEN, *RANDOM):
            found.claims += as_printed(rows, label, label, promised=False)
        for each in INDEX:
            found.claims += as_printed(rows, each.label, each.like, promised=False, reached=True)
        run = labels(rows)
        for name in [name for name in LEAST if name in run]:
            found.claims += promise(rows, name, LEAST[name], promised=promised)
        found.claims += worst(rows)
        ours = {each.label for each in INDEX if each.policy == "price"}
        found.claims += abandons_none(rows, ours, promised=promised)
        if options.whole:
            found.claims += blends.claims(rows) + byte_costs.claims(rows) + ends.claims(rows, promised=promised)
        return found


def _still(options: Options, say: Say) -> list[Row]:
    rows = list["Row"]()
    for correlation, seed, pages in populations(options):
        say(f"fixed rates in closed form, correlation {correlation:g}, seed {seed}")
        for budget in options.budgets or BUDGETS:
            best = pages.optimum(budget).value
            for label, ratio in still(pages, budget).items():
                rows.append(unrun(label, seed, budget, ratio * best, best) | {"correlation": correlation})
    return rows
