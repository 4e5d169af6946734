"""Takes in the exchanges that have ended: gives each to the part that asked for it, and learns from what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn, cast

from evercrawl.crawl.probes.probes import ProbeTag
from evercrawl.crawl.sitemaps.sitemaps import SitemapTag
from evercrawl.crawl.visit.visiting import VisitTag
from evercrawl.errors import ApplyError, NoRoomError
from evercrawl.model.rules.robots import RobotsTag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.clock import Clock
    from evercrawl.crawl.pace import StepTime
    from evercrawl.crawl.parts import Parts
    from evercrawl.crawl.rendering.errands import ErrandTag
    from evercrawl.store.quarantine import Quarantine
    from evercrawl.types import Exchange

BATCH: Final = 32  # exchanges taken in together; if more have ended, other tasks run after each batch
LEARNED: Final = 16  # visits learned from in one step; then other tasks run


class Receiving:
    """Takes in ended exchanges, and learns from the visits that were read.

    Parameters
    ----------
    parts, quarantine, clock
        The parts that asked, and those that learn and store; the URLs with faults; and the clock.
    step
        How long the current step of the loop has lasted; after a long one, other tasks run.
    """

    def __init__(self, parts: Parts, quarantine: Quarantine, clock: Clock, step: StepTime) -> None:
        self._clock, self._step, self._quarantine = clock, step, quarantine
        self._access, self._sitemaps, self._probes = parts.access, parts.sitemaps, parts.probes
        self._errands, self._hearing, self._pace = parts.errands, parts.hearing, parts.pace
        self._visiting, self._learner, self._storing = parts.visiting, parts.learner, parts.storing

    async def receive(self, exchanges: Sequence[Exchange]) -> None:
        """Take exchanges in and learn from them, batch by batch."""
        for start in range(0, len(exchanges), BATCH):
            await self._receive(exchanges[start : start + BATCH], whole=len(exchanges) <= BATCH)

    async def _receive(self, exchanges: Sequence[Exchange], *, whole: bool) -> None:
        """Take a batch in and learn from it; unless it is the `whole`, let other tasks run between the steps."""
        for exchange in exchanges:
            if self._step.long:  # most bodies are parsed in `_take` itself
                await self._step.end()
            self._take(exchange)
        if whole:
            await self._step.end_if_long()
            self.learn(BATCH)
            return
        for _ in range(BATCH // LEARNED):
            await self._step.end()
            self.learn(LEARNED)
        self._storing.turn(self._clock.now())
        await self._step.end()

    def _take(self, exchange: Exchange) -> None:
        now, tag = self._clock.now(), exchange.request.tag
        if isinstance(tag, RobotsTag):
            self._access.take_robots(exchange, now)
        elif isinstance(tag, SitemapTag):
            self._pace.received(now, len(exchange.wire) + len(exchange.head))
            self._sitemaps.take(exchange, now)
        elif self._errands is not None and not isinstance(tag, VisitTag | ProbeTag):
            self._errands.take(exchange, cast("ErrandTag", tag))
        elif isinstance(tag, ProbeTag):
            self._pace.received(now, len(exchange.wire) + len(exchange.head))
            self._probes.take(exchange, now)
        else:
            assert isinstance(tag, VisitTag)
            self._visiting.take(exchange, tag, now)

    def read_sitemaps(self, now: float) -> None:
        """Read a piece of a fetched sitemap, and signals of publishers; URLs that become known are an event."""
        news = self._learner.news
        if not self._storing.full and (url := self._sitemaps.being_read):
            try:
                self._sitemaps.read(now)
            except Exception as error:
                self._broken((url,), error)
        if not self._storing.full:
            self._hearing.turn(now)
        if self._learner.news > news:
            self._storing.changed()

    async def learn_rest(self) -> None:
        """Learn from all visits that were read; if they are many, let other tasks run meanwhile."""
        await self._step.end_if_long()
        self.learn(BATCH if len(self._visiting.readings) <= BATCH else LEARNED)
        before = -1
        while (left := len(self._visiting.readings)) and left != before:
            await self._step.end()
            self.learn(BATCH if left <= BATCH else LEARNED)
            before = left

    def learn(self, most: int | None = None) -> None:
        """Learn from visits that were read: from all, or from up to `most`, within the bound on links per step."""
        now = self._clock.now()
        self._visiting.gather(now)
        if not self._visiting.readings or not self._storing.may_try(now):
            return
        batch = self._visiting.take_read(most)
        urls = [reading.exchange.request.url for reading in batch]
        for part in self._quarantine.apart(urls):
            try:
                self._learner.learn(batch[part.start : part.stop])
            except NoRoomError as error:
                self._visiting.readings = batch[part.start :] + self._visiting.readings
                self._storing.no_room(now, error)
                return
            except Exception as error:
                self._broken(urls[part.start : part.stop], error)
            self._quarantine.applied(urls[part.start : part.stop])
            self._storing.changed()

    def _broken(self, urls: Sequence[str], error: Exception) -> NoReturn:
        """Give up memory that was changed in part by a failed event; the journal does not contain the event.

        Raises
        ------
        ApplyError
            Always, once the fault is noted in the quarantine, so that the crawl can resume from the journal.
        """
        why = self._quarantine.applying(urls, error, self._clock.now())
        raise ApplyError(why, self._learner.tally.visits) from error
