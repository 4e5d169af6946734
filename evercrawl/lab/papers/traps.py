"""Farms and traps: what spam gains under each distribution of the virtual page's cash."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say
from evercrawl.lab.papers.accuracy import MEASURES, Accuracy, TrueImportance, told_of
from evercrawl.lab.papers.farming import INTERNAL, Rule, gained, importance_of, targets
from evercrawl.lab.papers.trapping import Spends, Trapped
from evercrawl.lab.papers.webs import web_of
from evercrawl.lab.tables import column, percent
from evercrawl.simulate.graphs import Web
from evercrawl.types import Ints

RULES: Final = {
    "known URLs alike": Rule("known"),
    "trusted pages": Rule("trusted"),
    "per site": Rule("site"),
    "per site, links within a site at 0.1 (default)": Rule("site", INTERNAL),
}
"""The rules that are compared with farms."""

SPENDS: Final[dict[str, Spends]] = {
    "known URLs alike": "known",
    "per site": "site",
    "per site, over pages read": "read",
    "push, per site, over pages read (default)": "push",
}
"""The ways to spend that are compared with traps."""

_ALIKE: Final = Rule("site"), Rule("known")
"""The rules for the importance without a trap: if the virtual page spends per site, and equally on all known URLs."""
_DRAWN: Final = ("mean", "variance", "weighted", "rank")

MOST_GAIN: Final = 5.0
MOST_SHARE: Final = 0.01
_DEFAULT_GAIN: Final = "per site, links within a site at 0.1 (default)"
_DEFAULTS: Final = ("per site, over pages read", "push, per site, over pages read (default)")
_SITE_PAGES: Final = 45  # average pages per site, if the web has no sites of its own
_TARGETS: Final = 9
_FARM: Final = 20  # pages of the web divided by pages of the farm
_TRUSTED: Final = 100  # pages of the web divided by trusted pages
_DOORS: Final = 20  # pages that link to the trap
_PUSHED: Final = 1.0  # visits per page after which push is judged; it settles so fast that little cash is left later
_STEPS: Final = 2  # observations per turn
_LEAST: Final = 1e-5  # smallest share that is drawn


class Traps(Experiment):
    """How much a link farm gains, and how much of a greedy crawl a trap absorbs, by distribution of virtual cash.

    A farm has a twentieth as many pages as the web, on the site of its target. Its gain grows with the size of the
    sites, 45 pages on average. A trap is a site on which each page links to 20 new ones; 20 pages of the web link to
    it. Both also distort the importance of all other pages; this error is measured against the web without them. If our
    defaults exceed their limits, the command exits with status 1.

    References
    ----------
    Gyongyi, Garcia-Molina (2005). Link spam alliances: what a farm gains. Gyongyi, Garcia-Molina, Pedersen (2004).
    Combating web spam with TrustRank.
    """

    pages = 20_000

    def run(self, options: LabOptions, say: Say) -> Results:
        """Add farms and traps to a web, and measure what they gain."""
        web, turns = _with_sites(web_of(options, self.pages), options.seed), options.turns or self.turns
        say("farms")
        farms = list(_farms(web, options.seed))
        traps = list(_traps(web, turns, options.seed, say))
        found = Results(f"Farms and traps, {web.pages:,} pages", farms + traps)
        limits = [_limit_of_gain(farms), *(_limit_of_share(traps, rule) for rule in _DEFAULTS)]
        found.claims = [*_farm_claims(farms), *_trap_claims(traps, turns), *limits]
        found.panels = [_farm_panel(farms), _trap_panel(traps), *(_errors(traps, name) for name in _DRAWN)]
        return found


def _with_sites(web: Web, seed: int) -> Web:
    """Return the web with sites: if it has none, of any pages."""
    if web.site is not None and web.root is not None:
        return web
    random = np.random.default_rng((seed, 37))
    drawn = random.integers(max(web.pages // _SITE_PAGES, 2), size=web.pages)
    _, root, site = np.unique(drawn, return_index=True, return_inverse=True)
    return replace(web, site=site.astype(np.int32), root=root.astype(np.int32))


def _farms(web: Web, seed: int) -> list[Row]:
    random = np.random.default_rng((seed, 41))
    trusted: Ints = random.choice(web.pages, max(web.pages // _TRUSTED, 1), replace=False)
    rows: list[Row] = []
    for name, rule in RULES.items():
        honest = importance_of(web, rule, trusted)
        for target in targets(web, _TARGETS, seed).tolist():
            gain, others = gained(web, target, web.pages // _FARM, rule, trusted, honest)
            rows.append(_row("farm", name, others, page=target, gain=gain))
    return rows


def _traps(web: Web, turns: int, seed: int, say: Say) -> list[Row]:
    doors: Ints = np.random.default_rng((seed, 43)).choice(web.pages, min(_DOORS, web.pages), replace=False)
    rows: list[Row] = []
    for name, spends in SPENDS.items():
        say(f"a trap, {name}")
        crawl, truth = Trapped(web, doors, spends), TrueImportance(importance_of(web, _ALIKE[spends == "known"], doors))
        for look in range(1, _STEPS * turns + 1):
            crawl.run(look * web.pages // _STEPS - crawl.visits)
            share, left = crawl.fallen / crawl.visits, crawl.left()
            error, turn = truth.accuracy(crawl.estimate()), look / _STEPS
            rows.append(_row("trap", name, error, turn=turn, share=share, known=crawl.known, left=left))
    return rows


def _row(
    kind: str,
    rule: str,
    error: Accuracy,
    *,
    page: int = -1,
    gain: float = 0.0,
    turn: float = 0.0,
    share: float = 0.0,
    known: int = 0,
    left: float = 1.0,
) -> Row:
    named: Row = {"kind": kind, "rule": rule, "page": page, "gain": gain, "turn": turn, "share": share}
    errors: Row = error._asdict()
    return named | {"known": known, "left": left} | errors


def gains(rows: list[Row], rule: str) -> list[float]:
    """Return the gains of the farms by a rule, in ascending order."""
    return sorted(gain for gain in column(rows, "gain", kind="farm", rule=rule) if not math.isnan(gain))


def swallowed(rows: list[Row], rule: str) -> Row:
    """Return the last row of a trap; under push, the row after one visit per page."""
    mine = [row for row in rows if row["kind"] == "trap" and row["rule"] == rule]
    return next((row for row in mine if rule.startswith("push") and row["turn"] == _PUSHED), mine[-1])


def _farm_claims(rows: list[Row]) -> list[Claim]:
    printed = {"known URLs alike": "1,709", "trusted pages": "3.6", "per site": "91", _DEFAULT_GAIN: "3.0"}
    return [
        Claim(f"gain of a farm: {rule}", f"{printed[rule]} times (our prototype)", _times(gains(rows, rule)), None)
        for rule in RULES
    ]


def _times(gained: list[float]) -> str:
    if not gained:
        return "no target is important without a farm"
    return f"median {_median(gained):,.1f} times; {gained[0]:,.1f} to {gained[-1]:,.1f} times for {len(gained)} pages"


def _median(gained: list[float]) -> float:
    return float(np.median(gained)) if gained else math.nan


def _trap_claims(rows: list[Row], turns: int) -> list[Claim]:
    printed = {"known URLs alike": "29 %", "per site": "0.1 %", "per site, over pages read": "0 %"}
    claims = list[Claim]()
    for rule in SPENDS:
        last = [row for row in rows if row["kind"] == "trap" and row["rule"] == rule][-1]
        said = f"{percent(float(last['share']))}; {int(last['known']):,} URLs are known"
        if rule.startswith("push"):
            said += f"; by then all but {percent(float(last['left']))} of the cash is settled"
        before = f"{printed[rule]} (our prototype)" if rule in printed else ""
        claims.append(Claim(f"visits lost to a trap over {turns} visits per page: {rule}", before, said, None))
    return claims


def _limit_of_gain(rows: list[Row]) -> Claim:
    gained = gains(rows, _DEFAULT_GAIN)
    claim = f"under our defaults, the median gain from a farm is at most {MOST_GAIN:.0f} times"
    return Claim(claim, "(ours)", _times(gained), _median(gained) <= MOST_GAIN if gained else None, promised=True)


def _limit_of_share(rows: list[Row], rule: str) -> Claim:
    row = swallowed(rows, rule)
    claim = f"under our defaults, a trap takes at most {percent(MOST_SHARE)} of the visits: {rule}"
    said = f"{percent(float(row['share']))}; visits per page: {float(row['turn']):g}"
    return Claim(claim, "(ours)", said, float(row["share"]) <= MOST_SHARE, promised=True)


def _farm_panel(rows: list[Row]) -> Panel:
    lines = {rule: (gained := gains(rows, rule), [float(i) for i in range(1, len(gained) + 1)]) for rule in RULES}
    return Panel("gain of a farm", "targets, by gain", "times the honest importance", _curves(lines), log=True)


def _trap_panel(rows: list[Row]) -> Panel:
    lines = _over_turns(rows, "share", 100.0, _LEAST)
    return Panel("visits lost to a trap", "visits per page", "visits to the trap, %", _curves(lines), log=True)


def _errors(rows: list[Row], measure: str) -> Panel:
    lines = _over_turns(rows, measure, MEASURES[measure].scale)
    return Panel("web with a trap", "visits per page", told_of(measure, "honest pages"), _curves(lines), log=True)


def _over_turns(
    rows: list[Row], name: str, scale: float, least: float = -math.inf
) -> dict[str, tuple[list[float], list[float]]]:
    """Return the y and x values of each rule's curve over the turns, with traps."""
    return {
        rule: (
            [scale * max(value, least) for value in column(rows, name, kind="trap", rule=rule)],
            column(rows, "turn", kind="trap", rule=rule),
        )
        for rule in SPENDS
    }


def _curves(lines: dict[str, tuple[list[float], list[float]]]) -> list[PanelCurve]:
    """Return a curve for every rule, empty or not, so that a rule has the same colour in all panels."""
    found = list[PanelCurve]()
    for rule in dict.fromkeys([*RULES, *SPENDS]):
        y, x = lines.get(rule, ([], []))
        found.append(PanelCurve(rule, x, y, ours=rule in (_DEFAULT_GAIN, _DEFAULTS[-1])))
    return found
