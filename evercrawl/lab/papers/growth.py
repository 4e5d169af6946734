"""Growth: estimated and true importance of newly found pages."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from evercrawl.importance.newcomers import RULES, Newcomers, guess
from evercrawl.importance.windows.base import TURN
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say
from evercrawl.lab.papers.accuracy import MEASURES, RANKED, TrueImportance, importance, told_of
from evercrawl.lab.papers.growing import Growing
from evercrawl.lab.papers.orders import seeds_of
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import column, percent
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats

WAYS: Final = (*RULES, "none", "alone")
"""Rules for the guess; no history at all, a guess of 0; and each page judged by what it earned alone."""
PUSH: Final = "push, settled (our default)"
"""Of the links of the pages read: there is nothing to guess."""
FIRST_VISITS: Final = "first visits"
"""What newcomers turned out to have earned, and in how long, when they were first visited."""

_KINDS: Final = ("power-law", "poisson")
_TURNS: Final = 4  # of the window
_LENGTH: Final = _TURNS * TURN
_LOOKS: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # parts of the pages known, or there, when newcomers are looked at
_FASTER: Final = 0.1  # by which part a web grows while as many pages are visited as there are
_MOST: Final = 0.9  # of all pages known: where more are newcomers, there is nobody to compare them with
_AT_ONCE: Final = 0.005  # part of the pages that come into being together
_DRAWN: Final = ("mean", "variance", "weighted", "rank")  # measures of error with a panel, for the first web


class Growth(Experiment):
    """How each rule estimates newcomers, compared with their true importance, while a web is being discovered.

    A greedy crawl begins with five pages, and knows of others as it finds links to them: that is one way to grow, in
    which pages that matter are found first. In the other, any pages come into being, a tenth of all in a turn. A
    newcomer is a page that became known within the last window, of four turns; its worth is its PageRank on the web as
    it is then, as a share of that of all pages known. What is said of all newcomers together tells whether a rule has
    their level right; the errors, page by page, tell whether it knows which of them matter. On a web without order all
    pages are found in less than a window.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4, on new pages.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Crawl webs from a few pages on, and look at the newcomers as more and more is known."""
        found, errors = Results("Newcomers: estimate over truth"), None
        graph = [options.graph.name.split(".")[0]] if options.graph else []
        for kind in graph or ([options.kind] if options.kind else _KINDS):
            web = web_of(options if graph else replace(options, kind=kind), self.pages)
            for way, looks in (("found", as_found), ("grown", as_grown)):
                name = f"{kind}, {way}"
                say(f"newcomers, {name}")
                rows = observed(name, looks(web, options.seed))
                found.rows += rows
                found.panels += [_panel(name, rows)] if rows else []
                errors = rows if errors is None and rows else errors
                found.claims += _claims(name, rows)
        found.panels += [_errors(errors, measure) for measure in _DRAWN] if errors else []
        return found


def as_found(web: Web, seed: int) -> Iterator[tuple[float, Growing]]:
    """Crawl the web; yield how much of it is known, and the crawl, now and then."""
    growing = Growing(web, seeds_of(web, seed)[0], _LENGTH)
    for part in _LOOKS:
        growing.run(10 * web.pages, int(part * web.pages))
        if len(growing.known) >= int(part * web.pages):
            yield part, growing


def as_grown(web: Web, seed: int) -> Iterator[tuple[float, Growing]]:
    """Visit the web while it grows; yield how much of it is there, and the crawl, now and then."""
    seeds, random = seeds_of(web, seed)[0], np.random.default_rng((seed, 47))
    turn, begun = np.empty(web.pages, np.int64), int(_LOOKS[0] * web.pages) // 2
    turn[np.concatenate([seeds, np.setdiff1d(random.permutation(web.pages), seeds, assume_unique=True)])] = np.arange(
        web.pages
    )
    growing = Growing(web, seeds, _LENGTH, turn)
    growing.there = begun
    growing.run(2 * _TURNS * begun)
    for part in _LOOKS:
        while growing.there < int(part * web.pages):
            more = max(int(_AT_ONCE * web.pages), 1)
            growing.run(round(more / _FASTER))
            growing.there += more
        growing.run(round(_AT_ONCE * web.pages / _FASTER))
        yield part, growing


def observed(name: str, looks: Iterator[tuple[float, Growing]]) -> list[Row]:
    """Return a row for each look and each way: all newcomers together, estimate over truth, and errors of each."""
    rows: list[Row] = []
    for part, growing in looks:
        truth, new, seen = importance(growing.now()), growing.newcomers(), growing.seen()
        worth = truth[new].sum() / truth[growing.known].sum()
        if not len(new) or len(new) > _MOST * len(growing.known):
            continue
        said = {way: growing.shares(_guess(way, seen))[new] for way in WAYS} | {PUSH: growing.solved()[new]}
        alike = {FIRST_VISITS: growing.at_first_visits()} | {f"guess, {rule}": guess(rule, seen) for rule in RULES}
        said |= {way: np.full(len(new), value) for way, value in alike.items()}
        right = TrueImportance(truth[new] / truth[new].sum(), ranks=len(new) <= RANKED)
        for way, values in said.items():
            row: Row = {"graph": name, "known": part, "newcomers": len(new), "way": way}
            errors: Row = right.accuracy(values / worth, level=True)._asdict()
            rows.append(row | {"ratio": float(values.sum() / worth)} | errors)
    return rows


def _guess(way: str, seen: Newcomers) -> float | None:
    for rule in RULES:
        if way == rule:
            return guess(rule, seen)
    return 0.0 if way == "none" else None


def ratios(rows: list[Row], way: str, measure: str = "ratio") -> Floats:
    """Return estimate over truth by one way at each look, or a measure of its errors."""
    return np.array(column(rows, measure, way=way))


def _said(found: Floats) -> str:
    return f"{found.min():.2g} to {found.max():.2g}" if len(found) else ""


def _panel(name: str, rows: list[Row]) -> Panel:
    return Panel(name, "pages known, %", "newcomers, estimate over truth", _curves(rows, "ratio"), log=True)


def _errors(rows: list[Row], measure: str) -> Panel:
    y, curves = told_of(measure, "newcomers"), _curves(rows, measure, MEASURES[measure].scale)
    return Panel(str(rows[0]["graph"]), "pages known, %", y, curves, log=True)


def _curves(rows: list[Row], measure: str, scale: float = 1.0) -> list[PanelCurve]:
    """Return a curve for each way there is; of one that says the same of all pages there are no ranks."""
    found = list[PanelCurve]()
    for way in (*WAYS, PUSH, FIRST_VISITS):
        y = scale * ratios(rows, way, measure)
        x = [100 * part for part in column(rows, "known", way=way)]
        if np.isfinite(y).all():
            found.append(PanelCurve(way, x, y.tolist(), ours=way == PUSH))
    return found


def _claims(name: str, rows: list[Row]) -> list[Claim]:
    if not rows:
        why = "all pages became known within a window, or too few could be reached"
        return [Claim(f"newcomers can be told from others: {name}", "", why, None)]
    far = {way: float(np.abs(np.log(ratios(rows, way))).mean()) for way in WAYS}
    each = ", ".join(f"{way} {_said(ratios(rows, way))}" for way in WAYS)
    first, paper, pooled = (ratios(rows, way) for way in (FIRST_VISITS, "guess, paper", "guess, pooled"))
    missed, borne = (ratios(rows, way, "weighted").mean() for way in (FIRST_VISITS, "guess, pooled"))
    return [
        Claim(f"newcomers are worth what pages introduced before them were found to be worth: {name}", "1",
              f"as a guess {_said(paper)} times the truth; pooled {_said(pooled)}",
              bool(abs(np.log(paper)).mean() < abs(np.log(2)))),
        Claim(f"what first visits find says what newcomers earn: {name}", "1",
              f"{_said(first)} times the truth: those with cash are visited first; as a guess at all of them it is off "
              f"by {percent(missed)} of what they are worth, and the pooled one by {percent(borne)}",
              bool(missed <= borne)),
        Claim(f"with the pooled guess newcomers are judged better than with that of the paper: {name}", "(ours)",
              f"estimate over truth: {each}", far["pooled"] < far["paper"]),
    ]  # fmt: skip
