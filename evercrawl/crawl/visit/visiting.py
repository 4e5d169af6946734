"""One visit: a chosen page is requested, and its answer becomes a reading."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.crawl.backoff import apply_backoff
from evercrawl.crawl.visit.access import GO, WAIT, Access
from evercrawl.crawl.visit.recall import recall
from evercrawl.fetch.asking import validator
from evercrawl.model.stored.reading import Before, Fetched, Reading, fetched, no_page, partial, understand
from evercrawl.types import SILENT, Exchange, Outcome, Request

if TYPE_CHECKING:
    from evercrawl.config import Config
    from evercrawl.crawl.enforcing import Enforcing
    from evercrawl.crawl.learn.crowded_pages import CrowdedPages
    from evercrawl.crawl.orders.checks import Checks
    from evercrawl.crawl.pace import Pace
    from evercrawl.crawl.probes.random_probes import RandomProbes
    from evercrawl.crawl.probes.soft404_book import Soft404Book
    from evercrawl.crawl.rendering.rendering import Rendering
    from evercrawl.crawl.sitemaps.sitemaps import Sitemaps
    from evercrawl.crawl.storing import Storing
    from evercrawl.crawl.visit.head_checks import HeadChecks
    from evercrawl.crawl.visit.parsers import Parsers
    from evercrawl.crawl.visit.site_costs import SiteCosts
    from evercrawl.crawl.visit.tdm_policies import TdmPolicies
    from evercrawl.model.policy.planning import Planning
    from evercrawl.model.web.mirrors import Mirrors
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.store.partition import Partition
    from evercrawl.store.quarantine import Quarantine

INTERNAL: Final = "internal"
"""The error of a page on which our own code failed."""
LOOK_AGAIN_S: Final = 10.0
"""Maximum time until a host whose site rests after costly visits is looked at again."""
LINKS: Final = 400
"""The number of links learned in one step: links to unknown pages take most of the time."""


class VisitTag(msgspec.Struct, frozen=True):
    """Marks an exchange that visits a page: what was known of it, its predicted freshness, and its queue."""

    host: Host
    slot: int
    before: Before
    said: float = math.nan
    new: bool = False


class Visiting:
    """Requests pages, and collects the results until they are remembered.

    Parameters
    ----------
    partition, config
        The known pages, and the limits of one request.
    frontier, access
        The queues of pages; decides whether they may be requested, and starts requests.
    planning
        Returns an event to journal before the first visit of a plan; None if the policy makes no plans.
    random_probes
        Notified of visits that begin, which may be of sampled pages.
    mirrors
        The new pages that need not be read; None if no mirrors are left out.
    heads
        The pages for which a HEAD request is sent first.
    soft404, sitemaps
        Recognises soft 404s; takes the feeds that pages name.
    pace, costs, parsers, storing
        Counts starts; counts bytes, and has sites rest that cost much; parses bodies; notified of new data to store.
    quarantine
        The pages on which our own code failed; they are not requested any more.
    enforcing, checks
        The pages that the scope excludes now, whatever it was when they were found; notified of visits that begin.
    crowded_pages
        Notified of visits that begin or are abandoned.
    rendering
        The pages that are rendered; None if none are.
    tdm
        The reservations of text and data mining; None if they are not requested.

    Attributes
    ----------
    underway
        The number of visits among the exchanges in flight.
    readings
        The results of ended visits, in order, that are not remembered yet.
    """

    def __init__(
        self,
        partition: Partition,
        config: Config,
        frontier: Frontier,
        access: Access,
        *,
        planning: Planning | None,
        random_probes: RandomProbes,
        mirrors: Mirrors | None,
        heads: HeadChecks,
        soft404: Soft404Book,
        sitemaps: Sitemaps,
        pace: Pace,
        costs: SiteCosts,
        parsers: Parsers,
        storing: Storing,
        quarantine: Quarantine,
        enforcing: Enforcing,
        checks: Checks,
        crowded_pages: CrowdedPages,
        rendering: Rendering | None = None,
        tdm: TdmPolicies | None = None,
    ) -> None:
        self._enforcing, self._checks, self._crowded_pages = enforcing, checks, crowded_pages
        self._partition, self._config = partition, config
        self._frontier, self._access = frontier, access
        self._planning, self._random_probes, self._mirrors = planning, random_probes, mirrors
        self._heads, self._soft404, self._sitemaps = heads, soft404, sitemaps
        self._pace, self._costs, self._parsers = pace, costs, parsers
        self._storing, self._quarantine = storing, quarantine
        self.rendering, self._tdm = rendering, tdm
        self.underway = 0
        self.readings: list[Reading] = []

    @property
    def unlearned(self) -> int:
        """The number of visits that have ended and are not remembered yet."""
        rendered = self.rendering.pending if self.rendering is not None else 0
        return self._parsers.pending + len(self.readings) + rendered

    def take_read(self, most: int | None) -> list[Reading]:
        """Return and remove the first of `readings`: all, or at most `most`, or those up to `LINKS` links."""
        links = 0
        for count, reading in enumerate(self.readings[:most] if most is not None else (), 1):
            links += len(reading.page.targets)
            if links >= LINKS:
                most = count
                break
        taken = self.readings[:most]
        del self.readings[:most]
        return taken

    def adopt(self, config: Config) -> None:
        """Use other settings from now on."""
        if config.rate_bytes_per_s != self._config.rate_bytes_per_s:
            self._costs.change()
        self._config = config

    def begin(self, host: Host, slot: int, now: float, *, new: bool, named: bool = False) -> None:
        """Request a chosen page, unless something else has to come first, or it may not be requested.

        A `named` page was chosen by a person, so what is known of similar pages does not count.
        """
        if host.held or host.ready_at > now:  # another page of the host, chosen at the same time, caused this
            self._frontier.put_first(host, slot, new=new)
            return
        if (until := self._costs.until(host.number, now)) > now and not named:
            host.ready_at = min(until, now + LOOK_AGAIN_S)
            self._frontier.put_first(host, slot, new=new)
            return
        if self.rendering is not None and not named and (rest_s := self.rendering.rest_s(host)):
            host.ready_at = now + rest_s
            self._frontier.put_first(host, slot, new=new)
            return
        if new and not named and self._mirrors is not None and self._mirrors.spared(slot, now):
            self._frontier.give_up(host, slot)
            return
        url = self._partition.state.urls.get(slot)
        if self._quarantine.holds(url):
            self._frontier.give_up(host, slot)
            return
        if self._enforcing.keeps_out(slot, url):
            self._random_probes.forget(slot)
            self._frontier.give_up(host, slot)
            return
        try:
            leave = self._access.judge(host, url, now)
            if leave == GO:
                self._sitemaps.met(url, now)
        except Exception as error:
            why = self._quarantine.judging(url, error, now)
            failed = Exchange(Request(url), now, error=INTERNAL, detail=why)
            self.readings.append(understand(fetched(failed, host, slot, recall(self._partition, slot))))
            self._frontier.release(host)
            return
        if leave == GO and self._tdm is not None and self._tdm.waits(host, url):
            self._frontier.put_first(host, slot, new=new)
        elif leave == GO:
            self._visit(host, slot, url, now, new=new)
        elif leave == WAIT:
            self._frontier.put_first(host, slot, new=new)
        else:
            self._refuse(host, slot, Exchange(Request(url), now), leave, new=new and not named)

    def _refuse(self, host: Host, slot: int, nothing: Exchange, why: str, *, new: bool) -> None:
        self._frontier.predicted_fresh.pop(slot, None)
        before = recall(self._partition, slot)
        if new and before.depth and before.outcome == Outcome.REFUSED and why.startswith("robots:"):
            self._frontier.add_seen(host.number, slot)  # as before the restart: judged again at its refresh
        else:
            self.readings.append(Reading(nothing, host, slot, before, refusal=why))
        self._frontier.release(host)

    def _visit(self, host: Host, slot: int, url: str, now: float, *, new: bool) -> None:
        before, config = recall(self._partition, slot), self._config
        size, deadline_s = config.body_max_bytes, config.exchange_deadline_s
        filled = self.rendering is not None and self.rendering.fills(host, before)
        anew = filled or self._soft404.doubts(url, before, now)
        pairs = () if anew else validators(before)
        head = self._heads.wanted(host.number, slot, pairs)
        asked = () if head else pairs
        tag = VisitTag(host, slot, before, self._frontier.predicted_fresh.pop(slot, math.nan), new)
        request = Request(url, tag, asked, size, size, deadline_s, packed=True, head=head)
        if self._planning is not None and (noted := self._planning.noted(now)) is not None:
            self._partition.remember(noted)
            self._storing.changed()
        self._access.start(request, host, now)
        self._checks.began(slot)
        self._crowded_pages.began(slot)
        self.underway += 1
        self._pace.started(now)
        if self._random_probes.began(slot, now):
            self._storing.changed()

    async def close(self) -> None:
        """Abandon requests for files beside pages."""
        if self._tdm is not None:
            await self._tdm.close()

    def unreachable(self, host: Host, why: str, at: float) -> None:
        """Record a failed visit of the next page of a host whose name has no usable address."""
        taken = self._frontier.take_first(host)
        if taken is not None:
            slot, _ = taken
            failed = Exchange(Request(self._partition.state.urls.get(slot)), at, error="dns", detail=why)
            self.readings.append(understand(fetched(failed, host, slot, recall(self._partition, slot))))

    def take(self, exchange: Exchange, tag: VisitTag, now: float) -> None:
        """Process the answer of a visit, and have its body parsed."""
        received = len(exchange.wire) + len(exchange.head)
        try:
            if exchange.request.head and not self._heads.visited(exchange, tag.host.number, tag.slot, tag.before):
                self._ask_again(exchange, tag, now, new=False)
                return
            if exchange.error == SILENT:
                tag.host.answers = 0
                self._ask_again(exchange, tag, now, new=tag.new)
                self._access.fell_silent(tag.host, exchange, now)
                return
            if self._access.addresses.misses(tag.host, exchange):
                self._ask_again(exchange, tag, now, new=tag.new)
                self._access.addresses.move_on(tag.host)
                return
            answer = fetched(exchange, tag.host, tag.slot, tag.before, tag.said)
            apply_backoff(tag.host, exchange, now)
        except Exception as error:
            failed = self._failed(exchange, error, now)
            answer = fetched(failed, tag.host, tag.slot, tag.before, tag.said)
        self.underway -= 1
        self._costs.received(tag.host.number, received, now)
        self._access.ended(tag.host, exchange, now)
        self._parsers.submit(answer)

    def _failed(self, exchange: Exchange, error: Exception, now: float) -> Exchange:
        """Return an exchange that records only that a request was made, after a failure of our own code."""
        why = self._quarantine.judging(exchange.request.url, error, now)
        return Exchange(exchange.request, exchange.at, exchange.elapsed_s, error=INTERNAL, detail=why)

    def _ask_again(self, exchange: Exchange, tag: VisitTag, now: float, *, new: bool) -> None:
        """Request a page again at its host's next turn: only its head was requested, or nothing answered."""
        self.underway -= 1
        self._pace.received(now, len(exchange.head))
        self._access.ended(tag.host, exchange, now)
        self._checks.put_back(tag.slot)
        self._crowded_pages.put_back(tag.slot)
        self._frontier.put_first(tag.host, tag.slot, new=new)

    def gather(self, now: float) -> None:
        """Collect answers whose bodies have been parsed meanwhile."""
        for answer in self.rendering.done() if self.rendering is not None else ():
            self._parsers.submit(answer)
        for answer in self._parsers.done():
            if self.rendering is not None and self.rendering.takes(answer):
                continue
            if answer.content is not None and answer.content.trace:
                self._quarantine.unreadable(answer.exchange.request.url, answer.content.trace, now)
            try:
                reading = self._reading(answer, now)
            except Exception as error:
                failed = self._failed(answer.exchange, error, now)
                reading = understand(fetched(failed, answer.host, answer.slot, answer.before, answer.said))
            self.readings.append(reading)

    def _reading(self, answer: Fetched, now: float) -> Reading:
        """Return the reading of an answer, and add the feeds that it names."""
        reading = understand(answer)
        if why := self._soft404.why_no_page(reading, now):
            reading = no_page(reading, why)
        optouts = self._access.optouts(reading.exchange.request.url)
        if self._tdm is not None and reading.exchange.headers.get("tdm-reservation", "").strip() != "0":
            optouts |= self._tdm.optouts(reading.exchange.request.url)
        if optouts or answer.rendering:
            reading = msgspec.structs.replace(reading, optouts=optouts, rendering=answer.rendering)
        if reading.page.feeds:
            self._sitemaps.feeds(reading.exchange.request.url, reading.page.feeds, now)
        return reading


def validators(before: Before) -> tuple[tuple[str, str], ...]:
    """Return the request headers for a conditional request, which is answered with 304 if the content is the same."""
    last = before.last
    if last is None or not before.digest or last.digest != before.digest or last.outcome == Outcome.TRUNCATED:
        return ()
    if partial(before):  # it has to be read again
        return ()
    pairs = (("If-None-Match", last.etag), ("If-Modified-Since", last.last_modified))
    return tuple(pair for pair in pairs if validator(pair[1]))
