"""Names: look-ups stay within the limit, and no host fails while no name server responds to anybody."""

from __future__ import annotations

from typing import ClassVar, Final

from evercrawl.simulate.checkers.base import Checker
from evercrawl.simulate.surroundings.names import PATIENCE_S
from evercrawl.store.journal.events import Event, Visit

WINDOW_S: Final = 5 * PATIENCE_S
"""A look-up, and the questions by which a server's silence is told from a domain's, take so long at most."""


class NamesChecker(Checker):
    """Counts look-ups, and checks for each visit that failed by name resolution whether a server was up."""

    law: ClassVar[str] = "names"

    def turned(self, at: float) -> None:
        """Check the limit on concurrent look-ups; a server that is down gets one extra query."""
        if self._life is None or self._life.names is None:
            return
        names, most = self._life.names, self._life.config.lookups
        self.expect(
            names.most_under_way <= most + len(names.servers),
            f"{names.most_under_way} names were looked up at once, where {most} may be",
        )

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Check that no host is blamed while no server responds, once some answered for several domains."""
        if not isinstance(event, Visit) or not event.error.startswith("dns: time-out") or self._life is None:
            return
        names = self._life.names
        if names is None or len(names.domains) < 3:
            return
        instants = [at - part / 20 * WINDOW_S for part in range(21)]
        up = any(not names.down(server, then) for server in range(len(names.servers)) for then in instants)
        self.expect(up, f"event {number} blames a host for its name, while no name server was up for {WINDOW_S:g} s")

    def ended(self, at: float, *, clean: bool) -> None:
        """Release the life."""
        self._life = None
