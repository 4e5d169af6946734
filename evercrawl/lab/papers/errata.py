"""Errata: published statements that are wrong, and by how much."""

from typing import Final

import numpy as np

from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say
from evercrawl.lab.engine.engine import Moves, OpicEngine, VisitWatcher
from evercrawl.lab.engine.picking import CyclePicker, GreedyPicker, Picker, RandomPicker
from evercrawl.lab.papers.accuracy import importance
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import column, percent
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

_SMALL: Final = 100  # pages of the web on which the pseudo-code is followed literally
_LINKS: Final = 3  # links per page, one of them to the page itself
_TURNS_SMALL: Final = 3
_NEW: Final = 0.5  # share of the pages that begin without cash


class Errata(Experiment):
    """Printed statements about self-links, the bound, the greedy order and newcomers, compared with measurements.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, sections 3 and 4.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Follow the pseudo-code on a few pages, and test the rest on a graph."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        say("self-links")
        rows, claims = self_links(options.seed)
        say("the bound, and the cash that a visit moves")
        for made in (_moved(web, turns, options.seed), _newcomers(web, options.seed)):
            rows, claims = rows + made[0], claims + made[1]
        found = Results("Errors found in print", rows, claims)
        found.panels = [_panel(rows, "last"), _panel(rows, "first")]
        return found


def self_links(seed: int) -> tuple[list[Row], list[Claim]]:
    """Visit pages with links to themselves; set their cash to 0 after passing it on, as printed, and before."""
    random = np.random.default_rng(seed)
    links = np.column_stack([np.arange(_SMALL), random.integers(_SMALL, size=(_SMALL, _LINKS - 1))])
    order = random.integers(_SMALL, size=_TURNS_SMALL * _SMALL)
    rows: list[Row] = []
    ends = dict[str, tuple[float, float, float]]()
    for zeroed in ("last", "first"):
        cash, history, clock = np.full(_SMALL, 1 / _SMALL), 0.0, 0.0
        for visit, page in enumerate(order.tolist(), 1):
            amount = float(cash[page])
            history += amount
            if zeroed == "first":
                clock, cash[page] = clock + amount, 0.0
            np.add.at(cash, links[page], amount / _LINKS)
            if zeroed == "last":
                clock, cash[page] = clock + float(cash[page]), 0.0
            rows.append(_row(f"zeroed {zeroed}", visit, float(cash.sum()), clock))
        ends[zeroed] = float(cash.sum()), history, clock
    (lost, history, clock), (kept, right, right_clock) = ends["last"], ends["first"]
    after = f"after {len(order)} visits to {_SMALL} pages"
    return rows, [
        Claim("the sum of all cash is constant if a page's cash is set to 0 after it is passed on", "1",
              f"{percent(lost)} is left {after}; if set to 0 first: {percent(kept)}", lost > 1 - 1e-9),
        Claim("the histories sum to G if a page's cash is set to 0 after it is passed on", "",
              f"sum {history:.2f}, G {clock:.2f}; if set to 0 first: sum {right:.2f}, G {right_clock:.2f}",
              abs(history - clock) < 1e-9),
    ]  # fmt: skip


def _moved(web: Web, turns: int, seed: int) -> tuple[list[Row], list[Claim]]:
    rows: list[Row] = []
    clock, most, total = dict[str, float](), 0.0, 0.0
    pickers: dict[str, Picker] = {"random": RandomPicker(seed), "cycle": CyclePicker(seed), "greedy": GreedyPicker()}
    for name, picker in pickers.items():
        opic = OpicEngine(web, picker)
        for turn in range(1, turns + 1):
            opic.run(web.pages)
            off = np.abs(opic.cash - opic.given)
            most, total = max(most, float(off.max())), max(total, float(off.sum()))
            rows.append(_row(f"G, {name}", turn * web.pages, float(off.sum()), opic.total))
        clock[name] = opic.total
    factor = {name: value / clock["random"] for name, value in clock.items()}
    return rows, [
        Claim("one step of the matrix changes X = H/G by at most 1/|H|", "1/G, in an unspecified norm",
              f"single page {most:.2g}/G, sum over all pages {total:.2f}/G (bounds: 1/G and 2/G)", total <= 1),
        Claim("greedy visits move twice the cash of random visits, because they find pages at their maximum", "2",
              f"greedy {factor['greedy']:.2f} times; but a cycle, which does not, {factor['cycle']:.2f} times",
              factor["cycle"] < 1.5),
    ]  # fmt: skip


class _First(VisitWatcher):
    """A watcher that records what newcomers had earned per unit of G at their first visit."""

    def __init__(self, newcomers: Ints, pages: int) -> None:
        self.rate = np.full(pages, np.nan)
        self._waiting = np.zeros(pages, bool)
        self._waiting[newcomers] = True

    def watch(self, visits: Moves) -> None:
        """Record the first visits of newcomers."""
        page, at = np.unique(visits.page, return_index=True)
        new = self._waiting[page]
        self.rate[page[new]] = visits.earned[at[new]] / visits.clock[at[new]]
        self._waiting[page[new]] = False

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the recorded rates, shape (n,); nan for pages without one."""
        return self.rate


def _newcomers(web: Web, seed: int) -> tuple[list[Row], list[Claim]]:
    """Let half of the pages begin without cash, and compare those visited in the first turn with those waiting."""
    new = np.random.default_rng((seed, 23)).permutation(web.pages)[: int(_NEW * web.pages)]
    given = np.full(web.pages, 1 / (web.pages - len(new)))
    given[new] = 0.0
    first = _First(new, web.pages)
    opic = OpicEngine(web, GreedyPicker(), watchers=[first], given=given)
    opic.run(web.pages)
    true = importance(web)
    seen, waiting = new[~np.isnan(first.rate[new])], new[np.isnan(first.rate[new])]
    printed = float(first.rate[seen].mean() / true[waiting].mean())
    pooled = float(opic.cash[waiting].sum() / (len(waiting) * opic.total) / true[waiting].mean())
    rows = [_row("newcomers, mean of those visited", web.pages, printed, opic.total)]
    rows.append(_row("newcomers, pooled rate of those that wait", web.pages, pooled, opic.total))
    own = float(first.rate[seen].mean() / true[seen].mean())
    said = (
        f"{len(seen):,} of {len(new):,} were visited in the first turn; by their cash at the first visit they seemed "
        f"{own:.2f} times as important as they are, and {printed:.1f} times as important as the waiting pages. "
    )
    said += "Cash of all waiting pages divided by their ages: "
    return rows, [Claim("a new page is about as important as other recently introduced pages", "",
                        f"{said}{pooled:.2f} times the truth", 1 / 1.5 < printed < 1.5)]  # fmt: skip


def _row(what: str, visits: int, value: float, clock: float) -> Row:
    return {"what": what, "visits": visits, "value": value, "clock": clock}


def _panel(rows: list[Row], zeroed: str) -> Panel:
    at = f"zeroed {zeroed}"
    x, cash, clock = (column(rows, name, what=at) for name in ("visits", "value", "clock"))
    curves = [PanelCurve("all cash", x, cash, ours=True), PanelCurve("cash moved so far, G", x, clock)]
    return Panel(f"self-links, cash set to 0 {zeroed}", "visits", "in units of the cash there was", curves)
