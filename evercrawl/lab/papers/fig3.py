"""Figure 3: convergence of OPIC on important pages."""

from evercrawl.lab.base import Claim, Experiment, LabOptions, Results, Row, Say
from evercrawl.lab.papers.convergence import converge, errors_at, panels
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import percent


class Fig3(Experiment):
    """How fast OPIC converges over the most important tenth of all pages.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, figure 3.
    """

    def run(self, options: LabOptions, say: Say) -> Results:
        """Visit the web in every order, and compare the important pages with the truth after each turn."""
        web, turns = web_of(options, self.pages), options.turns or self.turns
        rows = converge(web, turns, options.seed, say)
        found = Results(f"Convergence of OPIC, the most important tenth of {web.pages:,} pages", rows)
        found.panels = panels(rows, ("top", "top_variance", "weighted", "top_rank"))
        found.claims = _claims(rows, turns)
        return found


def _claims(rows: list[Row], turns: int) -> list[Claim]:
    top = {name: _top(rows, turns, "opic", name, "history") for name in ("random", "cycle", "greedy", "80/20")}
    push, offline = _top(rows, turns, "push", "greedy", "residual"), _top(rows, turns, "off line", "", "power")
    said = ", ".join(f"{name} {percent(value)}" for name, value in top.items())
    ahead = [turn for turn in range(1, turns + 1) if _ahead(rows, turn)]
    return [
        Claim("on important pages, greedy is better than random and cycle", "", said,
              top["greedy"] < min(top["random"], top["cycle"])),
        Claim("on important pages, greedy is even better than the off-line computation", "",
              f"better in {len(ahead)} of {turns} turns ({', '.join(map(str, ahead)) or 'none'}); at the end off line "
              f"{percent(offline)}, greedy {percent(top['greedy'])}", len(ahead) == turns),
        Claim("on important pages, push is better than all of them", "(ours)", f"push {percent(push)}",
              push < min(offline, *top.values())),
        Claim("making one visit in five in a cycle costs greedy almost nothing", "(ours)",
              f"{percent(top['80/20'])} vs. {percent(top['greedy'])}", top["80/20"] < 1.25 * top["greedy"]),
    ]  # fmt: skip


def _ahead(rows: list[Row], turn: int) -> bool:
    return _top(rows, turn, "opic", "greedy", "history") < _top(rows, turn, "off line", "", "power")


def _top(rows: list[Row], turn: int, scheme: str, order: str, estimate: str) -> float:
    return errors_at(rows, turn, scheme, order, estimate)[1]
