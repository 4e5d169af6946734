"""One running Chromium without network access; the kernel and a watcher limit the memory of its processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.rendering import processes
from evercrawl.crawl.rendering.fair_time import within

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Playwright

LOOK_S: Final = 0.1
"""The interval at which the memory of its processes is measured."""
REST_BYTES: Final = 400 << 20
"""The part of the limit reserved for processes that run no page: the browser itself and its driver."""
LEAST_SHARE_BYTES: Final = 96 << 20
"""The least memory of a page, whatever the limit."""
ROOM: Final = 0.95
"""The share of the limit beyond which a process is killed."""
FOLDER: Final = "evercrawl-browser-"
"""The prefix of the folder of its temporary files, which is removed with the browser."""
_PASSED: Final = ("PATH", "HOME", "LANG")  # environment variables
_LAUNCH_S: Final = 60.0
_ANSWER_S: Final = 10.0
_STOP_S: Final = 2.0  # after which its processes are killed
_READY_BYTES: Final = 64 << 20  # data size of a page's process once it has started: it reserves much
_PSS_EVERY: Final = 10  # one measurement in this many is exact; the others are cheap estimates
_ARGUMENTS: Final = (
    "--host-resolver-rules=MAP * ~NOTFOUND",  # it resolves no host
    "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",  # and reaches no address
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic", "--dns-prefetch-disable",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-features=NetworkPrediction,Prerender2,SpeculationRules,FencedFrames,InterestFeed,Translate,"
    "SpareRendererForSitePerProcess",
    "--disable-gpu", "--disable-dev-shm-usage", "--js-flags=--max-old-space-size=384",
    "--mute-audio", "--deny-permission-prompts",
)  # fmt: skip


class Chromium:
    """A running browser with a memory limit.

    The data size of each page's process is limited (RLIMIT_DATA) before it runs anything of the page: to its present
    size plus a page's share of the limit. A process that wants more fails by itself. In addition, all are measured.

    Parameters
    ----------
    playwright, browser, driver
        The driver, the browser, and the driver's process.
    memory_bytes, pages
        The memory limit of all its processes together, and the highest number of pages at a time.

    Attributes
    ----------
    peak_bytes
        The highest memory use that was measured.
    ended
        How often a process was killed for lack of memory.
    share_bytes
        The memory that a page may take.
    """

    def __init__(
        self,
        playwright: Playwright,
        browser: Browser,
        driver: int,
        memory_bytes: int,
        pages: int,
        folder: tempfile.TemporaryDirectory[str],
    ) -> None:
        self._playwright, self._browser, self._driver, self._folder = playwright, browser, driver, folder
        self._memory_bytes, self._pages = memory_bytes, pages
        self._watching: asyncio.Task[None] | None = None
        self._opening, self._bounded = asyncio.Lock(), set[int]()
        self.share_bytes = max((round(ROOM * memory_bytes) - REST_BYTES) // pages, LEAST_SHARE_BYTES)
        self.peak_bytes = self.ended = 0

    @property
    def alive(self) -> bool:
        """Whether it still answers."""
        return self._browser.is_connected()

    @staticmethod
    async def begun(path: str, memory_bytes: int, pages: int) -> Chromium:
        """Start a browser with a memory limit and return it; any failure is raised."""
        from playwright.async_api import async_playwright

        before = processes.drivers()
        folder = tempfile.TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True)
        try:
            with _temporary(folder.name):
                playwright = await async_playwright().start()
        except BaseException:
            folder.cleanup()
            raise
        driver = max(processes.drivers() - before, default=0)
        try:
            launched = playwright.chromium.launch(
                executable_path=path, args=list(_ARGUMENTS), chromium_sandbox=os.geteuid() != 0,
                env={"TMPDIR": folder.name, **{name: os.environ[name] for name in _PASSED if name in os.environ}},
                handle_sigint=False, handle_sigterm=False, handle_sighup=False, timeout=0,
            )  # fmt: skip
            chromium = Chromium(playwright, await within(launched, _LAUNCH_S), driver, memory_bytes, pages, folder)
        except BaseException:
            await _ended(playwright, driver)
            folder.cleanup()
            raise
        chromium._watching = asyncio.ensure_future(chromium._watch())
        return chromium

    async def close(self) -> None:
        """End driver and browser, even if they no longer answer."""
        if self._watching is not None:
            self._watching.cancel()
        await _ended(self._playwright, self._driver)
        self._folder.cleanup()

    async def page(self, agent: str) -> Page:
        """Return an empty page in a fresh profile, whose process is limited before it has run anything."""
        made = self._browser.new_context(
            user_agent=agent, service_workers="block", accept_downloads=False,
            viewport={"width": 1280, "height": 1024}, reduced_motion="reduce",
        )  # fmt: skip
        context = await within(made, _ANSWER_S)
        async with self._opening:  # a starting process briefly needs more memory than later
            page = await within(context.new_page(), _ANSWER_S)
            await within(page.evaluate("1"), _ANSWER_S)
            self._bound()
        return page

    def _bound(self) -> None:
        """Limit the data size of those page processes that are not limited yet."""
        found = {pid for pid in processes.descendants(self._driver) if processes.runs_page(pid)}
        for pid in found - self._bounded:
            fresh = processes.data_bytes(pid)
            if fresh >= _READY_BYTES:
                processes.bound_data(pid, fresh + self.share_bytes)
                self._bounded.add(pid)
        self._bounded &= found

    async def _watch(self) -> None:
        """Keep to the limit: kill the largest page if it takes much of its share, otherwise the whole browser."""
        looks = 0
        while True:
            await asyncio.sleep(LOOK_S)
            looks += 1
            near = self._memory_bytes // 2 if looks % _PSS_EVERY else 0
            found = await asyncio.get_running_loop().run_in_executor(None, processes.measured, self._driver, near)
            total = sum(one.size_bytes for one in found)
            self.peak_bytes = max(self.peak_bytes, total)
            if total <= ROOM * self._memory_bytes:
                continue
            self.ended += 1
            largest = max((one for one in found if one.of_page), key=lambda one: one.size_bytes, default=None)
            if largest is not None and largest.size_bytes > self.share_bytes // 2:
                processes.end([largest.pid])
            else:
                processes.end([one.pid for one in found])


@contextlib.contextmanager
def _temporary(folder: str) -> Generator[None]:
    """Have new processes put temporary files into a folder: driver and browser are killed and would leave them."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


async def _ended(playwright: Playwright, driver: int) -> None:
    pids = [*processes.descendants(driver), driver] if driver else []
    with contextlib.suppress(Exception):
        await within(playwright.stop(), _STOP_S)
    processes.end(pids)
