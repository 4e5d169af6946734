"""How often the default policy is behind a rival on recorded histories, by how much, and whether that is chance.

Two intervals are told. One is that of `evercrawl lab backtest`: whole folders are drawn, or pages where folders are
few. It says how the difference would vary with the pages. Which batches of changes come just before a page is polled,
and which just after, is chance too, and common to all pages: the other interval draws quarters of a year. References
---------- Kuensch (1989). The jackknife and the bootstrap for general stationary observations: blocks of time, drawn
whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from kept_replays import told_of

from evercrawl import catalog, schedule
from evercrawl.lab.backtest.bootstrap import clusters, interval, resampled
from evercrawl.lab.backtest.replay import Replay
from evercrawl.lab.backtest.report import of_site
from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting
from evercrawl.lab.backtest.truth import truth, window
from evercrawl.lab.histories import read
from evercrawl.schedule.base import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from kept_replays import KeptReplays

    from evercrawl.lab.backtest.replayed import Replayed
    from evercrawl.lab.histories import History
    from evercrawl.types import Floats

YEAR_DAYS: Final = 365.25
QUARTER_S: Final = YEAR_DAYS / 4 * DAY_S
POINTS: Final = 100.0


class Duel(NamedTuple):
    """One policy against another on one window of a history, in points of freshness.

    Attributes
    ----------
    rival
        The other policy; it makes no use of dates.
    site, earlier, budget, validators
        The history, by how many years before its end the window ends, and the conditions.
    freshness, lead
        Of the policy, and by how much it is fresher than the rival.
    by_pages, by_quarters
        Intervals of the lead, 95 %.
    """

    rival: str
    site: str
    earlier: int
    budget: float
    validators: bool
    freshness: float
    lead: float
    by_pages: tuple[float, float]
    by_quarters: tuple[float, float]

    def __str__(self) -> str:
        """Return a line for people."""
        intervals = "  ".join(f"{low:+7.2f} to {high:+6.2f}" for low, high in (self.by_pages, self.by_quarters))
        dated = f"{'' if self.validators else 'no '}validators"
        where = f"{self.rival:<24}{self.site:<16}{self.earlier:>2}{self.budget:>8g}  {dated:<14}"
        return f"{where}{self.freshness:>7.2f}{self.lead:>+8.2f}   {intervals}"


class Quarterly(Replay):
    """A replay that notes what was kept in each quarter of a year; shape (quarters, 2): what there was, what was fresh.

    Quarters end with the first turn after them.
    """

    def __init__(self, history: History, policy: Policy, setting: ReplaySetting) -> None:
        super().__init__(history, policy, setting)
        _, since, until = window(history, setting)
        self._ends = np.linspace(since, until, max(round((until - since) / QUARTER_S), 1) + 1)[1:-1].tolist()
        self._sums = [(0.0, 0.0)]

    def quarters(self) -> Floats:
        """Return the sums of each, when the replay is over."""
        self._note()
        return np.diff(np.array(self._sums), axis=0)

    def _turn(self, tick: int) -> int:
        now = float(self._spending.at[tick])
        while self._ends and now >= self._ends[0]:
            self._ends.pop(0)
            self.world.settle(now)
            self._note()
        return super()._turn(tick)

    def _note(self) -> None:
        weight, held = self.world.weight, self.world.held
        self._sums.append((float(weight @ held["alive_s"]), float(weight @ held["fresh_s"])))


def duels(
    path: Path, policy: str, rivals: Sequence[str], budgets: Sequence[float], windows: int, least_pages: int,
    kept: KeptReplays,
) -> Iterator[Duel]:  # fmt: skip
    """Yield how a policy does against rivals that make no use of dates: each window, budget, with validators and not.

    Windows end with the history, a year before, two years before, as long as all of it is in the history. Replays that
    are kept are not made again.
    """
    history = read(path)

    def replayed(policy: str, setting: ReplaySetting) -> tuple[Replayed, Floats]:
        key = f"quarters of {told_of(path)} {policy} {setting}"
        return kept.once(key, lambda: _replayed(history, policy, setting))

    first, last = float(history.at[0]), float(history.at[-1])
    for earlier in range(windows):
        until = last - earlier * YEAR_DAYS * DAY_S
        setting = ReplaySetting(budgets[0], until=until)
        if earlier and until - setting.years * YEAR_DAYS * DAY_S < first:
            return
        pages = truth(history, setting)
        if len(pages) < least_pages:
            continue
        cluster = clusters(pages.site, pages.folder)
        for budget in budgets:
            theirs = {rival: replayed(rival, replace(setting, budget=budget)) for rival in rivals}
            for validators in (True, False):
                ours = replayed(policy, replace(setting, budget=budget, validators=validators))
                for rival, of_rival in theirs.items():
                    row = of_site([of_rival[0], ours[0]], cluster, seed=1).rows[1]
                    shares = resampled(np.hstack([ours[1], of_rival[1]]), np.arange(len(ours[1])), seed=1)
                    low, high = interval(shares[:, 1] / shares[:, 0] - shares[:, 3] / shares[:, 2])
                    yield Duel(
                        rival, path.name, earlier, budget, validators, POINTS * row.freshness, POINTS * row.difference,
                        (POINTS * row.difference_low, POINTS * row.difference_high), (POINTS * low, POINTS * high),
                    )  # fmt: skip


def _replayed(history: History, policy: str, setting: ReplaySetting) -> tuple[Replayed, Floats]:
    kind: type[Any] = catalog.pick(schedule.policies, Policy, policy)
    made = Quarterly(history, kind(), setting)
    made.run()
    return made.replayed(history.name, policy, 0.0), made.quarters()
