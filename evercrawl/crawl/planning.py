"""When policies that plan look at all pages together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from evercrawl.store.resuming import to_try

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.schedule.base import Pages, Policy
    from evercrawl.store.state import State
    from evercrawl.types import Slots


AGAIN_S: Final = 1.0
"""How soon to look again, while every visit was in vain."""


class Planning:
    """Shows a policy every page that was visited, as soon as there is one, and whenever it wants to see them again.

    Parameters
    ----------
    policy
        It `plans`.
    state
        Knows which pages were visited.
    columns
        Slots -> their columns.
    """

    def __init__(self, policy: Policy, state: State, columns: Callable[[Slots], Pages]) -> None:
        self._policy, self._state, self._columns = policy, state, columns
        self._next_at = -math.inf

    def turn(self, now: float, unread: int) -> bool:
        """Have the policy plan, where it is time, and say whether it did; `unread` pages wait that nobody visited."""
        if now < self._next_at or not self._state.records.count:
            return False
        _, seen = to_try(self._state)
        self._next_at = self._policy.plan(self._columns(seen), unread, now) if len(seen) else now + AGAIN_S
        return len(seen) > 0
