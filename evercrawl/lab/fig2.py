"""Figure 2: convergence of OPIC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.lab.base import Claim, Experiment, Findings, Options
from evercrawl.lab.convergence import ORDERS, chosen, converge
from evercrawl.lab.curves import panels
from evercrawl.lab.webs import web_of
from evercrawl.lab.words import both, percent

if TYPE_CHECKING:
    from evercrawl.lab.base import Row, Say

_SAME: Final = 1.5  # errors are "about the same" if neither is more than that many times the other
_PROMISED: Final = {"opic": (0.025, 0.011), "push": (0.001, 0.0002)}
_SMALLER: Final = 10


class Fig2(Experiment):
    """How fast OPIC converges over all pages: random, cycle and greedy, beside the power iteration and push.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, figure 2 and section 3.
    """

    def run(self, options: Options, say: Say) -> Findings:
        """Visit the web in every order, and compare with the truth after each turn."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        rows = converge(web, turns, options.seed, say)
        smaller: list[Row] = []
        if options.graph is None and web.pages >= _SMALLER * self.pages // 100:
            small = web_of(Options(web.pages // _SMALLER, options.seed, options.kind), 0)
            smaller = converge(small, turns, options.seed, say, {"greedy": ORDERS["greedy"]})
        found = Findings(f"Convergence of OPIC, all of {web.pages:,} pages", rows + smaller)
        found.panels = panels(rows, ("mean", "variance", "weighted", "rank"))
        found.claims = [*_orders(rows, turns), *_estimates(rows, turns), *_bounds(rows, turns)]
        found.claims += [*_size(rows, smaller, turns), *_promises(rows, turns)]
        return found


def _errors(rows: list[Row], turns: int, scheme: str, order: str, estimate: str) -> tuple[float, float]:
    (row,) = chosen(rows, turns, scheme=scheme, order=order, estimate=estimate)
    return float(row["mean"]), float(row["top"])


def _orders(rows: list[Row], turns: int) -> list[Claim]:
    """Compare the orders by the estimate H/G, over all pages."""
    error = {name: _errors(rows, turns, "opic", name, "history")[0] for name in ("random", "cycle", "greedy")}
    clock = {name: float(chosen(rows, turns, scheme="opic", order=name)[0]["clock"]) for name in error}
    ratio, slow = error["cycle"] / error["greedy"], error["random"] / error["cycle"]
    said = ", ".join(f"{name} {percent(value)}" for name, value in error.items())
    moved = ", ".join(f"{name} {value:.1f}" for name, value in clock.items())
    offline, push = _errors(rows, turns, "off line", "", "power"), _errors(rows, turns, "push", "greedy", "residual")
    return [
        Claim("greedy and cycle have about the same error", "", said, 1 / _SAME < ratio < _SAME),
        Claim("random is clearly worse than cycle", "about half as fast", f"{slow:.1f} times the error", slow > _SAME),
        Claim(
            "greed doubles the cash that a visit moves (G, in units of the cash there is)", "2",
            f"{moved}: of the factor {clock['greedy'] / clock['random']:.2f}, any regular order has "
            f"{clock['cycle'] / clock['random']:.2f}", clock["cycle"] < _SAME * clock["random"],
        ),
        Claim("off line, with all links at hand, fewer looks at each page are needed than by OPIC", "",
              f"{both(*offline)}; greedy, H/G {percent(error['greedy'])}", offline[0] < error["greedy"]),
        Claim("push does with visits what off line does with stored links", "(ours)",
              f"push {both(*push)}, off line {both(*offline)}", push[0] <= offline[0] and push[1] <= offline[1]),
    ]  # fmt: skip


def _estimates(rows: list[Row], turns: int) -> list[Claim]:
    """Compare the estimates for each order."""
    claims = list[Claim]()
    for order in ("random", "cycle", "greedy"):
        history, paper, identity = (
            _errors(rows, turns, "opic", order, name) for name in ("history", "paper", "identity")
        )
        said = f"{both(*history)} becomes {both(*paper)}; the identity (H+C-C0)/G: {both(*identity)}"
        claims.append(Claim(f"(H+C)/(G+1) is a bit better than H/G: {order}", "", said, paper[0] < history[0]))
    return claims


def _bounds(rows: list[Row], turns: int) -> list[Claim]:
    at = chosen(rows, scheme="opic", estimate="history")
    most, total = (max(float(row[name]) for row in at) for name in ("far_max", "far_sum"))
    greedy = chosen(rows, scheme="opic", order="greedy", estimate="history")
    mean, variance = (np.array([float(row[name]) for row in greedy]) for name in ("mean", "variance"))
    together = float(np.corrcoef(np.log(mean), np.log(variance))[0, 1]) if len(greedy) > 1 else 1.0
    return [
        Claim("H/G is kept by a step but for 1/G: each page's share", "1", f"at most {most:.2g}/G", most <= 1),
        Claim("the same, summed over all pages", "1", f"up to {total:.2f}/G; 2/G is the bound", total <= 1),
        Claim("the variance follows the mean error (greedy)", "",
              f"correlation of their logarithms {together:.2f}", together > 0.9),
    ]  # fmt: skip


def _size(rows: list[Row], smaller: list[Row], turns: int) -> list[Claim]:
    if not smaller:
        return []
    large, small = (_errors(some, turns, "opic", "greedy", "identity") for some in (rows, smaller))
    pages = [f"{some[0]['pages']:,}" for some in (smaller, rows)]
    said = f"greedy, identity: {pages[0]} pages {both(*small)}, {pages[1]} pages {both(*large)}"
    return [Claim("the size of the graph changes nothing", "", said, 1 / _SAME < large[0] / small[0] < _SAME)]


def _promises(rows: list[Row], turns: int) -> list[Claim]:
    claims = list[Claim]()
    for (scheme, bounds), estimate in zip(_PROMISED.items(), ("identity", "residual"), strict=True):
        found = _errors(rows, turns, scheme, "greedy", estimate)
        holds = found[0] <= bounds[0] and found[1] <= bounds[1]
        label = {"opic": "AOPIC, greedy, identity", "push": "push, greedy"}[scheme]
        claims.append(Claim(f"{label}, after {turns} visits a page", f"(ours) {both(*bounds)}", both(*found), holds))
    return claims
