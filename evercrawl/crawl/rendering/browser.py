"""A pool of pages in one Chromium. Each page has its own context, and all of its requests are handed to the crawl."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from evercrawl.crawl.rendering.browser_places import BrowserPlaces
from evercrawl.crawl.rendering.chromium import Chromium
from evercrawl.crawl.rendering.fair_time import TICK_S, core_share, within
from evercrawl.crawl.rendering.standstill import Standstill
from evercrawl.errors import ConfigError
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname

if TYPE_CHECKING:
    from playwright.async_api import Page, Route, WebSocketRoute

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NOT_INSTALLED: Final = (
    "to read pages in a browser, install the extra and a Chromium: pip install 'evercrawl[browser]'; "
    "apt-get install chromium"
)
ATTEMPTS: Final = 2
"""Attempts for a page that fails; one attempt if only the page hangs, or if its process ends by itself."""
LOST: Final = 2
"""Ends of the browser after which a page that was open each time is rendered alone, to find the page at fault."""
MOST_EVENTS: Final = 1000
"""Requests, sockets and frames after which a page is given up: refused ones too cost the crawl a millisecond each."""
_QUIET_S: Final = 0.5  # without requests, after which a loaded page is read
_READ_S: Final = 5.0
_SHAPE_S: Final = 0.5
_WHOLE: Final = 4  # times the limit of silence: the longest time for a page in all
_NOTICED_S: Final = 1.0  # until the end of the browser is known
_DOM: Final = """most => { const kind = document.doctype ? '<!DOCTYPE html>' : '';
    const root = document.documentElement; const text = kind + (root ? root.outerHTML : '');
    return text.length > most ? text.slice(0, most) : text; }"""
_SHAPE: Final = """() => { const root = document.documentElement;
    return root ? `${root.getElementsByTagName('*').length} ${root.textContent.length}` : ''; }"""
_IDLE: Final = "() => new Promise(done => requestIdleCallback(() => setTimeout(done, 50), {timeout: 2000}))"

Answering = Callable[["Route"], Awaitable[None]]


class RenderError(Exception):
    """A page could not be rendered; the message says why."""


class AbsentError(RenderError):
    """The browser cannot be started; the page is not at fault."""


class LostError(RenderError):
    """The browser ended while a page was open, which may not be the cause."""


class CrashError(RenderError):
    """The process of a page has ended for lack of memory; it would do so again."""


class HangError(RenderError):
    """A page did not answer in time."""


class FloodError(RenderError):
    """A page makes too many requests; it would do so again."""


class _Requests:
    """The requests of a page: those that are being answered, the number of those that have been, and of all events."""

    def __init__(self, answer: Answering, pending: Callable[[], int]) -> None:
        self._answer, self.pending = answer, pending
        self.ended = self.events = 0

    def count(self) -> None:
        """Count an event that is not a request."""
        self.events += 1

    async def refuse(self, socket: WebSocketRoute) -> None:
        """Close a socket."""
        self.count()
        with contextlib.suppress(Exception):  # the page was closed meanwhile
            await socket.close()

    async def answer(self, route: Route) -> None:
        """Answer a request."""
        self.count()
        try:
            await self._answer(route)
        finally:
            self.ended += 1


class ChromiumPool:
    """One browser for a limited number of pages at a time, started for the first page.

    All time limits count only the available share of a core, so that no page is at fault for a busy machine.

    Parameters
    ----------
    path
        The path of the browser; "" for the system's.
    agent
        The User-Agent.
    pages
        The highest number of pages at a time.
    time_s
        The time without requests after which a page is read as it is, even if its scripts still run.
    memory_bytes
        The memory limit of all its processes together.
    most_bytes
        The highest number of characters taken from a document.

    Attributes
    ----------
    peak_bytes
        The highest memory use that was measured.
    ended
        How often a page or the browser was killed for lack of memory.

    Raises
    ------
    ConfigError
        There is no browser, or Playwright is not installed.
    """

    def __init__(self, path: str, agent: str, *, pages: int, time_s: float, memory_bytes: int, most_bytes: int) -> None:
        if find_spec("playwright") is None:  # loading it takes time, and perhaps no page needs it
            raise ConfigError(NOT_INSTALLED)
        found = path or next(filter(None, map(shutil.which, BROWSERS)), None)
        if found is None:
            raise ConfigError(NOT_INSTALLED)
        self._path, self._agent, self._time_s = found, agent, time_s
        self._memory_bytes, self._most_bytes, self._pages = memory_bytes, most_bytes, pages
        self._places = BrowserPlaces(pages)
        self._starting = asyncio.Lock()
        self._browser: Chromium | None = None
        self._peak_bytes = self._ended = 0  # of browsers that were closed
        self._through = 0

    @property
    def peak_bytes(self) -> int:
        """The highest memory use that was measured."""
        return max(self._peak_bytes, self._browser.peak_bytes if self._browser is not None else 0)

    @property
    def ended(self) -> int:
        """How often a page or the browser was killed for lack of memory."""
        return self._ended + (self._browser.ended if self._browser is not None else 0)

    async def rendered(self, url: str, answer: Answering, pending: Callable[[], int]) -> str:
        """Render a page in the browser and return its document.

        Parameters
        ----------
        url
            The URL of the page.
        answer
            Answers the requests of the browser, the first of which is for the page itself.
        pending
            Returns the number of requests of the page that are being answered.

        Raises
        ------
        RenderError
            The page hangs, has crashed, took too much memory, or made too many requests.
        """
        failed, lost, site = 0, 0, found_site(hostname(url))
        while True:
            alone, through, ended = lost >= LOST, self._through, self.ended
            try:
                async with self._places.place(site, alone=alone):
                    document = await self._attempted(url, answer, pending)
                    self._through += 1
                    return document
            except LostError:
                lost += 1
                if alone:
                    raise
            except CrashError:
                failed += 1
                if failed >= ATTEMPTS or self.ended == ended:
                    raise
            except HangError:
                failed += 1
                if failed >= ATTEMPTS or self._through > through or await self._answers():
                    raise
            except FloodError:
                raise
            except RenderError:  # the next attempt queues behind the pages that wait
                failed += 1
                if failed >= ATTEMPTS:
                    raise

    async def close(self) -> None:
        """Close the browser."""
        browser, self._browser = self._browser, None
        if browser is not None:
            self._peak_bytes, self._ended = max(self._peak_bytes, browser.peak_bytes), self._ended + browser.ended
            await browser.close()

    async def _attempted(self, url: str, answer: Answering, pending: Callable[[], int]) -> str:
        browser = await self._started()
        try:
            page = await browser.page(self._agent)
        except Exception as error:
            await self._give_up(browser)
            raise LostError(f"no browser: {_first_line(error)}") from error
        crashed, given_up = asyncio.Event(), False
        try:
            return await self._read(page, url, answer, pending, crashed)
        except asyncio.CancelledError:
            given_up = True  # it ends with the whole browser, which need not close its pages one by one
            raise
        except FloodError:
            raise
        except Exception as error:
            if not crashed.is_set() and await _over(browser):
                raise LostError(f"no browser: {_first_line(error)}") from error
            if isinstance(error, TimeoutError):
                raise HangError("timeout: it took too long") from None
            if crashed.is_set():
                raise CrashError("crash: its process ended") from error
            raise RenderError(f"crash: {_first_line(error)}") from error
        finally:
            if not given_up:
                with contextlib.suppress(Exception):
                    await within(page.context.close(), _READ_S)

    async def _read(
        self, page: Page, url: str, answer: Answering, pending: Callable[[], int], crashed: asyncio.Event
    ) -> str:
        context, loaded, work = page.context, asyncio.Event(), _Requests(answer, pending)
        page.on("load", lambda _: loaded.set())
        page.on("crash", lambda _: crashed.set())
        page.on("frameattached", lambda _: work.count())
        page.on("dialog", lambda dialog: asyncio.ensure_future(_dismissed(dialog)))
        context.on("page", lambda other: asyncio.ensure_future(_closed(other)))
        await within(context.route("**/*", work.answer), _READ_S)
        await within(context.route_web_socket("**/*", work.refuse), _READ_S)
        going = asyncio.ensure_future(page.goto(url, wait_until="commit", timeout=0))
        going.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await self._settled(page, loaded, crashed, work, found_site(hostname(url)))
            return str(await within(page.evaluate(_DOM, self._most_bytes), _READ_S))
        finally:
            going.cancel()

    async def _settled(
        self, page: Page, loaded: asyncio.Event, crashed: asyncio.Event, work: _Requests, site: str
    ) -> None:
        """Return once the page makes no more requests, has run without any for too long, or only waits.

        The latter counts while pages of other sites wait.
        """
        loop = asyncio.get_running_loop()
        silent_s, left_s, idle, at = 0.0, self._time_s * _WHOLE, False, loop.time()
        quiet_since, still = at, Standstill(lambda: self._shape(page))
        while True:
            await asyncio.sleep(TICK_S)
            passed_s, at = (loop.time() - at) * core_share(), loop.time()
            left_s -= passed_s
            if crashed.is_set() or page.is_closed():
                raise RenderError("its process ended")
            if left_s <= 0:
                raise TimeoutError
            if work.events >= MOST_EVENTS:
                raise FloodError("flood: its scripts make too many requests")
            if work.pending():
                silent_s, quiet_since, idle = 0.0, at, False
                if not self._places.contested(site):
                    still.forget()
                elif await still.lasts(passed_s, work.ended):
                    return
                continue
            silent_s += passed_s
            if silent_s >= self._time_s or (idle and at - quiet_since >= _QUIET_S):
                return
            if loaded.is_set() and not idle and at - quiet_since >= _QUIET_S:
                idle = await self._idle(page)  # on a busy machine, its requests may not have reached us yet

    async def _idle(self, page: Page) -> bool:
        """Return True once a page is idle; False if it is not within the time that pages get."""
        with contextlib.suppress(TimeoutError):
            await within(page.evaluate(_IDLE), self._time_s)
            return True
        return False

    async def _shape(self, page: Page) -> object:
        """Return how many elements and characters a page has; None if its scripts do not let it answer."""
        with contextlib.suppress(TimeoutError):
            return await within(page.evaluate(_SHAPE), _SHAPE_S)
        return None

    async def _started(self) -> Chromium:
        """Return the browser; start one if there is none or it has ended."""
        async with self._starting:
            if self._browser is not None and self._browser.alive:
                return self._browser
            await self.close()
            for last in (False, True):
                try:
                    self._browser = await Chromium.begun(self._path, self._memory_bytes, self._pages)
                except Exception as error:
                    if last:
                        raise AbsentError(f"no browser: {_first_line(error)}") from error
                else:
                    return self._browser
        raise AssertionError

    async def _answers(self) -> bool:
        """Whether the browser opens an empty page; if so, a page that does not answer is itself at fault."""
        if self._browser is None or not self._browser.alive:
            return False
        try:
            page = await self._browser.page(self._agent)
            await within(page.context.close(), _READ_S)
        except Exception:
            return False
        return True

    async def _give_up(self, browser: Chromium) -> None:
        """Close a browser that does not answer."""
        async with self._starting:
            if self._browser is browser:
                await self.close()


async def _over(browser: Chromium) -> bool:
    """Whether a browser has ended; this is known shortly after its pages fail."""
    for _ in range(round(_NOTICED_S / TICK_S)):
        if not browser.alive:
            break
        await asyncio.sleep(TICK_S)
    return not browser.alive


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:100]


async def _dismissed(dialog: Any) -> None:
    with contextlib.suppress(Exception):
        await dialog.dismiss()


async def _closed(page: Any) -> None:
    """Close a page that another one opened."""
    with contextlib.suppress(Exception):
        if await page.opener() is not None:
            await page.close()
