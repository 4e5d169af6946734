"""The Scrapy scheduler, which chooses the next request."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.reactor import is_asyncio_reactor_installed

from evercrawl.crawl.driven.opening import open_driven
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.integrations.scrapy.dupefilter import DupeFilter
from evercrawl.integrations.scrapy.requests import is_page, page_url
from evercrawl.integrations.scrapy.settings import config_of, directory_of
from evercrawl.integrations.scrapy.spider_crawl import SpiderCrawl
from evercrawl.integrations.scrapy.store import RequestStore
from evercrawl.integrations.scrapy.ticket import KEY, Stage, ticket_of
from evercrawl.store.disk.modes import shut_to_others

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter

TICK_S: Final = 0.05
_log = logging.getLogger(__name__)


class Scheduler(BaseScheduler):
    """A scheduler that orders a spider's pages by the value of a visit, revisits them, and survives crashes.

    Parameters
    ----------
    crawler
        The crawler whose requests it schedules.

    Raises
    ------
    ConfigError
        Scrapy runs without asyncio.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not is_asyncio_reactor_installed():
            raise ConfigError(
                "evercrawl needs Scrapy's asyncio reactor; remove TWISTED_REACTOR from the project's settings"
            )
        self._crawler, self._settings = crawler, crawler.settings
        self._filter: BaseDupeFilter = build_from_crawler(load_object(self._settings["DUPEFILTER_CLASS"]), crawler)
        self._endless = self._settings.getbool("EVERCRAWL_ENDLESS")
        self._threads = ThreadPoolExecutor(1, "evercrawl")
        self._crawl: SpiderCrawl | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._broken = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the scheduler of a crawler."""
        return cls(crawler)

    def open(self, spider: Spider) -> Any:
        """Open the crawl directory of the spider, or create it.

        Raises
        ------
        EvercrawlError
            The directory cannot be opened; the message says why.
        """
        directory = directory_of(self._settings, spider.name)
        config, kept = config_of(self._settings, directory)
        shut_to_others()
        directory.mkdir(parents=True, exist_ok=True)
        driven = open_driven(directory, config, kept, self._offload)
        store = RequestStore(directory)
        self._crawl = SpiderCrawl(
            driven,
            store,
            spider,
            per_host=max(self._settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"), 1),
            skip_unchanged=self._settings.getbool("EVERCRAWL_SKIP_UNCHANGED", True),
            count=self._count,
            is_piped=self._is_piped,
        )
        if isinstance(self._filter, DupeFilter):
            self._filter.attach(store)
        gc.freeze()  # garbage collection need not scan what is loaded by now
        self._ticking = asyncio.ensure_future(self._tick())
        _log.info("the crawl is kept in %s; ask it with: evercrawl status --dir %s", directory, directory)
        return self._filter.open()

    def close(self, reason: str) -> Any:
        """Store everything."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ticking
        if self._crawl is not None:
            crawl, self._crawl = self._crawl, None
            await crawl.close()
        self._threads.shutdown()
        closed: Any = self._filter.close(reason)
        if closed is not None:
            await closed

    def has_pending_requests(self) -> bool:
        """Return whether there are requests now or soon; always true for a crawl without end."""
        return self._crawl is not None and not self._broken and (self._endless or self._crawl.pending())

    def enqueue_request(self, request: Request) -> bool:
        """Accept a request; return False for a duplicate."""
        crawl = self._crawl
        if crawl is None:
            return False
        ticket = ticket_of(request)
        if ticket is not None and ticket.stage is Stage.FETCHED:
            if not crawl.sent_back(request, ticket):
                return True
            request = request.replace()
        request.meta.pop(KEY, None)
        url = page_url(request.url) if is_page(request) else ""
        start = bool(url) and request.meta.get("is_start_request", False)
        if start and crawl.known(url):
            if crawl.start_again(request, url):
                return True
        elif not request.dont_filter or (url and not crawl.known(url)):
            seen = self._filter.request_seen(request)
            if seen and not request.dont_filter and not start:
                self._filter.log(request, self._spider)
                return False
            if url and not crawl.known(url):
                crawl.page(request, url, start=start)
                return True
        crawl.once(request)
        return True

    def next_request(self) -> Request | None:
        """Return the next request; None if there is none now."""
        crawl = self._crawl
        if crawl is None or self._broken:
            return None
        try:
            return crawl.next()
        except Exception as error:  # Scrapy would continue without its crawl
            self._give_up(error)
            return None

    @property
    def _spider(self) -> Spider:
        assert self._crawler.spider is not None
        return self._crawler.spider

    def _is_piped(self, request: Request) -> bool:
        """Return whether items of a request are still in the pipelines: the scraper holds the request until then."""
        engine: Any = self._crawler.engine
        slot = getattr(getattr(engine, "scraper", None), "slot", None)
        return request in getattr(slot, "active", ())

    def _count(self, name: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(name)

    async def _offload(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    async def _tick(self) -> None:
        """Store the results received, and wake the engine when a page falls due."""
        while self._crawl is not None and not self._broken:
            await asyncio.sleep(TICK_S)
            try:
                self._crawl.work()
                due = self._crawl.due()
            except Exception as error:
                self._give_up(error)
                return
            engine: Any = self._crawler.engine
            slot = getattr(engine, "_slot", None)
            if due and slot is not None:  # by itself it checks once in 5 s
                slot.nextcall.schedule()

    def _give_up(self, error: Exception) -> None:
        """End the crawl after an error; results not stored yet are fetched again in the next run."""
        self._broken = True
        known = isinstance(error, EvercrawlError)
        _log.critical("the crawl ends: %s", error, exc_info=None if known else error)
        engine: Any = self._crawler.engine
        asyncio.ensure_future(engine.close_spider_async(reason="evercrawl"))  # noqa: RUF006
