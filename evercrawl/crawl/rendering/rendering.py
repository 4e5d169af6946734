"""Renders pages with little text of their own in a browser, and reads the document that the browser makes."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl import catalog
from evercrawl.crawl.rendering.browser import AbsentError, ChromiumPool, RenderError
from evercrawl.crawl.rendering.errands import MOST_HOPS, Errands, RefusedError, target_of
from evercrawl.crawl.rendering.nesting import too_deep
from evercrawl.crawl.rendering.worth import ALWAYS, POOR_BYTES, Plain, RenderWorth
from evercrawl.errors import ConfigError
from evercrawl.fetch.answer import unwrap
from evercrawl.parse.sites import found_site, same_site
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store.journal.events import RENDER_FAILED, RENDER_GAINED
from evercrawl.types import Exchange, Rendered

if TYPE_CHECKING:
    from playwright.async_api import Request as BrowserRequest
    from playwright.async_api import Route

    from evercrawl.config import Config
    from evercrawl.model.stored.reading import Before, Fetched
    from evercrawl.schedule.frontier.hosts import Host

MOST_WAITING: Final = 64
"""The number of pages that may wait for the browser; beyond it, in mode auto, one page of each site may."""
MOST_OF_SITE: Final = 8
"""Maximum number of waiting pages of a site. In mode auto, further ones are read without the browser; in `ALWAYS`, they
are requested later."""
_LATER_S: Final = 1.0
_HTML: Final = ("text/html", "application/xhtml+xml")
_USED: Final = frozenset({"script", "stylesheet", "xhr", "fetch", "document", "other", "manifest"})
_SHARED: Final = frozenset({"script", "stylesheet"})
_SENT: Final = ("accept", "origin", "x-requested-with")
_KEPT: Final = ("content-type", "content-language", "etag", "last-modified", "access-control-")


@dataclass(eq=False, slots=True)
class _Page:
    """A page in the browser: its answer without scripts, and the requests so far."""

    answer: Fetched
    body: bytes
    served: list[object] = field(default_factory=list[object])
    asked: int = 0
    pending: int = 0
    requisites: list[Exchange] = field(default_factory=list[Exchange])


class Rendering:
    """Has pages rendered alongside the crawl.

    Parameters
    ----------
    config
        Which pages are rendered, and the limits.
    errands
        Fetches what the browser requests.
    barred
        URL -> why it is never requested; "" if it may be.
    worth
        Decides which pages are worth rendering.
    wake
        Called when a page is done.
    pool
        The browser; by default one made from the settings.

    Attributes
    ----------
    pages, failed
        The number of pages rendered so far, and of those that failed.
    trouble
        Why the last of these failed.
    pool
        The browser.

    Raises
    ------
    ConfigError
        There is no browser.
    """

    def __init__(
        self,
        config: Config,
        errands: Errands,
        barred: Callable[[str], str],
        worth: RenderWorth,
        wake: Callable[[], None],
        pool: ChromiumPool | None = None,
    ) -> None:
        if config.browser and not catalog.trusts_program(config.browser):
            raise ConfigError(
                f"{config.browser} is a program that the settings of this directory name, and it is run only if the "
                f"command names it: add --browser {config.browser}, or set EVERCRAWL_BROWSER"
            )
        self._config, self._errands, self._barred, self._worth, self._wake = config, errands, barred, worth, wake
        self.pool = pool or ChromiumPool(
            config.browser, config.user_agent, pages=config.render_pages, time_s=config.render_time_s,
            memory_bytes=config.render_memory_bytes, most_bytes=config.body_max_bytes,
        )  # fmt: skip
        self._tasks: dict[asyncio.Task[None], Fetched] = {}
        self._of_site = Counter[str]()  # of these
        self._plain: dict[int, Plain] = {}  # by slot
        self._done: list[Fetched] = []
        self.pages = self.failed = 0
        self.trouble = ""

    @property
    def pending(self) -> int:
        """The number of pages that wait for the browser, or are done but not taken over."""
        return len(self._tasks) + len(self._done)

    def rest_s(self, host: Host) -> float:
        """Return for how long a host rests because the browser has to read many pages of its site first."""
        waits = self._config.render == ALWAYS and self._of_site[found_site(host.name)] >= MOST_OF_SITE
        return _LATER_S if waits else 0.0

    def fills(self, host: Host, before: Before) -> bool:
        """Whether "not modified" is not enough for a page because scripts may fill it, as they do on its site."""
        if not self._worth.gained(host.number):
            return False
        return before.held is None or bool(before.held.flags & RENDER_GAINED) or before.words <= POOR_BYTES // 2

    def takes(self, answer: Fetched) -> bool:
        """Whether a page goes through the browser now; if not, its content without scripts counts."""
        exchange, content = answer.exchange, answer.content
        if answer.slot in self._plain:  # it has been rendered
            before = self._plain.pop(answer.slot)
            if exchange.rendered is not None and content is not None:
                answer.rendering = before.verdict(content.text_bytes, len(content.targets))
            return False
        if content is None or exchange.status != 200 or exchange.truncated or exchange.error or content.error:
            return False
        held = (answer.before.digest, answer.before.digest_rest) == (content.digest, content.digest_rest)
        if held and self._config.render != ALWAYS and not self.fills(answer.host, answer.before):
            return False  # unchanged since it was found not to need the browser
        site = found_site(hostname(exchange.request.url))
        if content.mime not in _HTML or (self._config.render != ALWAYS and self._crowded(site)):
            return False
        if not self._worth.considers(content.text_bytes):
            return False
        plain = msgspec.structs.replace(exchange, packed=bool(exchange.wire), body=b"")
        unwrap(plain)
        says = Plain.of(plain.body, content.text_bytes, len(content.targets))
        if not self._worth.wanted(says, answer.host.number, answer.slot, answer.before.visits):
            return False
        if too_deep(plain.body):
            return False
        self._plain[answer.slot] = says
        self._of_site[site] += 1
        self._tasks[asyncio.ensure_future(self._render(_Page(answer, plain.body)))] = answer
        return True

    def _crowded(self, site: str) -> bool:
        """Whether no more pages of a site may wait."""
        return self._of_site[site] >= (MOST_OF_SITE if self.pending < MOST_WAITING else 1)

    def done(self) -> list[Fetched]:
        """Return the pages that are done; those with a document from the browser have to be parsed again."""
        done, self._done = self._done, []
        return done

    async def close(self) -> None:
        """Abandon pages in the browser, so that their content without scripts counts, and close the browser."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)
        await self.pool.close()

    async def _render(self, page: _Page) -> None:
        answer, url = page.answer, page.answer.exchange.request.url
        self.pages += 1
        try:
            dom = await self.pool.rendered(url, lambda route: self._answer(page, route), lambda: page.pending)
        except RenderError as error:
            self.failed += 1
            self.trouble = f"{url}: {error}"
            if not isinstance(error, AbsentError):
                answer.rendering = RENDER_FAILED
        else:
            data = dom.encode("utf-8", "replace")
            if len(data) <= self._config.body_max_bytes:
                answer.exchange.rendered = Rendered(data, tuple(page.requisites))
                answer.content, answer.unread = None, True
            else:
                answer.rendering = RENDER_FAILED
        finally:
            if answer.exchange.rendered is None:  # the answers are not archived
                self._errands.forget([each.request.url for each in page.requisites])
            self._tasks = {task: one for task, one in self._tasks.items() if one is not answer}
            self._of_site -= Counter([found_site(hostname(url))])
            self._done.append(answer)
            self._wake()

    async def _answer(self, page: _Page, route: Route) -> None:
        """Answer a request of the browser."""
        if page.asked >= self._config.render_requests:  # refused at once: the page counts as quiet
            await _abort(route)
            return
        page.pending += 1
        try:
            await self._answered(page, route)
        except RefusedError:
            await _abort(route)
        except Exception:  # the page was closed meanwhile, or the browser ended
            await _abort(route)
        finally:
            page.pending -= 1

    async def _answered(self, page: _Page, route: Route) -> None:
        request, own = route.request, page.answer.exchange.request.url
        url = normalise(request.url)
        if request.is_navigation_request():
            frame = request.frame
            if frame in page.served or frame.parent_frame is not None or url != own or request.method != "GET":
                raise RefusedError("pages do not lead the browser elsewhere")
            page.served.append(frame)
            content_type = page.answer.exchange.headers.get("content-type", "text/html")
            await route.fulfill(status=200, headers={"content-type": content_type}, body=page.body)
            return
        if url is None or request.method != "GET" or request.resource_type not in _USED:
            raise RefusedError("it is not needed for the text")
        exchange = await self._fetched(page, url, request)
        headers = {name: value for name, value in exchange.headers.items() if name.startswith(_KEPT)}
        await route.fulfill(status=exchange.status, headers=headers, body=exchange.body)

    async def _fetched(self, page: _Page, url: str, request: BrowserRequest) -> Exchange:
        """Fetch a URL and follow redirects; each hop is checked like any other request."""
        kind, askers = request.resource_type, [page.answer.exchange.request.url]
        headers = tuple((name, value) for name in _SENT if (value := request.headers.get(name)) and _plain(value))
        for _ in range(MOST_HOPS):
            page.asked += 1
            if page.asked > self._config.render_requests:
                raise RefusedError("its scripts make too many requests")
            if why := self._barred(url):
                raise RefusedError(why)
            foreign = (one for one in askers if not same_site(one, url))  # of the page and the redirects
            initiator = next(foreign, askers[0])
            exchange, new = await self._errands.fetch(url, headers, initiator=initiator, shared=kind in _SHARED)
            if new and exchange.status:
                page.requisites.append(exchange)
            target = target_of(exchange)
            if target is None:
                if not exchange.status or exchange.error:
                    raise RefusedError(exchange.error)
                return exchange
            askers.append(url)
            url = target
        raise RefusedError("too many redirects")


def _plain(value: str) -> bool:
    return value.isascii() and value.isprintable()


async def _abort(route: Any) -> None:
    with contextlib.suppress(Exception):
        await route.abort()
