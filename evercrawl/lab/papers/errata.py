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

_SMALL: Final = 100  # pages on which the pseudo-code is followed to the letter
_LINKS: Final = 3  # of each, one of them to the page itself
_TURNS_SMALL: Final = 3
_NEW: Final = 0.5  # part of the pages that nobody has given cash


class Errata(Experiment):
    """What is printed about self-links, the bound, greed and newcomers, and what is true.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, sections 3 and 4.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Follow the pseudo-code on a few pages, and test the rest on a graph."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        say("self-links")
        rows, claims = self_links(options.seed)
        say("the bound, and what a visit moves")
        for made in (_moved(web, turns, options.seed), _newcomers(web, options.seed)):
            rows, claims = rows + made[0], claims + made[1]
        found = Results("Errors found in print", rows, claims)
        found.panels = [_panel(rows, "last"), _panel(rows, "first")]
        return found


def self_links(seed: int) -> tuple[list[Row], list[Claim]]:
    """Visit pages with links to themselves, their cash set to 0 after it was given out, as printed, and before."""
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
        Claim("all cash together stays what it is, where a page's own is set to 0 last", "1",
              f"{percent(lost)} is left {after}; set to 0 first: {percent(kept)}", lost > 1 - 1e-9),
        Claim("all histories together are G, where a page's own cash is set to 0 last", "",
              f"{history:.2f}, and G is {clock:.2f}; set to 0 first: {right:.2f}, and {right_clock:.2f}",
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
        Claim("X, the history as shares, is kept by a step but for 1/|H|", "1/G, of what norm is not said",
              f"each page's share {most:.2g}/G, all together {total:.2f}/G (bounds: 1/G and 2/G)", total <= 1),
        Claim("greed moves twice the cash of random visits, for it takes pages at their best", "2",
              f"{factor['greedy']:.2f}; but a cycle, which takes them as they come, {factor['cycle']:.2f}",
              factor["cycle"] < 1.5),
    ]  # fmt: skip


class _First(VisitWatcher):
    """Who notes what newcomers had earned per unit of G when they were visited first."""

    def __init__(self, newcomers: Ints, pages: int) -> None:
        self.rate = np.full(pages, np.nan)
        self._waiting = np.zeros(pages, bool)
        self._waiting[newcomers] = True

    def watch(self, visits: Moves) -> None:
        """Take in some visits."""
        page, at = np.unique(visits.page, return_index=True)
        new = self._waiting[page]
        self.rate[page[new]] = visits.earned[at[new]] / visits.clock[at[new]]
        self._waiting[page[new]] = False

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return the rates."""
        return self.rate


def _newcomers(web: Web, seed: int) -> tuple[list[Row], list[Claim]]:
    """Let half of the pages begin without cash, and look at those that come to be visited first."""
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
        f"{len(seen):,} of {len(new):,} were visited in a turn; by their first cash they seemed {printed:.1f} times as"
    )
    said += (
        f" important as those not visited yet, {own:.2f} times as they are. Cash over age of those not visited yet: "
    )
    return rows, [Claim("a new page is about as important as others were found to be lately", "",
                        f"{said}{pooled:.2f} times the truth", 1 / 1.5 < printed < 1.5)]  # fmt: skip


def _row(what: str, visits: int, value: float, clock: float) -> Row:
    return {"what": what, "visits": visits, "value": value, "clock": clock}


def _panel(rows: list[Row], zeroed: str) -> Panel:
    at = f"zeroed {zeroed}"
    x, cash, clock = (column(rows, name, what=at) for name in ("visits", "value", "clock"))
    curves = [PanelCurve("all cash", x, cash, ours=True), PanelCurve("cash moved so far, G", x, clock)]
    return Panel(f"self-links, cash set to 0 {zeroed}", "visits", "in units of the cash there was", curves)
