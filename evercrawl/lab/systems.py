"""Published crawlers as policies, beside ours: every one with rates to learn, and nothing known at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.lab.base import Experiment, Findings
from evercrawl.lab.contest import PAGES, TURNS, chosen, contest, drawn, panels, plain, table
from evercrawl.lab.contestants import SYSTEMS
from evercrawl.lab.printed_ratios import BUDGETS
from evercrawl.lab.promises import abandons_none, whole
from evercrawl.lab.yardsticks import closed_forms, reaches

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Say

_DRAWN: Final = (
    "price", "optimal", "lambda_crawl, random", "nutch_adaptive, a cycle", "stormcrawler_adaptive", "chile", "tianwang",
    "rpuc", "cycle",
)  # fmt: skip


class Systems(Experiment):
    """How much of the best possible freshness each policy reaches that learns as it goes, ours and published ones.

    References
    ----------
    Meng, Wang, Yan (2006), and the works that each policy names. Figures were printed for 10,000 pages.
    """

    pages = PAGES
    turns = TURNS
    compares = True

    def run(self, options: Options, say: Say) -> Findings:
        """Run them all, and hold those of which something was printed to it."""
        plain(options, "systems")
        asked = chosen(SYSTEMS, options)
        rows = closed_forms([each.like for each in asked], options, options.budgets or BUDGETS, say)
        rows += contest(SYSTEMS, options, BUDGETS, say)
        title = f"Policies that learn rates, {options.pages or PAGES:,} pages, as a part of the optimum"
        found = Findings(title, rows, panels=panels(rows, drawn(rows, options, _DRAWN)))
        for each in asked:
            held = reaches(rows, each.label, each.like, promised=whole(options))
            found.claims += held or [table(rows, each.label)]
        found.claims += abandons_none(rows, ["price"], promised=whole(options))
        return found
