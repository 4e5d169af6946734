"""A Chromium without a way out: each page has a context of its own, and all that it asks for is handed to us."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from evercrawl.crawl.rendering import processes
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NOT_INSTALLED: Final = (
    "to read pages in a browser, install the extra and a Chromium: pip install 'evercrawl[browser]'; "
    "apt-get install chromium"
)
LOOK_S: Final = 0.1
"""How often the memory of its processes is measured."""
ROOM: Final = 0.75
"""Share of the bound on memory beyond which a page is ended: it goes on growing until that is done."""
_QUIET_S: Final = 0.5  # for which a loaded page asks for nothing before it is read
_TICK_S: Final = 0.05
_LAUNCH_S: Final = 60.0
_READ_S: Final = 5.0
_WHOLE: Final = 4  # times the limit of silence that a page may take in all
_ARGUMENTS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND",  # it finds no host by itself
    "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",  # and no address either
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic", "--dns-prefetch-disable",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-features=NetworkPrediction,Prerender2,SpeculationRules,FencedFrames,InterestFeed,Translate",
    "--disable-gpu", "--disable-dev-shm-usage", "--js-flags=--max-old-space-size=384",
    "--mute-audio", "--deny-permission-prompts",
)  # fmt: skip
_DOM: Final = """most => { const kind = document.doctype ? '<!DOCTYPE html>' : '';
    const root = document.documentElement; const text = kind + (root ? root.outerHTML : '');
    return text.length > most ? text.slice(0, most) : text; }"""
_IDLE: Final = "() => new Promise(done => requestIdleCallback(() => setTimeout(done, 50), {timeout: 2000}))"

Answering = Callable[["Route"], Awaitable[None]]


class RenderError(Exception):
    """A page could not be read in the browser; the message says why."""


class CrashError(RenderError):
    """The process of a page has ended."""


class ChromiumPool:
    """One browser for some pages at a time, begun when the first is wanted.

    Parameters
    ----------
    path
        Of the browser; "" for the system's.
    agent
        The User-Agent.
    pages
        Most pages at a time.
    time_s
        Time after which a page is read as it is, whose scripts ask for nothing.
    memory_bytes
        Bound on all its processes together.
    most_bytes
        Of a document that are taken.

    Attributes
    ----------
    peak_bytes
        The most memory that was measured.
    ended
        Processes that were ended because there was too little memory.

    Raises
    ------
    ConfigError
        There is no browser, or nothing to drive it with.
    """

    def __init__(self, path: str, agent: str, *, pages: int, time_s: float, memory_bytes: int, most_bytes: int) -> None:
        try:
            import playwright.async_api  # noqa: F401  # pyright: ignore[reportUnusedImport]
        except ImportError as error:
            raise ConfigError(NOT_INSTALLED) from error
        found = path or next(filter(None, map(shutil.which, BROWSERS)), None)
        if found is None:
            raise ConfigError(NOT_INSTALLED)
        self._path, self._agent, self._time_s = found, agent, time_s
        self._memory_bytes, self._most_bytes = memory_bytes, most_bytes
        self._places = asyncio.Semaphore(pages)
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._driver = 0
        self._watching: asyncio.Task[None] | None = None
        self.peak_bytes = self.ended = 0

    async def rendered(self, url: str, answer: Answering, pending: Callable[[], int]) -> str:
        """Return the document that a browser makes of a page.

        Parameters
        ----------
        url
            Of the page.
        answer
            Answers whatever the browser asks for, the page itself first.
        pending
            How many requests of the page are being answered.

        Raises
        ------
        RenderError
            It hangs, has crashed, or took too much memory.
        """
        async with self._places:
            try:
                return await self._attempted(url, answer, pending)
            except RenderError:  # another page may have been the cause
                return await self._attempted(url, answer, pending)

    async def _attempted(self, url: str, answer: Answering, pending: Callable[[], int]) -> str:
        context = await self._context()
        try:
            return await asyncio.wait_for(self._read(context, url, answer, pending), self._time_s * _WHOLE)
        except TimeoutError:
            raise RenderError("timeout: it took too long") from None
        except RenderError:
            raise
        except Exception as error:
            raise CrashError(f"crash: {_first_line(error)}") from error
        finally:
            await self._close(context)

    async def close(self) -> None:
        """End the browser."""
        if self._watching is not None:
            self._watching.cancel()
        await self._stop()

    async def _read(self, context: BrowserContext, url: str, answer: Answering, pending: Callable[[], int]) -> str:
        page = await context.new_page()
        loaded, crashed = asyncio.Event(), asyncio.Event()
        page.on("load", lambda _: loaded.set())
        page.on("crash", lambda _: crashed.set())
        page.on("dialog", lambda dialog: asyncio.ensure_future(_dismissed(dialog)))
        context.on("page", lambda other: asyncio.ensure_future(_closed(other)))
        await context.route("**/*", answer)
        await context.route_web_socket("**/*", lambda socket: socket.close())
        going = asyncio.ensure_future(page.goto(url, wait_until="commit", timeout=0))
        going.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await self._settled(page, loaded, crashed, pending)
            text = await asyncio.wait_for(page.evaluate(_DOM, self._most_bytes), _READ_S)
        finally:
            going.cancel()
        return str(text)

    async def _settled(
        self, page: Page, loaded: asyncio.Event, crashed: asyncio.Event, pending: Callable[[], int]
    ) -> None:
        """Return once the page asks for nothing more, or goes on without asking for too long."""
        loop = asyncio.get_running_loop()
        quiet_since, idle = loop.time(), False
        while True:
            await asyncio.sleep(_TICK_S)
            if crashed.is_set() or page.is_closed():
                raise CrashError("crash: its process ended")
            now = loop.time()
            if pending():
                quiet_since, idle = now, False
            elif now - quiet_since >= self._time_s or (idle and now - quiet_since >= _QUIET_S):
                return
            elif loaded.is_set() and not idle and now - quiet_since >= _QUIET_S:
                idle = await self._idle(page)  # on a busy machine what it asks for may have yet to reach us

    async def _idle(self, page: Page) -> bool:
        """Return once a page has nothing to do; False where it never has within the time that pages get."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(page.evaluate(_IDLE), self._time_s)
            return True
        return False

    async def _context(self) -> BrowserContext:
        for last in (False, True):
            try:
                async with self._starting:
                    browser = await asyncio.wait_for(self._started(), _LAUNCH_S)
                return await asyncio.wait_for(
                    browser.new_context(
                        user_agent=self._agent, service_workers="block", accept_downloads=False,
                        viewport={"width": 1280, "height": 1024}, reduced_motion="reduce",
                    ),
                    _READ_S * 2,
                )  # fmt: skip
            except Exception as error:
                await self._stop()
                if last:
                    raise RenderError(f"no browser: {_first_line(error)}") from error
        raise AssertionError

    async def _started(self) -> Browser:
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        await self._stop()
        from playwright.async_api import async_playwright

        before = processes.drivers()
        self._playwright = await async_playwright().start()
        self._driver = max(processes.drivers() - before, default=0)
        self._browser = await self._playwright.chromium.launch(
            executable_path=self._path, args=list(_ARGUMENTS), chromium_sandbox=os.geteuid() != 0,
            env={name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ},
            handle_sigint=False, handle_sigterm=False, handle_sighup=False,
        )  # fmt: skip
        if self._watching is None:
            self._watching = asyncio.ensure_future(self._watch())
        return self._browser

    async def _stop(self) -> None:
        """End driver and browser, also where they do not answer any more."""
        pids = [*processes.descendants(self._driver), self._driver] if self._driver else []
        playwright, self._playwright, self._browser, self._driver = self._playwright, None, None, 0
        if playwright is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(playwright.stop(), _READ_S)
        processes.end(pids)

    @staticmethod
    async def _close(context: BrowserContext) -> None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(context.close(), _READ_S)

    async def _watch(self) -> None:
        """Keep to the bound on memory: the largest page makes room, and the browser where no page is large."""
        while True:
            await asyncio.sleep(LOOK_S)
            if not self._driver:
                continue
            found = await asyncio.get_running_loop().run_in_executor(None, processes.measured, self._driver)
            total = sum(one.size_bytes for one in found)
            self.peak_bytes = max(self.peak_bytes, total)
            if total <= ROOM * self._memory_bytes:
                continue
            pages = [one for one in found if one.of_page]
            self.ended += 1
            if pages:
                processes.end([max(pages, key=lambda one: one.size_bytes).pid])
            else:
                processes.end([one.pid for one in found])


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
