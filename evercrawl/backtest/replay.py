"""One replay: a policy, a history, and a budget."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl import catalog, schedule
from evercrawl.backtest.discovery import Births, LinkedFirst
from evercrawl.backtest.recorded import Recorded
from evercrawl.backtest.setting import DAY_S
from evercrawl.backtest.truth import truth
from evercrawl.backtest.weights import weights
from evercrawl.schedule.base import Policy, Visits
from evercrawl.simulate.choosing import best
from evercrawl.simulate.conditions import Conditions
from evercrawl.simulate.polled import Held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evercrawl.backtest.setting import Setting
    from evercrawl.histories import History
    from evercrawl.types import Floats, Ints

TICKS: Final = 60
"""Choices a cycle, at least."""


class Replayed(NamedTuple):
    site: str
    policy: str
    budget: float
    weight: Floats
    alive_s: Floats
    fresh_s: Floats
    content_fresh_s: Floats
    stale_s2: Floats
    polls: Ints
    unchanged: Ints
    first_sight_s: Floats
    unseen: int
    elapsed_s: float

    @property
    def freshness(self) -> float:
        return float(np.dot(self.weight, self.fresh_s) / np.dot(self.weight, self.alive_s))


class Replay:
    def __init__(self, history: History, policy: Policy, setting: Setting) -> None:
        self._pages = truth(history, setting)
        self._policy, self._setting = policy, setting
        self.world = Recorded(self._pages, weights(history, self._pages))
        self._births = Births(self._pages)
        self._cycle_s = DAY_S / setting.budget
        conditions = Conditions(dated=1.0 if setting.validators else 0.0)
        self.held = Held(self.world, policy, conditions, self._cycle_s, setting.seed)
        self._known = np.zeros(len(self._pages), np.bool_)
        self._linked = LinkedFirst(history, self._pages) if setting.discovery == "links" else None
        self._folder_keys, self._name_keys = self._pages.folder.astype(np.uint64) + np.uint64(1), self._pages.name
        self._room, self._plan_at = 0.0, -math.inf
        self.polls, self.unchanged = (np.zeros(len(self._pages), np.int64) for _ in range(2))
        self.first_poll_at = np.full(len(self._pages), math.nan)

    def run(self) -> None:
        pages, tick_s = self._pages, self._cycle_s / TICKS
        ticks = math.ceil((pages.end - pages.start) / tick_s)
        for tick in range(ticks):
            now = min(pages.start + (tick + 1) * tick_s, pages.end)
            self._turn(now, now - (pages.start + tick * tick_s))
        self.world.settle(pages.end)

    def _turn(self, now: float, passed_s: float) -> None:
        self._find(self._births.pass_to(now))
        self._room += self._setting.budget / DAY_S * passed_s * self._births.live
        self.held.pass_to(now)
        candidates = np.flatnonzero(self._known)
        most = min(int(self._room + 1e-9), len(candidates))
        if not most:
            return
        columns = self.held.columns(candidates)
        if self._policy.plans and now >= self._plan_at:
            seen = ~np.isnan(columns.visited_at)
            if seen.any():
                self._plan_at = self._policy.plan(columns.take(seen), int((~seen).sum()), now)
        values = self._policy.value(columns, now)
        places = best(values, most)
        places = places[values[places] >= self._policy.least]
        rows = candidates[places]
        new = int(np.isnan(self.held.visited_at[rows]).sum())
        self._policy.chosen(values[places], now, len(candidates) - int(np.isnan(columns.visited_at).sum()) + new, new)
        self._room = min(self._room - len(rows), 1.0 + 0.0 * self._room) if len(rows) < most else self._room - len(rows)
        if len(rows):
            self._poll(rows, now)

    def _find(self, born: Ints) -> None:
        self._known[born if self._linked is None else self._linked.known(born)] = True

    def _poll(self, rows: Ints, now: float) -> None:
        interval_s = now - self.held.visited_at[rows]
        seen = self.world.visit(rows, now)
        if now > self._pages.measured_at:
            self.polls[rows] += 1
            self.unchanged[rows] += self.world.fresh
        self.first_poll_at[rows] = np.where(
            np.isnan(self.first_poll_at[rows]) & ~seen.gone, now, self.first_poll_at[rows]
        )
        age_s, _ = self.held.learn(rows, interval_s, seen, now)
        if self._policy.learns:
            self._policy.learn(self._visits(rows, interval_s, seen, age_s, now))
        lost = rows[seen.gone]
        self.held.visited_at[lost] = math.nan
        self._known[lost] = False
        if self._linked is not None:
            found = self._linked.polled(rows[~seen.gone], now)
            self._known[found] = True

    def _visits(self, rows: Ints, interval_s: Floats, seen: Any, age_s: Floats, now: float) -> Visits:
        no, none, sized = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.int64), np.full(len(rows), 1e4)
        return Visits(
            rows.astype(np.uint32), self._pages.site[rows], np.full(len(rows), now), interval_s, ~seen.gone, seen.gone,
            seen.changed, age_s, np.where(seen.changed, sized, 0.0), sized, none, no, none,
            self._folder_keys[rows], self._name_keys[rows],
        )  # fmt: skip


def replay(
    history: History, policy: str, setting: Setting, options: Mapping[str, float | str] | None = None
) -> Replayed:
    kind: type[Any] = catalog.pick(schedule, Policy, policy)
    began_s = time.process_time()
    made = Replay(history, kind(**(options or {})), setting)
    made.run()
    held = made.world.held
    born_at = made._births.born_at(len(held))
    counted = born_at > made._pages.measured_at
    sight = np.where(counted, made.first_poll_at - born_at, math.nan)
    return Replayed(
        history.name, policy, setting.budget, made.world.weight, held["alive_s"], held["fresh_s"], held["similar_s"],
        held["stale_s2"], made.polls, made.unchanged, sight, int((counted & np.isnan(sight)).sum()),
        time.process_time() - began_s,
    )  # fmt: skip
