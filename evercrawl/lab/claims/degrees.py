"""Effect of out-degrees, and of their correlation with in-degrees, on OPIC."""

from functools import partial
from typing import Final

from evercrawl.errors import ConfigError
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say, judged
from evercrawl.lab.papers.accuracy import ranks_of
from evercrawl.lab.papers.convergence import ORDERS, converge, errors_at
from evercrawl.lab.tables import both, column
from evercrawl.simulate.graphs import Web, cooper_frieze
from evercrawl.types import Floats

_CORRELATIONS: Final = (-0.8, -0.4, 0.0, 0.4, 0.8)
_STEEP: Final = (2.1, 2.7, 3.5)  # exponents of the number of links added at once; the first gives most links
_SAME: Final = 1.5  # maximum ratio of two errors that are about the same
_CASES: Final = {"H/G": "history", "identity": "identity"}


class Degrees(Experiment):
    """Whether out-degrees, and their correlation with in-degrees, change OPIC's errors (Cooper-Frieze webs).

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.2. Cooper, Frieze (2003). A
    general model of web graphs.
    """

    pages = 30_000

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit graphs of eight kinds, greedily, and compare with the truth."""
        if options.kind is not None or options.graph is not None:
            raise ConfigError("degrees generates webs of its own: leave out --graph and --graph-kind")
        pages, turns, rows = options.pages or self.pages, options.turns or self.turns, list[Row]()
        made = {f"correlation {c:g}": partial(cooper_frieze, pages, options.seed, correlation=c) for c in _CORRELATIONS}
        made |= {f"exponent {s:g}": partial(cooper_frieze, pages, options.seed, steep=s) for s in _STEEP}
        for name, draw in made.items():
            say(name)
            web = draw()
            found = converge(web, turns, options.seed, lambda _: None, {"greedy": ORDERS["greedy"]})
            about: Row = {"web": name, "links": web.links / web.pages, "correlation": correlation_of(web)}
            rows += [about | row for row in found]
        results = Results(f"In- and out-degrees, {pages:,} pages, greedy", rows, _claims(rows, turns, list(made)))
        results.panels = [_panel(rows, turns, list(made)[: len(_CORRELATIONS)])]
        return results


def correlation_of(web: Web) -> float:
    """Return Spearman's correlation of the in- and out-degrees of a web.

    >>> round(correlation_of(cooper_frieze(3000, seed=2)), 1)
    -0.0
    """
    into, out = (ranks_of(each.astype(float)) for each in (web.into, web.out))
    return float(_standard(into) @ _standard(out) / len(into))


def _standard(ranks: Floats) -> Floats:
    standard: Floats = (ranks - ranks.mean()) / ranks.std()
    return standard


def _claims(rows: list[Row], turns: int, webs: list[str]) -> list[Claim]:
    by_web = {name: [row for row in rows if row["web"] == name] for name in webs}
    return [
        claim
        for what, some in (("correlation of in- and out-degree", webs[: len(_CORRELATIONS)]),
                           ("number of links per page", webs[len(_CORRELATIONS) :]))
        for label, estimate in _CASES.items()
        for claim in [_claim(what, label, {
            name: errors_at(by_web[name], turns, "opic", "greedy", estimate) for name in some
        }, by_web)]
    ]  # fmt: skip


def _claim(what: str, label: str, found: dict[str, tuple[float, float]], by_web: dict[str, list[Row]]) -> Claim:
    middle = list(found.values())[len(found) // 2]
    same = [
        1 / _SAME < each / usual < _SAME
        for errors in found.values()
        for each, usual in zip(errors, middle, strict=True)
    ]
    said = "; ".join(
        f"{name} (measured {float(by_web[name][0]['correlation']):.2f}, {float(by_web[name][0]['links']):.1f} links): "
        f"{both(*errors)}"
        for name, errors in found.items()
    )
    return judged(f"the {what} changes nothing, {label}, greedy", "", said, same)


def _panel(rows: list[Row], turns: int, webs: list[str]) -> Panel:
    curves = [
        PanelCurve(label, [column(rows, "correlation", web=name)[0] for name in webs],
                   [100 * errors_at([row for row in rows if row["web"] == name], turns, "opic", "greedy", estimate)[0]
                    for name in webs], label == "identity")
        for label, estimate in _CASES.items()
    ]  # fmt: skip
    return Panel("in- and out-degree", "their rank correlation", "mean error, %", curves)
