"""Cash conservation: no visit creates or destroys cash."""

from collections.abc import Callable
from typing import ClassVar, Final

from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.worlds.world import World
from evercrawl.store.journal.events import Event

MOST: Final = 1e-9
"""What rounding may take of all cash."""


class CashConserved(Checker):
    """The total of cells and virtual page is the same after every event."""

    law: ClassVar[str] = "cash"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._clock = 0.0

    def began(self, life: Running) -> None:
        """Start from the restored total."""
        super().began(life)
        self._look("at the start")

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Add up the cash."""
        if self._life is not None:
            self._look(f"after event {number}")

    def ended(self, at: float, *, clean: bool) -> None:
        """Release the life."""
        self._life = None

    def _look(self, when: str) -> None:
        assert self._life is not None
        state = self._life.partition.state
        owed, there = state.cashbook.owed(), max(state.accounts.sources(), 1.0)
        self.expect(abs(owed) <= MOST * there, f"{owed:.3g} of {there:g} cash came from nowhere {when}")
