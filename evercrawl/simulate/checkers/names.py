"""Names: no more look-ups at once than the settings allow, and no failure of a host while no server answers anybody."""

from __future__ import annotations

from typing import ClassVar, Final

from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.surroundings.names import PATIENCE_S
from evercrawl.store.journal.events import Event, Visit

WINDOW_S: Final = 5 * PATIENCE_S
"""A look-up, and the questions by which a server's silence is told from a domain's, take so long at most."""


class NamesChecker(Checker):
    """Counts look-ups, and asks of each visit that failed for its name whether a server was up."""

    law: ClassVar[str] = "names"

    _life: Running | None = None

    def began(self, life: Running) -> None:
        """Take note of the settings, and who is asked."""
        self._life = life

    def turned(self, at: float) -> None:
        """See that no more names are looked up than the settings allow; a server that is down is asked for one more."""
        if self._life is None or self._life.names is None:
            return
        names, most = self._life.names, self._life.config.lookups
        self.expect(
            names.most_under_way <= most + len(names.servers),
            f"{names.most_under_way} names were looked up at once, where {most} may be",
        )

    def remembered(self, event: Event, number: int, at: float) -> None:
        """See that no host is to blame while no server answers, once some have answered for several domains."""
        if not isinstance(event, Visit) or not event.error.startswith("dns: time-out") or self._life is None:
            return
        names = self._life.names
        if names is None or len(names.domains) < 3:
            return
        instants = [at - part / 20 * WINDOW_S for part in range(21)]
        up = any(not names.down(server, then) for server in range(len(names.servers)) for then in instants)
        self.expect(up, f"event {number} blames a host for its name, while no name server was up for {WINDOW_S:g} s")

    def ended(self, at: float, *, clean: bool) -> None:
        """Let go."""
        self._life = None
