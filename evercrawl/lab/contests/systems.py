"""Published policies and crawlers, compared with ours: all learn rates, and start without knowledge."""

from typing import Final

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests.contest import Contest, abandons_none, table, whole
from evercrawl.lab.contests.contestants import SYSTEMS
from evercrawl.lab.contests.printed_ratios import BUDGETS, CORRELATIONS
from evercrawl.lab.contests.yardsticks import closed_forms, reaches

_DRAWN: Final = (
    "price", "optimal", "lambda_crawl, random", "nutch_adaptive, a cycle", "stormcrawler_adaptive", "chile", "tianwang",
    "rpuc", "cycle",
)  # fmt: skip


class Systems(Contest):
    """How much of the best possible freshness each policy that learns rates reaches, ours and published ones.

    References
    ----------
    Meng, Wang, Yan (2006), and the works that each policy names. Published figures are for 10,000 pages.
    """

    title = "Policies that learn rates, {pages} pages, as a share of the optimum"
    contestants, usual = SYSTEMS, _DRAWN
    budgets, correlations = BUDGETS, CORRELATIONS

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return closed forms on these pages, for comparison with the published population."""
        return closed_forms([each.like for each in self.settings(options)], options, options.budgets or BUDGETS, say)

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Compare each row with its published figures, if there are any."""
        found, promised = list["Claim"](), whole(options)
        for each in self.settings(options):
            found += reaches(rows, each.label, each.like, promised=promised) or [table(rows, each.label)]
        return found + abandons_none(rows, ["price"], promised=promised)
