"""Comparison of schedules by knowledge of rates: closed forms, and our index with rates known and learned."""

from collections.abc import Iterator
from typing import Final

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests import blends, byte_costs, ends
from evercrawl.lab.contests.comparison import closed_form, unrun
from evercrawl.lab.contests.contest import Contest, abandons_none, as_printed, promise, whole, worst
from evercrawl.lab.contests.contestants import INDEX, STARTS
from evercrawl.lab.contests.printed_ratios import BUDGETS, CORRELATIONS
from evercrawl.lab.contests.still_rates import EVEN, RANDOM, still
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import labels

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
"""The promised share of the optimum of each row, by correlation and budget."""
_DRAWN: Final = (
    "price",
    "price, known rates, start price x 100",
    "Azar, even",
    "LambdaCrawl, random",
    "f ~ w",
    "Carney pf",
    "uniform",
)


class Freshness(Contest):
    """How much of the best possible freshness each schedule reaches, for budgets of 1 to 100 % of the pages per day.

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers. Published figures are for 10,000 pages.
    """

    title = "Freshness by budget, {pages} pages, as a share of the optimum"
    contestants, usual = INDEX, _DRAWN
    budgets, correlations = BUDGETS, CORRELATIONS

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return the rows of fixed rates, and those of objectives other than freshness per visit."""
        budgets = options.budgets or BUDGETS
        rows = [] if options.policies else closed_form(_still, options, budgets, say, CORRELATIONS)
        return rows + (blends.rows(options, say) + byte_costs.rows(options, say) + ends.rows(options, say)
                       if options.whole else [])  # fmt: skip

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Check the runs against the published figures and our promises."""
        promised, found, run = whole(options), list["Claim"](), labels(rows)
        for label in (*EVEN, *RANDOM):
            found += as_printed(rows, label, label, promised=False)
        for each in INDEX:
            found += as_printed(rows, each.label, each.like, promised=False, reached=True)
        for name in [name for name in LEAST if name in run]:
            found += promise(rows, name, LEAST[name], promised=promised)
        ours = {each.label for each in INDEX if each.policy == "price"}
        found += worst(rows) + abandons_none(rows, ours, promised=promised)
        if options.whole:
            found += blends.claims(rows) + byte_costs.claims(rows) + ends.claims(rows, promised=promised)
        return found


def _still(pages: Population, _: int, budget: float) -> Iterator[Row]:
    best = pages.optimum(budget).value
    for label, ratio in still(pages, budget).items():
        yield unrun(label, ratio * best, best)
