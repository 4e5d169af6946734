"""Contests: comparisons of policies with our promises about their rows."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar, Final

from evercrawl.errors import ConfigError
from evercrawl.lab.base import Claim, LabOptions, Panel, Row
from evercrawl.lab.contests.comparison import PAGES, TURNS, Case, Comparison
from evercrawl.lab.contests.contestants import Contestant
from evercrawl.lab.contests.printed_ratios import WITHIN, printed
from evercrawl.lab.polling.polling import poll
from evercrawl.lab.polling.population import DAY_S, Population
from evercrawl.lab.tables import labels, listed, mean, panels, places
from evercrawl.schedule.abilities import Resumes

_WORST: Final = {0.01: 0.902, 0.03: 0.936, 0.1: 0.967, 0.3: 0.983, 1.0: 0.994}
"""The worst published run of the learned index, by budget."""


class Contest(Comparison[Contestant]):
    """The value of every contestant, at every budget.

    A row has `policy` (the label), `correlation`, `seed`, `budget`, `ratio`, `value`, `optimum`, `unused`, `abandoned`,
    `left`, `seconds` and `harmonic`, the harmonic cost, which runs do not measure (nan).
    """

    compares = True
    contestants: ClassVar[Sequence[Contestant]]
    usual: ClassVar[Sequence[str]] = ()
    """The rows drawn by default; empty for all contestants."""

    def settings(self, options: LabOptions) -> list[Contestant]:
        """Return the selected contestants."""
        return chosen(self.contestants, options)

    def panels(self, rows: list[Row], options: LabOptions) -> list[Panel]:
        """Return the figure: the usual rows, or the selected ones, by budget."""
        usual = self.usual or [each.label for each in self.settings(options)]
        return panels(rows, labels(rows) if options.policies else usual)

    @staticmethod
    def measured(case: Case[Contestant], pages: Population) -> Row:
        """Run a contestant."""
        each, cycles = case.setting, case.cycles
        policy = each.made(case.budget)
        if each.start and isinstance(policy, Resumes):
            policy.resume({"price": each.start * pages.optimum(case.budget).price * DAY_S})
        found = poll(policy, pages, case.budget, cycles=cycles, measured_from=cycles / 2, seed=case.seed,
                     conditions=each.conditions)  # fmt: skip
        return {
            "ratio": found.ratio, "value": found.value, "optimum": found.optimum, "unused": found.unused,
            "abandoned": found.abandoned, "left": found.left, "harmonic": math.nan,
        }  # fmt: skip


def chosen(contestants: Iterable[Contestant], options: LabOptions) -> list[Contestant]:
    """Return the contestants that were selected; all if none is named.

    Raises
    ------
    ConfigError
        If a name is unknown; the message lists all rows.
    """
    there = [each for each in contestants if each.there]
    unknown = [name for name in options.policies if not any(each.named(name) for each in there)]
    if unknown:
        rows = "; ".join(each.label for each in there)
        raise ConfigError(f"there is no row called {unknown[0]}; name a policy or one of these: {rows}")
    return [each for each in there if not options.policies or any(each.named(name) for name in options.policies)]


def whole(options: LabOptions) -> bool:
    """Return whether a comparison is as large as our promises require: 10,000 pages, 15 cycles.

    >>> from evercrawl.lab.base import LabOptions
    >>> whole(LabOptions()), whole(LabOptions(pages=300))
    (True, False)
    """
    return (options.pages or PAGES) >= PAGES and (options.turns or TURNS) >= TURNS


def as_printed(rows: list[Row], label: str, like: str, *, promised: bool, reached: bool = False) -> list[Claim]:
    """Return the claim that a row agrees with the published one within 0.03.

    Parameters
    ----------
    rows
        The rows of a contest.
    label, like
        Names of the row and of the published one; there is no claim if either has no figures.
    promised
        Whether we promise it.
    reached
        Whether higher figures than the published ones count as agreement.
    """
    table = printed()
    pairs = [(place, table[like, *place]) for place in places(rows, label) if (like, *place) in table]
    if not pairs:
        return []
    found = [mean(rows, policy=label, correlation=c, budget=b) for (c, b), _ in pairs]
    off = [one - figure for one, (_, figure) in zip(found, pairs, strict=True)]
    holds = all((reached or each <= WITHIN) and each >= -WITHIN for each in off)
    said = "; ".join(f"budget {b:g}, correlation {c:g}: {figure:.3f}" for (c, b), figure in pairs)
    return [Claim(f"{label}: share of the optimum as printed, within {WITHIN:g}", said, listed(found), holds, promised)]


def table(rows: list[Row], label: str) -> Claim:
    """Return the claim that reports a row without a published counterpart."""
    found = [mean(rows, policy=label, correlation=c, budget=b) for c, b in places(rows, label)]
    return Claim(f"{label}: share of the optimum", "", listed(found), None)


def promise(rows: list[Row], label: str, least: Mapping[tuple[float, float], float], *, promised: bool) -> list[Claim]:
    """Return the claim that a row reaches what we promise, by correlation and budget, in every figure.

    There is no claim if the row was run at none of these correlations and budgets.
    """
    found = {place: mean(rows, policy=label, correlation=place[0], budget=place[1]) for place in least}
    run = [place for place in least if not math.isnan(found[place])]
    if not run:
        return []
    said = ", ".join(f"correlation {c:g}, budget {100 * b:g} %: {least[c, b]:g}" for c, b in run)
    holds = all(found[place] >= least[place] for place in run)
    told = listed(found[place] for place in run)
    return [Claim(f"{label}: share of the optimum, as promised or more", f"(ours) {said}", told, holds, promised)]


def abandons_none(rows: list[Row], ours: Collection[str], *, promised: bool) -> list[Claim]:
    """Return the claim that no page is abandoned in any run of these rows; no claim if none was run.

    Examples
    --------
    >>> rows = [{"policy": "price", "abandoned": 0}, {"policy": "price, all dated", "abandoned": 2}]
    >>> (found,) = abandons_none(rows, ["price", "price, all dated"], promised=True)
    >>> found.holds, found.found
    (False, 'up to 2 pages without a further visit (price, all dated)')
    """
    run = [row for row in rows if row["policy"] in ours]
    if not run:
        return []
    worst = max(run, key=lambda row: int(row["abandoned"]))
    most = int(worst["abandoned"])
    told = f"up to {most} pages without a further visit" + (f" ({worst['policy']})" if most else "")
    return [Claim("price abandons no page in any row", "(ours) 0", told, most == 0, promised)]


def worst(rows: list[Row]) -> list[Claim]:
    """Return the claim about the worst single run of the learned index, by budget; no claim if it was not run."""
    run = [row for row in rows if row["policy"] == "price_gamma"]
    least = {budget: [float(row["ratio"]) for row in run if row["budget"] == budget] for budget in _WORST}
    found = {budget: min(ratios) for budget, ratios in least.items() if ratios}
    holds = all(ratio >= _WORST[budget] - WITHIN for budget, ratio in found.items())
    name = f"price_gamma: worst single run by budget, at least as printed, less {WITHIN:g}"
    return [Claim(name, listed(_WORST[each] for each in found), listed(found.values()), holds)] if found else []
