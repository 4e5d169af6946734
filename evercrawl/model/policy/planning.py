"""When a planning policy sees all pages together."""

import math
from collections.abc import Callable
from typing import Final

from evercrawl.schedule.abilities import Plans, Resumes
from evercrawl.schedule.base import Surroundings
from evercrawl.schedule.pages import Pages
from evercrawl.store.journal.events import Noted
from evercrawl.store.resuming import to_try
from evercrawl.store.state import State
from evercrawl.types import Slots

AGAIN_S: Final = 1.0
"""How soon to look again, while every visit has failed."""


class Planning:
    """Shows a policy all visited pages as soon as there is one, and whenever it asks again.

    Parameters
    ----------
    policy
        The policy that plans.
    state
        The state, which knows the visited pages.
    columns, surroundings
        Maps slots to columns; the policy's surroundings.
    """

    def __init__(
        self, policy: Plans, state: State, columns: Callable[[Slots], Pages], surroundings: Surroundings
    ) -> None:
        self._policy, self._state, self._columns, self._surroundings = policy, state, columns, surroundings
        self._next_at = -math.inf
        self._noted: dict[str, float] | None = None  # from the last plan, and not yet in the journal

    def turn(self, now: float, unread: int) -> bool:
        """Let the policy plan if it is time, and return whether it did; `unread` pages wait for a first visit."""
        if now < self._next_at or not self._state.records.count:
            return False
        _, seen = to_try(self._state)
        if not len(seen):
            self._next_at = now + AGAIN_S
            return False
        self._next_at = self._policy.plan(self._columns(seen), unread, self._surroundings(now, len(seen)))
        if self._policy.keeps_notes and isinstance(self._policy, Resumes):
            self._noted = self._policy.notes()
        return True

    def noted(self, now: float) -> Noted | None:
        """Return the plan that must be journalled before a visit made by it; None if nothing is pending.

        A plan that causes no visit need not outlive the run.
        """
        noted, self._noted = self._noted, None
        return Noted(now, noted) if noted else None
