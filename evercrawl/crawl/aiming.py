"""Freshness targets of a running crawl, recomputed now and then from the current price and capacity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.model.columns import HEAD_BYTES
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.targets import Room
from evercrawl.schedule.abilities import Priced

if TYPE_CHECKING:
    from evercrawl.config import Config
    from evercrawl.model.columns import Columns
    from evercrawl.model.targets import Targets
    from evercrawl.schedule.base import Policy
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.state import State
    from evercrawl.types import Floats, Ints

_MEASURED_S: Final = 60.0  # minimum period over which the pace of an unlimited crawl is measured
_KEPT: Final = 0.5  # weight of earlier measurements in the pace


class Aiming:
    """Recomputes freshness targets, so that the copies of their pages stay as fresh as requested.

    Parameters
    ----------
    state, targets, columns, frontier
        The state, the targets, the columns that the policy reads, and the queues in which pages wait.
    policy, config
        The policy that values pages, and the settings of the run.
    """

    def __init__(
        self, state: State, targets: Targets, columns: Columns, frontier: Frontier, policy: Policy, config: Config
    ) -> None:
        self._state, self._targets, self._columns, self._frontier = state, targets, columns, frontier
        self._policy, self._config = policy, config
        plain = policy_of(config.policy, config.policy_options) if config.targets else policy
        self._plain = plain if isinstance(plain, Priced) else None
        self._measured_at, self._measured = math.nan, (0, 0)
        self._pace = math.inf

    def adopt(self, config: Config) -> None:
        """Use other settings from now on."""
        self._config = config
        self._targets.change(config.targets)

    def turn(self, now: float) -> bool:
        """Recompute the targets' multipliers if that is due; return whether the worth of pages has changed."""
        if not self._targets.targets or not isinstance(self._policy, Priced):
            return False
        self._measure(now)
        if not self._policy.price > 0:
            return False
        if self._plain is None or self._plain is self._policy:
            plain = policy_of(self._config.policy, self._config.policy_options)
            self._plain = plain if isinstance(plain, Priced) and type(plain) is type(self._policy) else self._policy
        room = Room(self._per_s(), self._rest_s, self._config.refresh_after_s)
        return self._targets.turn(now, self._plain.at_price(self._policy.price), self._columns, room)

    def _per_s(self) -> float:
        """Return the budget in units per second: the ceiling, or the recent pace if there is no ceiling."""
        limit = self._config.rate_bytes_per_s if self._columns.in_bytes else self._config.rate_per_s
        return float(limit) or self._pace

    def _measure(self, now: float) -> None:
        """Update the pace by what was spent since the last measurement."""
        state = self._state
        if not now - self._measured_at < _MEASURED_S:
            if not math.isnan(self._measured_at):
                visits, received = state.visits - self._measured[0], state.wire_bytes - self._measured[1]
                spent = visits * HEAD_BYTES + received if self._columns.in_bytes else visits
                pace = max(spent, 1.0) / (now - self._measured_at)
                self._pace = pace if math.isinf(self._pace) else _KEPT * self._pace + (1.0 - _KEPT) * pace
            self._measured_at, self._measured = now, (state.visits, state.wire_bytes)

    def _rest_s(self, hosts: Ints) -> Floats:
        rows = self._frontier.hosts
        return np.array([rows[host].delay_s for host in hosts.tolist()]) / self._config.connections_per_host
