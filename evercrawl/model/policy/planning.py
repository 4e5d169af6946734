"""When policies that plan look at all pages together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from evercrawl.store.journal.events import Noted
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
        self._noted: dict[str, float] | None = None  # by the last plan, and not by the journal yet

    def turn(self, now: float, unread: int) -> bool:
        """Have the policy plan, where it is time, and say whether it did; `unread` pages wait that nobody visited."""
        if now < self._next_at or not self._state.records.count:
            return False
        _, seen = to_try(self._state)
        self._next_at = self._policy.plan(self._columns(seen), unread, now) if len(seen) else now + AGAIN_S
        if len(seen) and self._policy.keeps_notes:
            self._noted = self._policy.notes()
        return len(seen) > 0

    def noted(self, now: float) -> Noted | None:
        """Return what has to be in the journal before a visit is made by the last plan; None where it is, or nothing.

        A plan by which nothing is visited need not outlive the run.
        """
        noted, self._noted = self._noted, None
        return Noted(now, noted) if noted else None
