"""Unread pages: the precision of their importance before they are read."""

from typing import Final

import numpy as np

from evercrawl.importance.offline import solve
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say
from evercrawl.lab.engine.engine import OpicEngine
from evercrawl.lab.engine.picking import CyclePicker, Picker, PickingView
from evercrawl.lab.papers.accuracy import MEASURES, among, importance, ranks_of, told_of
from evercrawl.lab.papers.collecting import collect, known_links
from evercrawl.lab.papers.orders import seeds_of
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import column, listed
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

SCHEMES: Final = ("in-degree", "AOPIC, one visit each", "AOPIC, ten visits each", "push, settled (default)")
PARTS: Final = (0.2, 0.4, 0.7)
"""Shares of the reachable pages that are read; the paper had read 400 million of a thousand million known pages."""

_ORDERS: Final = ("breadth_first", "opic", "random")
_DRAWN: Final = ("mean", "variance", "weighted")  # measures with a panel, besides ranks, for the order of OPIC
_TAX: Final = 0.15
_TOP: Final = 10  # the best tenth is compared


class Unread(Experiment):
    """How well unread pages are ranked by the links of read ones, when 20, 40 and 70 % are read.

    Pages are read breadth-first, in the order of OPIC, or at random. The unread pages with a link from a read page are
    ranked. The measures are Spearman's correlation with PageRank on the whole web, and the share of the most important
    tenth that is ranked in the first tenth. The rows also contain the errors of importance among these pages.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 6: importance of unread
    pages, of which there were more than of read ones.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Read a share of the web, and rank the unread pages."""
        web = web_of(options, self.pages)
        truth, seeds = importance(web), seeds_of(web, options.seed)[0]
        rows: list[Row] = []
        for order in _ORDERS:
            pages = collect(web, order, seeds, truth, options.seed)
            for part in PARTS:
                say(f"{part:.0%} read, {order.replace('_', '-')}")
                rows += ranked(web, pages[: int(part * len(pages))], truth, order, part, options.seed)
        found = Results(f"Ranks of unread pages, {web.pages:,} pages", rows, _claims(rows))
        found.panels = [_panel(rows, order) for order in _ORDERS]
        found.panels += [_errors(rows, "opic", name) for name in _DRAWN]
        return found


def ranked(web: Web, read: Ints, truth: Floats, order: str, part: float, seed: int) -> list[Row]:
    """Return for each scheme how well it ranks the known unread pages, and its errors."""
    links = known_links(web, read)
    into: Floats = np.bincount(links.target, minlength=web.pages).astype(np.float64)
    unread = into > 0
    unread[read] = False
    once, often = _opic(web, read, seed)
    source = np.zeros(web.pages)
    source[read] = 1.0
    estimates = (into, once, often, solve(links, _TAX, source))
    return [
        {
            "order": order, "read": part, "pages": int(unread.sum()), "scheme": scheme,
            "correlation": spearman(values[unread], truth[unread]), "found": best(values[unread], truth[unread]),
            **among(truth[unread], values[unread])._asdict(),
        }
        for scheme, values in zip(SCHEMES, estimates, strict=True)
    ]  # fmt: skip


class Among(Picker):
    """A picker of some pages only: first in the given order, then in a cycle."""

    def __init__(self, pages: Ints, seed: int = 0) -> None:
        self._pages, self._first, self._cycle = pages, len(pages), CyclePicker(seed)

    @property
    def pages(self) -> int:
        """Number of these pages."""
        return len(self._pages)

    def next(self, visits: int, at: PickingView) -> Ints:
        """Return the next pages of the list, and after its end those of the cycle."""
        begun = self.pages - self._first
        listed = self._pages[begun : begun + visits]
        self._first -= len(listed)
        more = visits - len(listed)
        return np.concatenate([listed, self._pages[self._cycle.next(more, _Few(self.pages))]]) if more else listed


class _Few:
    """A view for the cycle, which needs only the number of pages."""

    def __init__(self, pages: int) -> None:
        self.pages = pages

    def estimate(self) -> Floats:
        """Return ones: the cycle does not use the estimate."""
        return np.ones(self.pages)


def _opic(web: Web, read: Ints, seed: int) -> tuple[Floats, Floats]:
    """Return the cash that each page has earned, after one visit to each read page and after ten."""
    opic = OpicEngine(web, Among(read, seed))
    opic.run(len(read))
    once = opic.earned.copy()
    opic.run(9 * len(read))
    return once, opic.earned


def spearman(values: Floats, others: Floats) -> float:
    """Return the rank correlation of two columns; equal values have the mean of their ranks.

    >>> spearman(np.array([1.0, 2.0, 2.0, 5.0]), np.array([1.0, 3.0, 3.0, 9.0]))
    1.0
    """
    if len(values) <= 1:
        return float("nan")
    return round(float(np.corrcoef(ranks_of(values), ranks_of(others))[0, 1]), 12)


def best(values: Floats, truth: Floats) -> float:
    """Return the share of the most important tenth, by the truth, that is in the first tenth by `values`.

    >>> best(np.arange(20.0), np.roll(np.arange(20.0), 1))
    0.5
    """
    count = max(len(truth) // _TOP, 1)
    first, right = (np.argsort(-column, kind="stable")[:count] for column in (values, truth))
    return len(np.intersect1d(first, right)) / count


def _claims(rows: list[Row]) -> list[Claim]:
    degree, _, often, push = SCHEMES
    claims = list[Claim]()
    for order in _ORDERS:
        name = order.replace("_", "-")
        each = {scheme: _parts(rows, order, scheme) for scheme in SCHEMES}
        said = "; ".join(f"{scheme} {listed(values, 2)}" for scheme, values in each.items())
        tops = [listed(_parts(rows, order, scheme, "found"), 2) for scheme in (push, degree)]
        claims += [
            Claim(f"OPIC can rank unread pages: {name}", "", f"rank correlation: {said}", min(each[often]) > 0),
            Claim(f"push ranks unread pages better than the count of known links: {name}", "(ours)",
                  f"rank correlation {listed(each[push], 2)} vs. {listed(each[degree], 2)}; "
                  f"share of the best tenth {tops[0]} vs. {tops[1]}",
                  all(ours > other for ours, other in zip(each[push], each[degree], strict=True))),
        ]  # fmt: skip
    return claims


def _parts(rows: list[Row], order: str, scheme: str, measure: str = "correlation") -> list[float]:
    return column(rows, measure, order=order, scheme=scheme)


def _panel(rows: list[Row], order: str) -> Panel:
    y = "rank correlation with the truth, unread pages"
    return Panel(order.replace("_", " "), "pages read, %", y, _curves(rows, order, "correlation"))


def _errors(rows: list[Row], order: str, measure: str) -> Panel:
    y, curves = told_of(measure, "unread pages"), _curves(rows, order, measure, MEASURES[measure].scale)
    return Panel(order.replace("_", " "), "pages read, %", y, curves, log=True)


def _curves(rows: list[Row], order: str, measure: str, scale: float = 1.0) -> list[PanelCurve]:
    return [
        PanelCurve(
            scheme,
            [100 * part for part in PARTS],
            [scale * value for value in _parts(rows, order, scheme, measure)],
            ours=scheme == SCHEMES[-1],
        )
        for scheme in SCHEMES
    ]
