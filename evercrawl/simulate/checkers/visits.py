"""Visits: each answer becomes one event, each event comes of one answer, and none comes before its time."""

import math
from collections.abc import Callable
from typing import ClassVar, Final

from evercrawl.crawl.sitemaps.sitemaps import SitemapTag
from evercrawl.crawl.visit.visiting import VisitTag
from evercrawl.model.rules.waits import wait_s
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.worlds.world import LifeEnd, World
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import CROWDED, Event, Lost, Visit
from evercrawl.store.records.retired import retired
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import Exchange, Outcome, Request

SETTLED: Final = frozenset({Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE, Outcome.REDIRECT, Outcome.GONE})
"""After these a page is left alone for a refresh at least; in trouble it is tried again, and after a restart too.

So is one whose links found no room, once there is room."""


class EachVisit(Checker):
    """No answer is forgotten or counted twice, no instant goes back, and no page is visited again too soon."""

    law: ClassVar[str] = "visits"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._asked: set[int] = set()  # slots, as long as no event says what came of it
        self._last: dict[int, tuple[Visit, float]] = {}  # slot -> last visit, and when it began by the crawl's clock
        self._linked: set[int] = set()  # by a page that was read after their last visit
        self._listing_at = -math.inf  # when a sitemap or feed was read, by the crawl's clock

    def began(self, life: Running) -> None:
        """Learn from the journal what has happened; nothing is under way."""
        self._asked.clear()
        self._last.clear()
        self._linked.clear()
        for _, _, event in life.partition.journal.replay():
            if isinstance(event, Lost):
                self._last.pop(event.slot, None)
            elif isinstance(event, Visit):
                self._note(event)
        super().began(life)

    def asked(self, request: Request, address: str, at: float) -> None:
        """See that the page is not asked for twice at once, nor too soon."""
        if not isinstance(request.tag, VisitTag):
            return
        assert self._life is not None
        slot = request.tag.slot
        self.expect(slot not in self._asked, f"{request.url} was asked for while it was being asked for")
        self._asked.add(slot)
        if slot in self._last and self.world.lives[self._life.number].end is not LifeEnd.ONE:
            last, last_at = self._last[slot]
            least_s = float(wait_s(last.misses, self._life.config.refresh_after_s)) - 2 / TICKS_PER_S
            gap_s = self._life.now() - last_at
            self.expect(
                last.outcome not in SETTLED or gap_s >= least_s or bool(last.flags & CROWDED),
                f"{request.url} was asked for {gap_s:.1f} s after visit {last.visits}, which found it "
                f"{Outcome(last.outcome).label}; it is left alone for {least_s:.1f} s",
            )
            rows, index = self._life.partition.state.records.rows, self._life.partition.state.record_of(slot)
            given_up = index is not None and bool(retired(rows[index : index + 1])[0])
            news = slot in self._linked or self._listing_at >= last_at
            self.expect(
                news or not given_up, f"{request.url} was asked for after it was gone {last.misses} times in a row"
            )

    def answered(self, exchange: Exchange, at: float) -> None:
        """Take note of sitemaps and feeds: they may say that pages changed; and of requests that nobody took."""
        if isinstance(exchange.request.tag, VisitTag) and not exchange.sent:
            self._asked.discard(exchange.request.tag.slot)  # it may be asked for at another address
        if isinstance(exchange.request.tag, SitemapTag) and self._life is not None:
            self._listing_at = self._life.now()

    def remembered(self, event: Event, number: int, at: float) -> None:
        """See that the event is of what was asked for, once."""
        if not isinstance(event, Visit) or self._life is None:
            return
        refused = event.outcome == Outcome.REFUSED or event.status == 0
        self.expect(event.slot in self._asked or refused, f"event {number} is of a page that was not asked for")
        self._asked.discard(event.slot)
        self.expect(event.interval_s >= 0, f"event {number} has an interval of {event.interval_s} s")
        self.expect(event.changed_at <= event.at, f"event {number} found a change of the future")
        self.expect(event.fetch_s >= 0, f"event {number} lasted {event.fetch_s} s")
        self._note(event)

    def _note(self, event: Visit) -> None:
        self._last[event.slot] = (event, event.at)
        self._linked.update(decode_slots(event.targets).tolist())
        self._linked.discard(event.slot)

    def ended(self, at: float, *, clean: bool) -> None:
        """Let go of what was under way."""
        self._life = None
