"""Unread pages: how well their importance is known before they are read."""

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
"""Parts of the pages that can be reached that were read; the paper had read 400 million of a thousand million known."""

_ORDERS: Final = ("breadth_first", "opic", "random")
_DRAWN: Final = ("mean", "variance", "weighted")  # beside ranks, for the order of OPIC
_TAX: Final = 0.15
_TOP: Final = 10  # one page in so many is looked for among the best


class Unread(Experiment):
    """How well unread pages are ranked by the links of read ones, when 20, 40 and 70 % are read.

    The pages are read breadth-first, in the order of OPIC, or any first. Ranked are the pages to which some page that
    was read links; the measure is Spearman's correlation with PageRank on the whole web, and the part of their most
    important tenth that is among the first tenth. The errors are told too, of importance among these pages.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 6: importance of pages that
    were never read, of which there were more than of those read.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Read a part of the web, and rank the rest."""
        web = web_of(options, self.pages)
        truth, seeds = importance(web), seeds_of(web, options.seed)[0]
        rows: list[Row] = []
        for order in _ORDERS:
            pages = collect(web, order, seeds, truth, options.seed)
            for part in PARTS:
                say(f"{part:.0%} read, {order.replace('_', '-')}")
                rows += ranked(web, pages[: int(part * len(pages))], truth, order, part, options.seed)
        found = Results(f"Ranks of pages never read, {web.pages:,} pages", rows, _claims(rows))
        found.panels = [_panel(rows, order) for order in _ORDERS]
        found.panels += [_errors(rows, "opic", name) for name in _DRAWN]
        return found


def ranked(web: Web, read: Ints, truth: Floats, order: str, part: float, seed: int) -> list[Row]:
    """Return for each scheme how well it ranks the pages that are known and were not read, and all its errors."""
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
    """Some pages only: first as they are listed, and then round and round."""

    def __init__(self, pages: Ints, seed: int = 0) -> None:
        self._pages, self._first, self._cycle = pages, len(pages), CyclePicker(seed)

    @property
    def pages(self) -> int:
        """How many they are."""
        return len(self._pages)

    def next(self, visits: int, at: PickingView) -> Ints:
        """Go on in the list, and then in the cycle."""
        begun = self.pages - self._first
        listed = self._pages[begun : begun + visits]
        self._first -= len(listed)
        more = visits - len(listed)
        return np.concatenate([listed, self._pages[self._cycle.next(more, _Few(self.pages))]]) if more else listed


class _Few:
    """Says how many pages there are."""

    def __init__(self, pages: int) -> None:
        self.pages = pages

    def estimate(self) -> Floats:
        """Return nothing of interest."""
        return np.ones(self.pages)


def _opic(web: Web, read: Ints, seed: int) -> tuple[Floats, Floats]:
    """Return the cash of each page that it did not begin with, after one visit to each page read, and after ten."""
    opic = OpicEngine(web, Among(read, seed))
    opic.run(len(read))
    once = opic.earned.copy()
    opic.run(9 * len(read))
    return once, opic.earned


def spearman(values: Floats, others: Floats) -> float:
    """Return the correlation of the ranks of two columns, equal values having the mean of their ranks.

    >>> spearman(np.array([1.0, 2.0, 2.0, 5.0]), np.array([1.0, 3.0, 3.0, 9.0]))
    1.0
    """
    if len(values) <= 1:
        return float("nan")
    return round(float(np.corrcoef(ranks_of(values), ranks_of(others))[0, 1]), 12)


def best(values: Floats, truth: Floats) -> float:
    """Return the part of the tenth that matters most in truth that is in the first tenth by another measure.

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
            Claim(f"OPIC tells the importance of pages never read, {name}", "", said, min(each[often]) > 0),
            Claim(f"push tells it better than a count of known links, {name}", "(ours)",
                  f"{listed(each[push], 2)} for {listed(each[degree], 2)}; of the best tenth {tops[0]} for {tops[1]}",
                  all(ours > other for ours, other in zip(each[push], each[degree], strict=True))),
        ]  # fmt: skip
    return claims


def _parts(rows: list[Row], order: str, scheme: str, measure: str = "correlation") -> list[float]:
    return column(rows, measure, order=order, scheme=scheme)


def _panel(rows: list[Row], order: str) -> Panel:
    y = "rank correlation with the truth, pages never read"
    return Panel(order.replace("_", " "), "pages read, %", y, _curves(rows, order, "correlation"))


def _errors(rows: list[Row], order: str, measure: str) -> Panel:
    y, curves = told_of(measure, "pages never read"), _curves(rows, order, measure, MEASURES[measure].scale)
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
