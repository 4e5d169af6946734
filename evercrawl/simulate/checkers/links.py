"""Links: the targets in a visit's event are those in the response to that very visit."""

from collections.abc import Callable
from typing import ClassVar, Final

from evercrawl.arrays.hasher import Hasher
from evercrawl.crawl.visit.visiting import VisitTag
from evercrawl.model.stored.contents import Body, attempted, body_of
from evercrawl.model.stored.reading import REDIRECTS
from evercrawl.parse.urls import normalise
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.worlds.world import World
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Event, Visit
from evercrawl.types import Exchange, Outcome

_HASHER: Final = Hasher(b"")  # only URLs are compared


class LinksAreItsOwn(Checker):
    """No page gets links of another, and a gone page has none; each response is parsed here independently."""

    law: ClassVar[str] = "links"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._answers: dict[int, tuple[Exchange, Body]] = {}  # by slot, until the event of the visit

    def began(self, life: Running) -> None:
        """Record the life; no response is pending."""
        super().began(life)
        self._answers.clear()

    def answered(self, exchange: Exchange, at: float) -> None:
        """Keep the response of a visit."""
        if isinstance(exchange.request.tag, VisitTag):
            self._answers[exchange.request.tag.slot] = exchange, body_of(exchange, (0, 0), "", _HASHER, text=False)

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Compare the event with the response."""
        answer = self._answers.pop(event.slot, None) if isinstance(event, Visit) else None
        if self._life is None or answer is None or not isinstance(event, Visit):
            return
        exchange, state = answer[0], self._life.partition.state
        leads = _leads(*answer)
        new = event.found.urls if event.found is not None else []
        linked = state.urls.get_many(decode_slots(event.targets).tolist()) if exchange.status != 304 else []
        for url in {*new, *linked} - leads:
            self.blame(f"event {number} has {exchange.request.url} lead to {url}, where its answer did not lead")
        gone = event.outcome == Outcome.GONE
        self.expect(not (gone and (new or linked)), f"event {number} is of a page that is gone, and has links")

    def ended(self, at: float, *, clean: bool) -> None:
        """Drop pending responses."""
        self._life = None


def _leads(exchange: Exchange, body: Body) -> set[str]:
    """Return the targets in a response: its redirect, its links and its canonical URL."""
    url = exchange.request.url
    if exchange.status in REDIRECTS:
        target = normalise(exchange.headers.get("location", ""), url)
        return {target} if target is not None else set()
    content = attempted(body)
    return {*content.targets, content.canonical}
