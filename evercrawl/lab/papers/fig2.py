"""Figure 2: convergence of OPIC."""

from collections.abc import Callable
from itertools import combinations
from typing import Final

from evercrawl.lab.base import Claim, Experiment, LabOptions, Results, Row, Say, judged
from evercrawl.lab.papers.accuracy import RANKED
from evercrawl.lab.papers.convergence import ORDERS, chosen, converge, errors_at, panels
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import both, percent, plainly

_SAME: Final = 1.5  # maximum ratio of two errors that are "about the same"
_PROMISED: Final = {"opic": (0.025, 0.011), "push": (0.001, 0.0002)}
_SMALLER: Final = 10  # factor by which the second web is smaller when sizes are compared
_LEAST: Final = 1000
_HARDLY: Final = 0.02  # share of all pages


class Fig2(Experiment):
    """How fast OPIC converges over all pages: random, cycle and greedy, compared with the power iteration and push.

    Webs of more than two million pages are visited only at random and in cycles, and ranks are not compared.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, figure 2 and section 3.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit the web in every order, and compare with the truth after each turn."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        names = ("random", "cycle", "greedy") if web.pages <= RANKED else ("random", "cycle")
        rows = converge(web, turns, options.seed, say, {name: ORDERS[name] for name in names})
        found = Results(f"Convergence of OPIC, all of {web.pages:,} pages", rows)
        found.panels = panels(rows, ("mean", "variance", "weighted", "rank"))
        found.claims = [*_orders(rows, turns, names), *_estimates(rows, turns, names), *_bounds(rows, names)]
        if options.graph is None and web.pages >= _LEAST:
            say(f"a web of {web.pages // _SMALLER:,} pages")
            small = web_of(LabOptions(web.pages // _SMALLER, options.seed, options.kind), 0)
            smaller = converge(small, turns, options.seed, say, {names[-1]: ORDERS[names[-1]]})
            found.claims += _size(rows, smaller, turns, names[-1])
            found.rows = rows + smaller
        if "greedy" in names and options.as_printed:
            promised = options.promised(web.pages, turns)
            found.claims += [claim._replace(promised=promised) for claim in _promises(rows, turns)]
        return found


def _orders(rows: list[Row], turns: int, names: tuple[str, ...]) -> list[Claim]:
    """Compare the orders by the estimate H/G over all pages, with each other and with the off-line computation."""
    error = {name: errors_at(rows, turns, "opic", name, "history")[0] for name in names}
    said, best, slow = _listed(error, percent), error[names[-1]], error["random"] / error["cycle"]
    offline, push = errors_at(rows, turns, "off line", "", "power"), _push(rows, turns)
    claims = [
        Claim("random is clearly worse than cycle", "about half as fast",
              f"{slow:.1f} times the error of cycle", slow > _SAME),
        Claim("the off-line computation, which stores all links, needs fewer steps per page than OPIC needs visits", "",
              f"off line {both(*offline)}; {names[-1]}, H/G {percent(best)}", offline[0] < best),
        Claim("push, with as many visits, is as precise as the off-line computation with all links", "(ours)",
              f"push, {_push_order(rows)}: {both(*push)}; off line {both(*offline)}",
              push[0] <= offline[0] and push[1] <= offline[1]),
    ]  # fmt: skip
    if "greedy" in names:
        ratio = error["cycle"] / error["greedy"]
        claims.insert(0, Claim("greedy and cycle have about the same error", "", said, 1 / _SAME < ratio < _SAME))
        claims.insert(2, _factor(rows, turns, names))
    return claims


def _factor(rows: list[Row], turns: int, names: tuple[str, ...]) -> Claim:
    clock = {name: float(chosen(rows, turns, scheme="opic", order=name)[0]["clock"]) for name in names}
    greedy, cycle = (clock[name] / clock["random"] for name in ("greedy", "cycle"))
    said = f"G: {_listed(clock, '{:.1f}'.format)}; vs. random, greedy {greedy:.2f} times, cycle {cycle:.2f} times"
    return Claim("the greedy order doubles the cash that a visit moves", "2", said, cycle < _SAME)


def _estimates(rows: list[Row], turns: int, names: tuple[str, ...]) -> list[Claim]:
    """Compare the estimates for each order."""
    claims = list[Claim]()
    for order in names:
        history, paper, identity = (
            errors_at(rows, turns, "opic", order, name) for name in ("history", "paper", "identity")
        )
        said = f"{both(*history)} becomes {both(*paper)}; the identity (H+C-C0)/G: {both(*identity)}"
        claims.append(Claim(f"(H+C)/(G+1) is slightly better than H/G: {order}", "", said, paper[0] < history[0]))
    return claims


def _bounds(rows: list[Row], names: tuple[str, ...]) -> list[Claim]:
    at = chosen(rows, scheme="opic", estimate="history")
    most, total = (max(float(row[name]) for row in at) for name in ("far_max", "far_sum"))
    last = max(int(row["turn"]) for row in at)
    varies = {name: _last(rows, last, name, "variance") for name in names}
    beyond = {name: _last(rows, last, name, "beyond") for name in names}
    return [
        Claim("one step of the matrix changes H/G by at most 1/G: single page", "1",
              f"at most {most:.2g}/G", most <= 1),
        Claim("one step of the matrix changes H/G by at most 1/G: sum over all pages", "1",
              f"up to {total:.2f}/G; the bound is 2/G", total <= 1),
        judged("the variance of the error is about the same for all orders", "",
               _listed(varies, "{:.3g}".format),
               [1 / _SAME < one / other < _SAME for one, other in combinations(varies.values(), 2)]),
        judged("hardly any page has more than twice the mean error", "",
               f"share of all pages: {_listed(beyond, percent)}",
               [share <= _HARDLY for share in beyond.values()]),
    ]  # fmt: skip


def _last(rows: list[Row], turn: int, order: str, name: str) -> float:
    (row,) = chosen(rows, turn, scheme="opic", order=order, estimate="history")
    return float(row[name])


def _size(rows: list[Row], smaller: list[Row], turns: int, order: str) -> list[Claim]:
    large, small = (errors_at(some, turns, "opic", order, "identity") for some in (rows, smaller))
    pages = [f"{some[0]['pages']:,}" for some in (smaller, rows)]
    said = f"{order}, identity: {pages[0]} pages {both(*small)}, {pages[1]} pages {both(*large)}"
    return [Claim("the size of the graph changes nothing", "", said, 1 / _SAME < large[0] / small[0] < _SAME)]


def _promises(rows: list[Row], turns: int) -> list[Claim]:
    claims = list[Claim]()
    for (scheme, bounds), estimate in zip(_PROMISED.items(), ("identity", "residual"), strict=True):
        found = errors_at(rows, turns, scheme, "greedy", estimate)
        holds = found[0] <= bounds[0] and found[1] <= bounds[1]
        label = {"opic": "AOPIC, greedy, identity", "push": "push, greedy"}[scheme]
        claims.append(Claim(f"{label}, after {turns} turns", f"(ours) {plainly(*bounds)}", both(*found), holds))
    return claims


def _push(rows: list[Row], turns: int) -> tuple[float, float]:
    return errors_at(rows, turns, "push", _push_order(rows), "residual")


def _push_order(rows: list[Row]) -> str:
    return str(chosen(rows, scheme="push")[0]["order"])


def _listed(values: dict[str, float], form: Callable[[float], str]) -> str:
    return ", ".join(f"{name} {form(value)}" for name, value in values.items())
