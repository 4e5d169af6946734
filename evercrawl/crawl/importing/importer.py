"""The import itself: captures become visits, in the order of time, as if the crawl had made them.

Each capture is treated like a visit: it is parsed, classified, archived, learned from, written to the journal and
indexed. A capture must be later than the last visit of its page; captures imported before are recognised by this
alone. So a second import changes nothing, and an import that was killed resumes where the journal ends.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from evercrawl.crawl.importing.captures import PastCapture, told
from evercrawl.crawl.importing.history import Histories
from evercrawl.crawl.learn.learning import LISTED_DEPTH
from evercrawl.crawl.visit.recall import recall
from evercrawl.errors import ApplyError, NoRoomError
from evercrawl.fetch.answer import cut_words
from evercrawl.model.stored.reading import Before, Reading, fetched, understand
from evercrawl.store.journal.events import Visit
from evercrawl.types import NO_SLOT, Outcome, Slots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.clock import Clock
    from evercrawl.config import Config
    from evercrawl.crawl.importing.captures import Source
    from evercrawl.crawl.importing.planning import CapturePlace, Plan
    from evercrawl.crawl.parts import Parts
    from evercrawl.store.partition import Partition
    from evercrawl.store.quarantine import Quarantine

TOGETHER: Final = 64
"""Captures that are looked up and made known together."""
LEARNED: Final = 16
_WAIT_S: Final = 0.001
_NOTES_S: Final = 5.0
NEWER: Final = "a history of a page whose content the crawl has"
NO_LINKS: Final = "a redirect or an error without its answer"
_WITHOUT: Final = (Outcome.REFUSED, Outcome.GONE)


@dataclass(slots=True)
class ImportTally:
    """The counts of an import.

    Attributes
    ----------
    pages, histories, made_known, known
        Number of contents imported, of visits without content, of URLs that became known, and of captures that were
        known already.
    outside, left_out
        Number of captures outside the scope, and of captures of no use to the crawl, each by reason.
    """

    pages: int = 0
    histories: int = 0
    made_known: int = 0
    known: int = 0
    outside: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])


class Importer:
    """Imports captures into one crawl.

    Parameters
    ----------
    partition, parts, config, clock, quarantine
        The open crawl, its parts, its settings, the time, and URLs on which evercrawl's own code failed.
    sources, plan
        The sources of captures, and the order of the captures.
    tally
        The counts of the import; they continue if the crawl has to be reopened.

    Attributes
    ----------
    done
        Number of captures processed in this run.
    """

    def __init__(
        self,
        partition: Partition,
        parts: Parts,
        config: Config,
        clock: Clock,
        quarantine: Quarantine,
        sources: list[Source],
        plan: Plan,
        tally: ImportTally,
    ) -> None:
        self._partition, self._state, self._parts = partition, partition.state, parts
        self._config, self._clock, self._quarantine = config, clock, quarantine
        self._sources, self._plan, self._tally = sources, plan, tally
        self._histories = Histories(parts.choosing.changes, partition.hasher)
        self._frontier = parts.choosing.frontier
        self._underway: dict[int, PastCapture] = {}
        self._readings: list[Reading] = []
        self._early = _early_visits(partition) if plan.dated and plan.first_at < self._state.epoch else {}
        self._noted_at = clock.now()
        self.done = 0

    async def run(self, watch: Callable[[int, int], None], ends: Callable[[], bool]) -> bool:
        """Import all captures; return False if `ends` stopped the import early.

        Raises
        ------
        NoRoomError
            The disk is full; acknowledged events are safe, and the next import resumes after them.
        ApplyError
            Memory no longer equals the fold of the journal: open the crawl again.
        """
        batch, total, whole = list["CapturePlace"](), len(self._plan), True
        for place in self._plan.places():
            batch.append(place)
            if len(batch) == TOGETHER:
                await self._take(batch)
                batch = []
                watch(self.done, total)
                if ends():
                    whole = False
                    break
        await self._take(batch)
        await self._drain()
        self._note()
        await self._parts.storing.finish()
        if self._parts.indexing is not None:
            await self._parts.indexing.finish()
        watch(self.done, total)
        return whole

    async def _take(self, batch: list[CapturePlace]) -> None:
        captures = [capture for place in batch if (capture := self._load(place)) is not None]
        self.done += len(batch)
        slots = self._slots(captures)
        for capture, slot in zip(captures, slots.tolist(), strict=True):
            if slot == NO_SLOT:
                continue  # `_slots` has counted the reason
            if math.isnan(capture.at):
                continue
            if slot in self._underway:
                await self._drain()
            self._visit(capture, slot)
            if len(self._underway) >= TOGETHER or self._parts.parsers.behind:
                await self._learn_some()
        await self._learn_some()

    def _load(self, place: CapturePlace) -> PastCapture | None:
        source = self._sources[place.source]
        try:
            capture = source.load(place.place, place.length, place.part)
        except MemoryError:
            raise
        except Exception as error:  # whatever a stranger's record makes a reader raise
            self._plan.blame(f"{source.name}, byte {place.place}: {told(error)}")
            return None
        return None if self._quarantine.holds(capture.url) else capture

    # URLs

    def _slots(self, captures: list[PastCapture]) -> Slots:
        """Make new URLs in the scope known; return the slots of all captures, shape (n,), NO_SLOT if outside."""
        urls = [capture.url for capture in captures]
        slots = self._state.find(urls)
        new = np.flatnonzero(slots == NO_SLOT).tolist()
        inside = list[int]()
        for i in new:
            if why := self._parts.scope.excluded_by(urls[i], LISTED_DEPTH):
                self._tally.outside[why] += 1
            else:
                inside.append(i)
        listed = {urls[i]: captures[i] for i in inside}
        for i, slot in enumerate(slots.tolist()):
            if slot != NO_SLOT and math.isnan(captures[i].at):
                self._tally.known += 1
                listed[urls[i]] = captures[i]
        if not listed:
            return slots
        at = min((capture.at for capture in listed.values() if not math.isnan(capture.at)), default=self._clock.now())
        dates = [None if math.isnan(capture.changed_at) else capture.changed_at for capture in listed.values()]
        self._parts.learner.admit_listing(list(listed), dates, at)
        self._parts.storing.changed()
        slots[inside] = self._state.find([urls[i] for i in inside])
        for i in inside:
            if slots[i] == NO_SLOT:
                self._tally.outside["budget"] += 1
            elif math.isnan(captures[i].at):
                self._tally.made_known += 1
        return slots

    # Visits

    def _visit(self, capture: PastCapture, slot: int) -> None:
        before = self._before(slot)
        body = capture.exchange is not None
        if self._is_known(capture, before, body=body):
            self._histories.note(slot, capture)
            self._tally.known += 1
            return
        if not body:
            self._history(capture, slot, before)
            return
        exchange, host = capture.exchange, self._frontier.hosts[int(self._state.known.row(slot)["host"])]
        assert exchange is not None
        most = self._config.body_max_bytes
        exchange.request = type(exchange.request)(capture.url, None, (), most, most, 0.0, packed=True)
        if len(exchange.wire) > most:
            exchange.wire, exchange.truncated, exchange.detail = exchange.wire[:most], True, cut_words(most)
        self._underway[slot] = capture
        self._parts.parsers.submit(fetched(exchange, host, slot, before))

    def _before(self, slot: int) -> Before:
        """Return what is known of a page; a visit from before the crawl began has its true instant if that is known."""
        before = recall(self._partition, slot)
        if before.visited_at is not None and before.visited_at <= self._state.epoch and slot in self._early:
            at = self._early[slot]
            return msgspec.structs.replace(before, visited_at=at, seen_at=min(before.seen_at, at))
        return before

    def _is_known(self, capture: PastCapture, before: Before, *, body: bool) -> bool:
        """Return whether a capture adds nothing: it is no later than its page's last visit, nor its missing content."""
        last = before.visited_at
        if last is None:
            return False
        if not body:
            return math.floor(capture.at) <= math.floor(last)
        ticks, epoch = self._state.ticks, self._state.epoch
        past = ticks(capture.at) <= ticks(last) if last > epoch else capture.at <= last
        return past and (before.event != 0 or before.outcome not in _WITHOUT or capture.at == last)

    def _history(self, capture: PastCapture, slot: int, before: Before) -> None:
        if before.digest or before.event:
            self._tally.left_out[NEWER] += 1
            return
        if capture.status not in (0, 304, 404, 410) and not 200 <= capture.status < 300:
            self._tally.left_out[NO_LINKS] += 1
            return
        host = self._frontier.hosts[int(self._state.known.row(slot)["host"])]
        visit = self._histories.of(slot, host, before, capture)
        self._apply([capture.url], partial(self._parts.learner.remember, visit))
        self._ahead(slot, capture.at)
        self._tally.histories += 1

    async def _drain(self) -> None:
        """Learn from all captures under way."""
        await self._parts.parsers.settle(patient=True)  # a dropped one would stay under way
        while self._underway or self._readings:
            await self._learn_some()

    async def _learn_some(self) -> None:
        """Learn from captures that were parsed, and store them."""
        parts = self._parts
        for answer in parts.parsers.done():
            self._readings.append(understand(answer))
        while self._readings:
            batch, self._readings = self._readings[:LEARNED], self._readings[LEARNED:]
            urls = [reading.exchange.request.url for reading in batch]
            for part in self._quarantine.apart(urls):
                some = batch[part.start : part.stop]
                self._apply(urls[part.start : part.stop], partial(parts.learner.learn, some))
                for reading in some:
                    self._ahead(reading.slot, reading.exchange.at)
                    del self._underway[reading.slot]
            self._tally.pages += len(batch)
        await self._store()

    def _apply(self, urls: list[str], work: Callable[[], None]) -> None:
        try:
            work()
        except NoRoomError:
            raise
        except Exception as error:
            why = self._quarantine.applying(urls, error, self._clock.now())
            raise ApplyError(why) from error
        self._quarantine.applied(urls)
        self._parts.storing.changed()

    async def _store(self) -> None:
        parts, now = self._parts, self._clock.now()
        if now >= self._noted_at + _NOTES_S:
            self._noted_at = now
            self._note()
        if parts.choosing.lessons is not None and parts.choosing.lessons.due(now):
            parts.choosing.lessons.flush()
        parts.storing.turn(now)
        if parts.storing.full:
            await parts.storing.settle()  # raises if the disk stays full
        if parts.indexing is not None:
            parts.indexing.turn(now)
            while parts.indexing.behind:
                await asyncio.sleep(_WAIT_S)
                parts.indexing.turn(self._clock.now())
        await asyncio.sleep(0)

    def _note(self) -> None:
        """Keep for the next run what was learned about all pages together."""
        self._state.notes.update(self._parts.choosing.changes.notes())

    def _ahead(self, slot: int, at: float) -> None:
        if at < self._state.epoch:
            self._early[slot] = at


def _early_visits(partition: Partition) -> dict[int, float]:
    """Return by slot the last visits from before the crawl began; records store the crawl's beginning instead."""
    visits: Iterable[Visit] = (event for _, _, event in partition.journal.replay() if isinstance(event, Visit))
    return {event.slot: event.at for event in visits if event.at < partition.state.epoch}
