"""Orders: each is executed once, in the order given, and all of them by the end."""

from typing import ClassVar

from evercrawl.simulate.checkers.base import Checker
from evercrawl.store.journal.events import Obeyed
from evercrawl.store.orders import FILE
from evercrawl.types import NO_SLOT


class OrdersObeyed(Checker):
    """After a clean end of the last life, the journal has exactly one result for every order in the file."""

    law: ClassVar[str] = "orders"

    def ended(self, at: float, *, clean: bool) -> None:
        """Compare the file with the journal."""
        life = self._life
        if life is None or not (clean and life.last and any(one.orders for one in self.world.lives)):
            return
        data = life.partition.disk.read(FILE, 0, life.partition.disk.size(FILE))
        given = [line.split(b'"id":"')[1].split(b'"')[0].decode() for line in data.splitlines() if b'"id":"' in line]
        events = [event for _, _, event in life.partition.journal.replay() if isinstance(event, Obeyed)]
        obeyed = [event.id for event in events if event.do]
        self.expect(obeyed == given, f"orders {given} were given, and {obeyed} obeyed")
        self.expect(all(event.slot == NO_SLOT for event in events), "nobody gave a check")
        self.expect(not life.partition.state.steered.paused_at, "the crawl is paused, and was told to go on")
