"""A crawl that a program runs itself: it iterates over visits, and hooks make records of pages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from evercrawl import catalog
from evercrawl.config import FILE_NAME, SETTINGS, Config, load
from evercrawl.config.patterns import UrlPattern
from evercrawl.crawl.ports import Gate
from evercrawl.crawl.session import crawl as run_crawl
from evercrawl.errors import ConfigError
from evercrawl.library.page_visit import PageVisit, page_visit
from evercrawl.library.records import RecordBook, RecordTable
from evercrawl.model.stored.remembered import Remembered
from evercrawl.parse.urls import normalise
from evercrawl.progress import Limits, Summary
from evercrawl.store.disk.modes import shut_to_others

Made: TypeAlias = "Mapping[str, Any] | Iterator[Mapping[str, Any]] | list[Mapping[str, Any]] | None"
Hook: TypeAlias = Callable[[PageVisit], Made]
"""Function that returns a record, several or none for a new version of a page."""
WAITING: Final = 256
"""Length of the queue of visits; fetching pauses while it is full."""
_log = logging.getLogger(__name__)


class LiveCrawl:
    """A crawl that runs while it is iterated over; `evercrawl.crawl` returns one.

    It is a context manager of both kinds: `async with` runs it in the current event loop, `with` in a thread. Leaving
    the context ends the run cleanly; the directory can be opened again, and the next run resumes the crawl.

    Parameters
    ----------
    directory, config, seeds, limits
        The crawl directory, its settings, the seed URLs, and the limits of the run.

    Attributes
    ----------
    directory
        The crawl directory.
    summary
        Summary of the run; None before its end.
    """

    def __init__(self, directory: Path, config: Config, seeds: list[str], limits: Limits) -> None:
        self.directory, self._config, self._seeds, self._limits = directory, config, seeds, limits
        self.summary: Summary | None = None
        self._hooks = list[tuple[str, UrlPattern, Hook]]()
        self._visits = deque[PageVisit]()
        self._gate = Gate()
        self._book: RecordBook | None = None
        self._listened = False
        self._task: asyncio.Task[Summary] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: asyncio.Event | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._room = asyncio.Event()

    def page(self, pattern: str, name: str = "") -> Callable[[Hook], Hook]:
        """Return a decorator that makes a function a hook for new versions of pages whose URL matches a pattern.

        The hook gets a `PageVisit` and returns a mapping, several mappings, or None. It runs in the crawl's event loop,
        so it should be quick. Exceptions that it raises are logged, and the crawl continues. Records are stored under
        `name`, by default the function's name.

        Raises
        ------
        ConfigError
            The pattern is not a regular expression, or the name is in use.
        """
        try:
            found = UrlPattern(pattern)
        except re.error as error:
            raise ConfigError(f"{pattern!r} is not a regular expression: {error}") from error

        def note(hook: Hook) -> Hook:
            kept = name or getattr(hook, "__name__", "records")
            if any(other == kept for other, _, _ in self._hooks):
                raise ConfigError(f"there is a hook {kept!r} already; give this one another name")
            self._hooks.append((kept, found, hook))
            return hook

        return note

    def records(self, name: str) -> RecordTable:
        """Return the records of a hook, including those of earlier runs."""
        if self._book is not None:
            self._book.commit()
        return RecordTable(self.directory, name)

    def stop(self) -> None:
        """End the run cleanly; queued visits are still yielded."""
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._stop.set)

    # Asynchronous

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._listened = False
            self._gate.open()
            self.stop()
            await self._task

    def __aiter__(self) -> AsyncIterator[PageVisit]:
        return self._iterate()

    async def run(self) -> Summary:
        """Run to the end without iterating over visits; hooks do the work."""
        return await self._start()

    async def _iterate(self) -> AsyncIterator[PageVisit]:
        self._listened = True
        task = self._start()
        assert self._news is not None
        while True:
            while self._visits:
                visit = self._visits.popleft()
                self._see_room()
                yield visit
            if task.done():
                break
            self._news.clear()
            waiting = asyncio.ensure_future(self._news.wait())
            await asyncio.wait([waiting, task], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
        await task

    def _start(self) -> asyncio.Task[Summary]:
        if self._task is None:
            self._loop = asyncio.get_running_loop()
            self._news, self._stop = asyncio.Event(), asyncio.Event()
            self._task = asyncio.ensure_future(self._whole())
        return self._task

    async def _whole(self) -> Summary:
        shut_to_others()
        self.directory.mkdir(parents=True, exist_ok=True)
        self._book = book = RecordBook(self.directory) if self._hooks else None
        try:
            self.summary = await run_crawl(
                self.directory,
                self._config,
                self._seeds,
                self._limits,
                stop=self._stop,
                heard=self,
                before_commit=book.commit if book is not None else None,
                gate=self._gate,
            )
        finally:
            self._book = None
            if book is not None:
                book.close()
        return self.summary

    def learned(self, visit: Remembered) -> None:
        """Process a visit that the crawl has recorded: run hooks, and queue it for iteration."""
        seen = page_visit(visit)
        if seen.new and self._book is not None:
            for name, pattern, hook in self._hooks:
                if pattern.search(seen.url):
                    self._make(name, hook, seen, self._book)
        if self._listened:
            self._visits.append(seen)
            self._see_room()
            if self._news is not None:
                self._news.set()

    @staticmethod
    def _make(name: str, hook: Hook, seen: PageVisit, book: RecordBook) -> None:
        try:
            made = hook(seen)
            records = [] if made is None else [made] if isinstance(made, Mapping) else list(made)
            book.keep(name, seen.url, seen.version, seen.at.timestamp(), records)
        except Exception:  # an error of the hook loses only its record
            _log.exception("the hook %s failed on %s", name, seen.url)

    def _see_room(self) -> None:
        if len(self._visits) >= WAITING:
            self._gate.shut = True
        elif self._gate.shut and len(self._visits) <= WAITING // 2:
            self._gate.open()

    # In a thread

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._listened = False
            self.stop()
            self._make_room()
            self._thread.join()

    def __iter__(self) -> Iterator[PageVisit]:
        """Yield each visit, while the crawl runs in a thread."""
        ready, failures = threading.Condition(), list[BaseException]()
        came, ended = deque[PageVisit](), threading.Event()

        async def pump() -> None:
            async for visit in self:
                while len(came) >= WAITING and self._listened:
                    self._room.clear()
                    await self._room.wait()
                with ready:
                    came.append(visit)
                    ready.notify()

        def work() -> None:
            try:
                asyncio.run(pump())
            except BaseException as failure:  # raised again in the iterating thread
                failures.append(failure)
            finally:
                ended.set()
                with ready:
                    ready.notify()

        self._listened = True
        self._thread = threading.Thread(target=work, name="evercrawl", daemon=True)
        self._thread.start()
        while True:
            with ready:
                ready.wait_for(lambda: came or ended.is_set())
                visits = list(came)
                came.clear()
            self._make_room()
            yield from visits
            if ended.is_set() and not came:
                break
        self._thread.join()
        if failures:
            raise failures[0]

    def _make_room(self) -> None:
        """Wake the thread if it waits for visits to be taken."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._room.set)


def crawl(
    *seeds: str,
    dir: Path | str,  # noqa: A002 - as the flag of the command line
    pages: int | None = None,
    seconds: float | None = None,
    until_idle: bool = False,
    **settings: object,
) -> LiveCrawl:
    """Return a crawl for this program to run; public as `evercrawl.crawl`.

    Parameters
    ----------
    seeds
        URLs to start from; a crawl that is resumed needs none.
    dir
        The crawl directory; it is created if it does not exist.
    pages, seconds, until_idle
        Limits of the run; without them it runs until the program leaves its context.
    settings
        Any setting by its name, as in `crawl.toml`: `delay_s=2`, `exclude=["/private/"]`.

    Raises
    ------
    ConfigError
        A seed is not a URL, or a setting does not exist or has an invalid value.

    Examples
    --------
    >>> import evercrawl
    >>> evercrawl.crawl("https://example.org/", dir="/tmp/example", delay="2s")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: there is no setting 'delay'; docs/guide/SETTINGS.md lists them
    """
    directory = Path(dir).expanduser()
    for name in settings:
        if name not in SETTINGS:
            raise ConfigError(f"there is no setting {name!r}; docs/guide/SETTINGS.md lists them")
    urls = [normalise(seed if "://" in seed else f"https://{seed}") for seed in seeds]
    for seed, url in zip(seeds, urls, strict=True):
        if url is None:
            raise ConfigError(f"{seed!r} is not a URL; name one such as https://example.org/")
    file = directory / FILE_NAME
    config = load(*([file] if file.is_file() else []), flags=settings)
    if program := settings.get("browser"):
        catalog.trust_program(str(program))  # the caller names it, not the directory
    limits = Limits(pages=pages, seconds=seconds, until_idle=until_idle)
    return LiveCrawl(directory, config, [url for url in urls if url], limits)
