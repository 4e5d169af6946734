"""When policies that plan look at all pages together."""

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
    """Shows a policy every page that was visited, as soon as there is one, and whenever it wants to see them again.

    Parameters
    ----------
    policy
        Is shown the pages.
    state
        Knows which pages were visited.
    columns, surroundings
        Slots -> their columns; what the policy is told beside them.
    """

    def __init__(
        self, policy: Plans, state: State, columns: Callable[[Slots], Pages], surroundings: Surroundings
    ) -> None:
        self._policy, self._state, self._columns, self._surroundings = policy, state, columns, surroundings
        self._next_at = -math.inf
        self._noted: dict[str, float] | None = None  # by the last plan, and not by the journal yet

    def turn(self, now: float, unread: int) -> bool:
        """Have the policy plan, where it is time, and say whether it did; `unread` pages wait that nobody visited."""
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
        """Return what has to be in the journal before a visit is made by the last plan; None where it is, or nothing.

        A plan by which nothing is visited need not outlive the run.
        """
        noted, self._noted = self._noted, None
        return Noted(now, noted) if noted else None
