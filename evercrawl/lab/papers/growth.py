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
"""The rules for the guess; `none`: a guess of 0; `alone`: each page is judged by what it has earned itself."""
PUSH: Final = "push, settled (our default)"
"""Push, which solves the links of the pages read and needs no guess."""
FIRST_VISITS: Final = "first visits"
"""The cash that newcomers had earned at their first visit, divided by the time it took."""

_KINDS: Final = ("power-law", "poisson")
_TURNS: Final = 4  # of the window
_LENGTH: Final = _TURNS * TURN
_LOOKS: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # shares of the pages known, or existing, at which newcomers are judged
_FASTER: Final = 0.1  # share of all pages by which a web grows per turn
_MOST: Final = 0.9  # maximum share of newcomers among known pages; beyond it there is nothing to compare them with
_AT_ONCE: Final = 0.005  # share of the pages that are added at once
_DRAWN: Final = ("mean", "variance", "weighted", "rank")  # measures of error with a panel, for the first web


class Growth(Experiment):
    """How each rule estimates newcomers, compared with their true importance, while a web is being discovered.

    A web grows in one of two ways. *Found*: a greedy crawl begins with five pages and finds others by their links, so
    important pages are found first. *Grown*: random pages are added, a tenth of all pages in a turn. A newcomer is a
    page that became known within the last window, of four turns. Its true importance is its PageRank on the web of that
    moment, as a share of that of all known pages. The estimate of all newcomers together shows whether a rule has their
    level right; the errors of single pages show whether it knows which of them are important. On a Poisson web all
    pages are found in less than a window.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4, on new pages.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Crawl webs from a few seeds, and judge the newcomers as the known part of the web grows."""
        found, errors = Results("Newcomers: estimate / truth"), None
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
    """Crawl the web; yield the share of it that is known, and the crawl, at each of `_LOOKS`."""
    growing = Growing(web, seeds_of(web, seed)[0], _LENGTH)
    for part in _LOOKS:
        growing.run(10 * web.pages, int(part * web.pages))
        if len(growing.known) >= int(part * web.pages):
            yield part, growing


def as_grown(web: Web, seed: int) -> Iterator[tuple[float, Growing]]:
    """Visit the web while it grows; yield the share of it that exists, and the crawl, at each of `_LOOKS`."""
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
    """Return a row for each look and each rule: estimate / truth of all newcomers together, and errors page by page."""
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
    """Return estimate / truth by one rule at each look, or a measure of its errors."""
    return np.array(column(rows, measure, way=way))


def _said(found: Floats) -> str:
    return f"{found.min():.2g} to {found.max():.2g}" if len(found) else ""


def _panel(name: str, rows: list[Row]) -> Panel:
    return Panel(name, "pages known, %", "newcomers, estimate / truth", _curves(rows, "ratio"), log=True)


def _errors(rows: list[Row], measure: str) -> Panel:
    y, curves = told_of(measure, "newcomers"), _curves(rows, measure, MEASURES[measure].scale)
    return Panel(str(rows[0]["graph"]), "pages known, %", y, curves, log=True)


def _curves(rows: list[Row], measure: str, scale: float = 1.0) -> list[PanelCurve]:
    """Return a curve for each rule; a rule with the same estimate for all pages has no rank errors."""
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
        return [Claim(f"newcomers can be distinguished from other pages: {name}", "", why, None)]
    far = {way: float(np.abs(np.log(ratios(rows, way))).mean()) for way in WAYS}
    each = ", ".join(f"{way} {_said(ratios(rows, way))}" for way in WAYS)
    first, paper, pooled = (ratios(rows, way) for way in (FIRST_VISITS, "guess, paper", "guess, pooled"))
    missed, borne = (ratios(rows, way, "weighted").mean() for way in (FIRST_VISITS, "guess, pooled"))
    return [
        Claim(f"newcomers are about as important as other recently introduced pages: {name}", "1",
              f"this guess / truth {_said(paper)}; pooled guess / truth {_said(pooled)}",
              bool(abs(np.log(paper)).mean() < abs(np.log(2)))),
        Claim(f"first visits show what newcomers earn: {name}", "1",
              f"guess / truth {_said(first)}, because pages with cash are visited first; error weighted by importance: "
              f"this guess for every newcomer {percent(missed)}, the pooled guess for every newcomer {percent(borne)}",
              bool(missed <= borne)),
        Claim(f"the pooled guess is closer to the truth than that of the paper: {name}", "(ours)",
              f"estimate / truth: {each}", far["pooled"] < far["paper"]),
    ]  # fmt: skip
