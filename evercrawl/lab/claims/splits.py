"""Greedy and proportional splits of a sample: changes found, and freshness kept."""

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from evercrawl.lab.base import Claim, LabOptions, Row, Say, judged
from evercrawl.lab.contests.comparison import closed_form, unrun
from evercrawl.lab.contests.contest import Contest
from evercrawl.lab.contests.contestants import Contestant
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import listed, mean, places
from evercrawl.schedule.formulas import probing
from evercrawl.schedule.formulas.site_shares import fit
from evercrawl.types import Floats

_SPLITS: Final = ("greedy", "proportional")
_CLOSED: Final = "one period, "
_PART: Final = 0.3  # share of all pages that are visited in the period
_PERIODS: Final = 20


class Splits(Contest):
    """Whether a greedy split of a sample beats a proportional one: changes found per period, and freshness.

    After each site is sampled, a greedy split spends the remaining visits on the sites with most changes first.

    References
    ----------
    Cho, Ntoulas (2002). Effective change detection using sampling. Meng, Wang, Yan (2006), section 1.3 of the survey.
    """

    title: ClassVar[str] = "Sampling, greedy and proportional, {pages} pages"
    budgets: ClassVar[Sequence[float]] = (0.03, 0.1, 0.3)
    correlations: ClassVar[Sequence[float]] = (0.0, 0.5)
    contestants: ClassVar[Sequence[Contestant]] = (
        *(Contestant(f"sampling, {split}", "sampling", {"split": split}) for split in _SPLITS),
        Contestant("uniform", "uniform"),
    )

    def closed(self, options: LabOptions, say: Say) -> list[Row]:
        """Return the share of the changes that each split finds in one period, on the same pages."""
        budgets = options.budgets or self.budgets
        return closed_form(_one_period, options, budgets, say, self.correlations)

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Return whether the greedy split is better in each case."""
        found = [_judged(rows, _CLOSED, "share of the changes found in a period")]
        labels = {str(row["policy"]) for row in rows}
        if all(f"sampling, {split}" in labels for split in _SPLITS):
            found.append(_judged(rows, "sampling, ", "freshness weighted by importance, as a share of the optimum"))
        return found


def _judged(rows: list[Row], prefix: str, what: str) -> Claim:
    at = places(rows, f"{prefix}{_SPLITS[0]}")
    greedy, proportional = (
        [mean(rows, policy=f"{prefix}{split}", correlation=c, budget=b) for c, b in at] for split in _SPLITS
    )
    said = f"{listed(greedy)} vs. {listed(proportional)} (correlation/visits per page and day: "
    said += ", ".join(f"{c:g}/{b:g}" for c, b in at) + ")"
    ahead = [one > other for one, other in zip(greedy, proportional, strict=True)]
    return judged(f"a greedy split is better than a proportional one: {what}", "", said, ahead)


def _one_period(pages: Population, seed: int, budget: float) -> list[Row]:
    """Probe each site, spend the rest by each split, and count the changes found in a period of 0.3 / budget days."""
    draw = np.random.default_rng([seed, 37])
    changes = 1 - np.exp(-pages.lam_per_day * _PART / budget)
    of, size = pages.host, np.bincount(pages.host).astype(np.float64)
    found, there = dict.fromkeys(_SPLITS, 0.0), 0.0
    for _ in range(_PERIODS):
        changed = draw.random(len(of)) < changes
        share = np.bincount(of, changed, len(size)) / np.maximum(size, 1)
        spread = fit(share * size, size)
        probes = np.minimum(np.maximum(np.round(probing.exact_sizes(np.maximum(size, 1), _PART, spread)), 1), size)
        hits = draw.hypergeometric((share * size).round().astype(int), (size - share * size).round().astype(int),
                                   probes.astype(int))  # fmt: skip
        believed = (spread.a + hits) / (spread.a + spread.b + probes)
        there += float(changed.sum())
        for split in _SPLITS:
            found[split] += float(hits.sum()) + _rest(split, size - probes, believed, share * size - hits,
                                                      _PART * len(of) - probes.sum())  # fmt: skip
    return [unrun(f"{_CLOSED}{split}", found[split] / there, 1.0) for split in _SPLITS]


def _rest(split: str, left: Floats, believed: Floats, changed: Floats, budget: float) -> float:
    """Return the expected number of changed pages among the remaining visits; pages of a site are drawn at random."""
    each = (probing.greedy if split == "greedy" else probing.proportional)(left, believed, max(budget, 0.0))
    return float((each * changed / np.maximum(left, 1)).sum())
