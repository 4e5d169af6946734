"""Replay of one history under one policy and budget."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from evercrawl import catalog, schedule
from evercrawl.lab.backtest.announced import Announced, looks
from evercrawl.lab.backtest.candidates import Candidates, Choice
from evercrawl.lab.backtest.discovery import Births
from evercrawl.lab.backtest.lasting import RecordedLasting
from evercrawl.lab.backtest.polls import Polls
from evercrawl.lab.backtest.recorded import Recorded
from evercrawl.lab.backtest.replayed import Replayed
from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting
from evercrawl.lab.backtest.shown import shows
from evercrawl.lab.backtest.spending import Spending
from evercrawl.lab.backtest.truth import Truth, truth
from evercrawl.lab.backtest.weights import weights
from evercrawl.lab.histories import History
from evercrawl.lab.polling.conditions import Conditions
from evercrawl.lab.polling.polled import HeldColumns
from evercrawl.schedule.base import Policy
from evercrawl.types import Floats, Ints

__all__ = ["Replay", "Replayed", "replay"]
_TOLD: Final = 64  # turns between two progress calls


def replay(
    history: History,
    policy: str,
    setting: ReplaySetting,
    options: Mapping[str, float | str] | None = None,
    tell: Callable[[float], object] | None = None,
) -> Replayed:
    """Replay a history under a policy, and return the results; deterministic.

    Parameters
    ----------
    history
        The recorded history.
    policy, options
        The policy's name, and values of its parameters.
    setting
        The conditions of the replay.
    tell
        Progress callback, called with the share done.

    Raises
    ------
    ConfigError
        There is no such policy, no budget, or no event in the requested part of the history.
    """
    kind: type[Any] = catalog.pick(schedule.policies, Policy, policy)
    began_s = time.process_time()
    made = Replay(history, kind(**(options or {})), setting)
    made.run(tell)
    return made.replayed(history.name, policy, time.process_time() - began_s)


class Replay:
    """A replay in progress.

    Parameters
    ----------
    history, policy, setting
        As in `replay`; the policy learns here.

    Attributes
    ----------
    world
        The pages, and the copies of them.
    held
        The policy's inputs.
    """

    def __init__(self, history: History, policy: Policy, setting: ReplaySetting) -> None:
        self._pages = pages = truth(history, setting)
        self._setting, self._looks = setting, looks(policy, setting)
        announced = Announced(pages, setting.lastmod, setting.seed) if setting.lastmod > 0 else None
        self.world = _world(history, pages, setting, announced)
        self._births = Births(pages)
        self._spending = Spending(pages, self._births, setting.budget)
        conditions = Conditions(dated=1.0 if setting.validators else 0.0, recorded_deaths=True)
        self.held = HeldColumns(self.world, policy, conditions, self._spending.cycle_s, setting.seed)
        self._candidates = Candidates(policy, self.held, plans=not self._looks.steady)
        shown = shows(history, pages, policy, setting)
        if shown.facts is not None:
            self.held.facts = shown.facts.facts
        self._polls = Polls(policy, self.world, self.held, pages, learns=not self._looks.steady, shows=shown)
        self._linked = shown.linked if setting.discovery == "links" else None
        self._look_at = 0

    def run(self, tell: Callable[[float], object] | None = None) -> None:
        """Run from beginning to end; may be called once."""
        tick = turns = 0
        self.held.pass_to(self._pages.start)
        while tick < len(self._spending):
            tick, turns = self._turn(tick), turns + 1
            if tell is not None and turns % _TOLD == 0:
                tell(tick / len(self._spending))
        self.world.settle(self._pages.end)

    def replayed(self, name: str, policy: str, elapsed_s: float) -> Replayed:
        """Return the results."""
        held, born_at = self.world.counted, self._births.born_at()
        counted = born_at > self._pages.measured_at
        sight_s = np.where(counted, held["seen_at"] - born_at, math.nan)
        return Replayed(
            name, policy, self._setting.budget, self.world.weight, held["alive_s"], held["fresh_s"],
            held["similar_s"], held["stale_s2"], held["polls"], held["unchanged"], sight_s,
            counted & np.isnan(sight_s), elapsed_s, self._polls.calibrations.whole(), self._polls.calibrations,
        )  # fmt: skip

    def _turn(self, tick: int) -> int:
        """Advance the time, and make the polls of one or several ticks; return the next tick."""
        now = float(self._spending.at[tick])
        self._find(now)
        if tick >= self._look_at:
            self._look(tick, now)
        self.held.at(now)
        last = self._upto(tick, now)
        polls = self._spending.polls(tick, last)
        wanted = min(int(polls.sum()), self._candidates.known)
        choice = self._candidates.choose(now, wanted) if wanted else None
        if choice is not None and len(choice.rows):
            self._make(choice, np.repeat(self._spending.at[tick:last], polls)[: len(choice.rows)])
        self._spending.spend(tick, last, 0 if choice is None else len(choice.rows))
        return last

    def _find(self, now: float) -> None:
        """Add pages that were born to the known pages."""
        born = self._births.pass_to(now)
        if len(born):
            self._discover(born if self._linked is None else born[self._linked.named[born]], now)

    def _discover(self, rows: Ints, now: float) -> None:
        """Add pages to the known pages."""
        self.held.found(rows[np.isnan(self.held.visited_at[rows])], now)
        self._candidates.add(rows)

    def _look(self, tick: int, now: float) -> None:
        """Value all pages, and keep the candidates until the next valuation."""
        if not self._looks.steady:
            self.held.pass_to(now)
        self._candidates.plan(now)
        self._look_at = min(tick + self._looks.ticks, len(self._spending))
        coming = int(self._spending.polls(tick, self._look_at).sum())
        enough = int(self._looks.kept * coming) + 1 if self._looks.ticks > 1 else self._candidates.known
        self.held.at(now)
        self._candidates.look(now, float(self._spending.at[self._look_at - 1]), enough)

    def _upto(self, tick: int, now: float) -> int:
        """Return the tick up to which polls may be chosen now: until a page is born, or all pages are valued again.

        With unread pages, choices are made tick by tick, because new and known pages alternate.
        """
        if not self._looks.steady or self._candidates.unread:
            return tick + 1
        birth = int(np.searchsorted(self._spending.at, self._births.next_at(now)))
        last = max(min(birth, self._look_at), tick + 1)
        return last if self._spending.polls(tick, last).sum() <= self._candidates.known else tick + 1

    def _make(self, choice: Choice, at: Floats) -> None:
        """Poll pages, each at its instant; drop those that are gone, and add those that links discover."""
        self._candidates.took(choice, at)
        seen = self._polls.make(choice.rows, at)
        gone = choice.rows[seen.gone]
        if len(gone):
            self._candidates.drop(gone)
        if self._looks.stirred and seen.changed.any():
            self._candidates.stir(choice.rows[seen.changed], self._pages.folder)
        if self._linked is not None:
            found = self._polls.named
            self._discover(found[self._births.there[found]], float(at[-1]))


def _world(history: History, pages: Truth, setting: ReplaySetting, announced: Announced | None) -> Recorded:
    """Return the pages as a world in which all content counts, or only lasting content."""
    weight = weights(history, pages)
    if setting.lasting_days:
        return RecordedLasting(pages, weight, announced, setting.lasting_days * DAY_S)
    return Recorded(pages, weight, announced)
