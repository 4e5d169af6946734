"""The crawl of one spider: pages are scheduled by importance and change, and all requests survive a crash."""

from __future__ import annotations

import heapq
import logging
import weakref
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, Final

from evercrawl.crawl.driven.driven_crawl import DrivenCrawl, Turn
from evercrawl.errors import NoRoomError
from evercrawl.integrations.scrapy.answers import exchange_of, failure_of, redirect_of
from evercrawl.integrations.scrapy.codec import UnstorableError, decoded, encoded
from evercrawl.integrations.scrapy.requests import is_page, page_url
from evercrawl.integrations.scrapy.store import RequestStore
from evercrawl.integrations.scrapy.ticket import KEY, Stage, Ticket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy import Request, Spider
    from scrapy.http import Response

    from evercrawl.model.stored.reading import Fetched

BATCH: Final = 32
"""Number of pages chosen together."""
LESSON: Final = 128
"""Number of responses learned from together."""
PATIENCE_S: Final = 1.0
"""How long a smaller batch of responses waits for more."""
_AT_HAND: Final = 4096
"""Maximum number of requests cached in memory, so that they need not be read from disk."""
_log = logging.getLogger(__name__)


class SpiderCrawl:
    """The crawl of a spider, which hands out requests and learns from their results.

    Parameters
    ----------
    driven, store, spider
        The crawl, the stored requests, and the spider.
    per_host
        Number of active requests to a host from which on pages of other hosts are preferred.
    skip_unchanged
        Whether unchanged pages are not passed to the spider.
    count
        Function that increments a statistic, by name.
    is_piped
        Function that returns whether items of a request may still be in the pipelines.
    """

    def __init__(
        self,
        driven: DrivenCrawl,
        store: RequestStore,
        spider: Spider,
        *,
        per_host: int,
        skip_unchanged: bool,
        count: Callable[[str], None],
        is_piped: Callable[[Request], bool],
    ) -> None:
        self._driven, self._store, self._spider = driven, store, spider
        self._per_host, self._skip_unchanged, self._count, self._is_piped = per_host, skip_unchanged, count, is_piped
        self._turns = deque[Turn]()
        self._active = Counter[int]()  # requests given out, by number of their host
        self._again = deque["Request"]()  # returned by a middleware: retries, and redirects of non-pages
        self._once = [(-priority, number) for priority, number in store.waiting()]
        heapq.heapify(self._once)
        self._in_memory = dict[int, "Request"]()  # requests that cannot be stored
        self._memory_number = 0
        self._at_hand = dict[str, "Request"]()
        self._found, self._seeds = dict[str, None](), dict[str, None]()
        self._done = list[tuple["Fetched", "Sequence[str]"]]()
        self._piped = list[Ticket]()  # whose items may be in the pipelines
        self._named = set[str]()
        self._settling: tuple[int, int] | None = None  # a number of the store, and the event after it
        self._prefer_once = True
        self._worked_at = driven.now()
        self._out = set[Ticket]()
        driven.before_commit = store.sync
        self._resume()

    def _resume(self) -> None:
        """Add pages that the store has and the journal lacks after a crash; drop forgotten URLs."""
        if self._driven.forgets:
            self._store.forget(self._driven.forgotten)
        unsettled, _ = self._store.unsettled()
        for seeds in (True, False):
            if urls := [url for url, seed in unsettled if seed is seeds]:
                self._driven.admit(urls, seeds=seeds)

    # Requests come in

    def page(self, request: Request, url: str, *, start: bool) -> None:
        """Accept a request for a page that was not requested before."""
        try:
            data = encoded(request, url, self._spider)
        except UnstorableError as error:
            self._keep_in_memory(request, error)
            return
        self._store.add_page(url, data, seed=start)
        self._keep_at_hand(request, url)
        (self._seeds if start else self._found)[url] = None

    def once(self, request: Request) -> None:
        """Accept a request that is made once, whatever the result of similar ones."""
        try:
            data = encoded(request, "", self._spider)
        except UnstorableError as error:
            self._keep_in_memory(request, error)
            return
        heapq.heappush(self._once, (-request.priority, self._store.add_once(request.priority, request.url, data)))

    def known(self, url: str) -> bool:
        """Return whether a page is known, or about to be."""
        return url in self._found or url in self._seeds or self._driven.known(url)

    def start_again(self, request: Request, url: str) -> bool:
        """Fetch a known start page of the spider now; return whether it can be: only once per run."""
        if url in self._named:
            return False
        self._named.add(url)
        turn = self._driven.name(url)
        if turn is not None:
            self._store.add_page(url, encoded(request, url, self._spider), seed=True)
            self._turns.appendleft(turn)
        return True

    def sent_back(self, request: Request, ticket: Ticket) -> str:
        """Accept a request that a middleware has returned instead of a response.

        Return the URL that its page redirects to, which must be requested; "" if it is a retry.
        """
        url = page_url(request.url) if ticket.turn is not None and is_page(request) else ""
        if not url or url == ticket.url:
            ticket.watch = weakref.ref(request)
            self._again.append(request)
            return ""
        assert ticket.turn is not None
        now = self._driven.now()
        exchange = redirect_of(ticket.url, ticket.at, now, url, request)
        self._answer(ticket, exchange)
        ticket.links = [url]
        self.finished(ticket)
        return url

    # Requests go out

    def next(self) -> Request | None:
        """Return the next request; None if there is none now."""
        if self._again:
            return self._again.popleft()
        if self._driven.full:
            return None
        self._prefer_once = not self._prefer_once
        if self._once and (self._prefer_once or not self._turns):
            return self._next_once()
        if not self._turns:
            self._admit()
            self._turns.extend(self._driven.choose(BATCH))
        if self._turns:
            return self._next_page()
        return self._next_once() if self._once else None

    def _next_page(self) -> Request:
        for at, turn in enumerate(self._turns):
            if self._active[turn.host.number] < self._per_host:
                del self._turns[at]
                break
        else:
            turn = self._turns.popleft()
        self._active[turn.host.number] += 1
        request = self._at_hand.pop(turn.url, None) or self._request(self._store.page(turn.url) or b"", turn.url)
        before = self._driven.before(turn)
        if before.visits and self._skip_unchanged:
            for name, value in self._driven.validators(before):
                request.headers.setdefault(name, value)
        self._give_out(request, Ticket(self, turn.url, self._driven.now(), turn=turn, before=before))
        self._count("evercrawl/revisits" if before.visits else "evercrawl/first_visits")
        return request

    def _next_once(self) -> Request:
        _, number = heapq.heappop(self._once)
        if number < 0:
            request = self._in_memory.pop(number)
            self._give_out(request, Ticket(self, "", self._driven.now()))
            return request
        url, data = self._store.once(number)
        request = self._request(data, url)
        self._give_out(request, Ticket(self, "", self._driven.now(), number=number))
        return request

    def _request(self, data: bytes, url: str) -> Request:
        from scrapy import Request

        try:
            return decoded(data, url, self._spider)
        except UnstorableError as error:
            _log.warning("%s; it is given to the spider's parse", error)
            return Request(url, dont_filter=True)

    def _give_out(self, request: Request, ticket: Ticket) -> None:
        request.meta[KEY] = ticket
        ticket.watch = weakref.ref(request)
        self._out.add(ticket)

    # Results

    def answered(self, ticket: Ticket, request: Request, response: Response) -> bool:
        """Process a response; return whether to pass it to the spider."""
        if ticket.turn is None or ticket.before is None:
            ticket.stage = Stage.READ
            return True
        now = self._driven.now()
        latency_s = float(request.meta.get("download_latency", 0.0))
        self._answer(ticket, exchange_of(ticket.url, ticket.at, now, response, latency_s))
        if not (self._skip_unchanged and ticket.before.visits):
            return True
        content = ticket.answer.content if ticket.answer is not None else None
        held = ticket.before.digest, ticket.before.digest_rest
        same = content is not None and held[0] != 0 and (content.digest, content.digest_rest) == held
        if response.status == 304 or same:
            self._count("evercrawl/unchanged")
            return False
        return True

    def failed(self, ticket: Ticket, exception: Exception) -> None:
        """Process a failure; what the errback yields is processed before the failure is learned."""
        if ticket.turn is not None:
            self._answer(ticket, failure_of(ticket.url, ticket.at, self._driven.now(), exception))
        ticket.stage = Stage.READ

    def _answer(self, ticket: Ticket, exchange: Any) -> None:
        assert ticket.turn is not None
        assert ticket.before is not None
        ticket.answer = self._driven.answer(ticket.turn, ticket.before, exchange)
        ticket.stage = Stage.READ
        self._driven.ended(ticket.turn)
        self._active[ticket.turn.host.number] -= 1

    def linked(self, ticket: Ticket, request: Request) -> None:
        """Record a request that the spider yields for a page."""
        if ticket.turn is not None and is_page(request) and (url := page_url(request.url)):
            ticket.links.append(url)

    def yielded(self, ticket: Ticket) -> None:
        """Record that the spider has yielded everything for a response."""
        if ticket.items:
            self._piped.append(ticket)
        else:
            self.finished(ticket)

    def finished(self, ticket: Ticket) -> None:
        """Queue the result of a request for learning: the spider is done, and its items are through the pipelines."""
        if ticket.stage is Stage.DONE:
            return
        ticket.stage = Stage.DONE
        self._out.discard(ticket)
        if ticket.number is not None:
            self._store.made(ticket.number)
        if ticket.answer is not None:
            self._done.append((ticket.answer, ticket.links))

    def _end_over(self) -> None:
        """Finish tickets whose request no longer exists, or whose items are through the pipelines."""
        for ticket in [ticket for ticket in self._out if ticket.watch is not None and ticket.watch() is None]:
            if ticket.stage is Stage.FETCHED:
                self.failed(ticket, RuntimeError("a middleware dropped the request"))
            self.finished(ticket)
        if self._piped:
            piped, self._piped = self._piped, list[Ticket]()
            for ticket in piped:
                request = ticket.watch() if ticket.watch is not None else None
                if request is not None and self._is_piped(request):
                    self._piped.append(ticket)
                else:
                    self.finished(ticket)

    # Background work

    def work(self, *, now_or_never: bool = False) -> None:
        """Learn from responses, if there are enough or they have waited long enough, and store the results.

        Raises
        ------
        NoRoomError
            The disk was full for too long.
        """
        self._end_over()
        waits = bool(self._done or self._found or self._seeds)
        now = self._driven.now()
        if not waits:
            self._worked_at = now
        elif now_or_never or len(self._done) >= LESSON or now - self._worked_at >= PATIENCE_S:
            self._worked_at = now
            self._admit()
            self._learn()
        self._driven.turn()
        if self._settling is not None and self._driven.stored >= self._settling[1]:
            self._store.settle(self._settling[0])
            self._settling = None

    def _admit(self) -> None:
        """Add newly found pages to the crawl, after their requests are committed to the store."""
        self._store.commit()
        if not self._seeds and not self._found:
            return
        last = self._store.last()
        self._driven.admit(list(self._seeds), seeds=True)
        self._driven.admit(list(self._found), seeds=False)
        self._seeds.clear()
        self._found.clear()
        if self._settling is None:
            self._settling = last, self._driven.remembered

    def _learn(self) -> None:
        """Learn from responses; the targets of their links are known already."""
        if self._done:
            done, self._done = self._done, list[tuple["Fetched", "Sequence[str]"]]()
            try:
                self._driven.learn(done)
            except NoRoomError:
                self._done = done + self._done
                _log.warning("the disk is full; nothing is fetched until there is room")

    def pending(self) -> bool:
        """Return whether there are requests now or soon."""
        waits = self._again or self._turns or self._once or self._found or self._seeds
        return bool(waits) or not self._driven.idle()

    def due(self) -> bool:
        """Return whether a request could be handed out now."""
        if self._again or self._turns or self._once or self._found or self._seeds:
            return True
        return self._driven.frontier.next_at() <= self._driven.now()

    async def close(self) -> None:
        """Store everything; requests in flight are made again in the next run."""
        try:
            self.work(now_or_never=True)
            for turn in self._turns:
                self._driven.put_back(turn)
            await self._driven.close()
            if self._settling is not None:
                self._store.settle(self._settling[0])
        finally:
            self._store.close()

    def _keep_at_hand(self, request: Request, url: str) -> None:
        if len(self._at_hand) >= _AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        self._at_hand[url] = request

    def _keep_in_memory(self, request: Request, error: UnstorableError) -> None:
        """Keep a request that cannot be stored; it is lost if the process is killed."""
        self._memory_number -= 1
        self._in_memory[self._memory_number] = request
        heapq.heappush(self._once, (-request.priority, self._memory_number))
        self._count("evercrawl/unstorable")
        if self._memory_number == -1:
            _log.warning(
                "a request cannot be stored and would be lost if the process were killed: %s: %s; give it a callback "
                "that is a method of the spider, and meta and cb_kwargs of values and items (later ones are counted "
                "in the statistics as evercrawl/unstorable)", request, error,
            )  # fmt: skip
