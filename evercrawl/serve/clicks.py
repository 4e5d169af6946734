"""Recording of search usage: results seen and pages opened, each once, on disk before the response."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Final

from evercrawl.errors import EvercrawlError, StoreError
from evercrawl.model.worth.usage import USAGE_FILE, Question, Tail, UsageWriter
from evercrawl.serve.problems import RequestError
from evercrawl.serve.strangers import StrangerShares
from evercrawl.serve.tickets import LASTS_S, AnswerTicket, HitTicket

EVERY_S: Final = 0.02
"""Between two writes: what comes meanwhile is synced at once."""
MOST_WAITING: Final = 5_000
"""Lines that wait to be written; who comes later is asked to come again."""
MOST_BYTES: Final = 256 << 20
"""Maximum size of the file; beyond it, the oldest half is dropped."""
_REMEMBERED: Final = 200_000  # lines known to be on disk; about 150 bytes each


class UsageRecorder:
    """Records results seen and pages opened; used from one event loop, writes in a thread.

    Parameters
    ----------
    directory
        The crawl's directory.

    Attributes
    ----------
    recorded, failed
        Number of lines written, and of those that could not be.
    """

    def __init__(self, directory: Path) -> None:
        self._path, self._writer = directory / USAGE_FILE, UsageWriter(directory)
        self._seen: OrderedDict[str, asyncio.Future[None] | None] = OrderedDict()  # None: it is on disk
        self._waiting: list[tuple[str, Question, asyncio.Future[None]]] = []
        self._wake, self._ending = asyncio.Event(), False
        self._task: asyncio.Task[None] | None = None
        self._recalled: asyncio.Task[None] | None = None
        self._beside: set[asyncio.Task[None]] = set()
        self._shares = StrangerShares()
        self.recorded = self.failed = 0

    def begin(self) -> None:
        """Start writing, in the running loop."""
        self._recalled = asyncio.create_task(self._recall())
        self._task = asyncio.create_task(self._write())

    async def end(self) -> None:
        """Write pending lines, and stop."""
        if self._task is not None:
            if self._beside:
                await asyncio.wait(self._beside, timeout=1.0)
            self._ending = True
            self._wake.set()
            await self._task

    async def retrieved(self, answer: AnswerTicket, network: str | None = None) -> bool:
        """Record that results were seen; return when it is on disk, True, or it is not to be recorded, False.

        Parameters
        ----------
        answer
            The results.
        network
            The network of a client without the token, see `StrangerShares`; None for others.

        Raises
        ------
        RequestError
            Too many lines are pending.
        NoRoomError, StoreError
            It could not be written.
        """
        await self._recalling()
        size, now = len(answer.query) + sum(map(len, answer.urls)), time.time()
        counted = network if answer.id not in self._seen else None
        if counted is not None and not self._shares.sees(counted, size, now):
            return False
        seen = Question(now, answer.query, answer.urls, id=answer.id, first=answer.first, stranger=network is not None)
        try:
            await self._record(answer.id, seen)
        except Exception:
            if counted is not None:
                self._shares.give_back_bytes(counted, size, now)
            raise
        return True

    async def clicked(self, hit: HitTicket, answer: AnswerTicket | None = None, network: str | None = None) -> bool:
        """Record that a page was opened, and that its results were seen; return when both are on disk, True.

        Of a client without the token, the opening of a page is recorded once a day for its network; otherwise False.

        Parameters
        ----------
        hit
            The page.
        answer
            The results; without them, results not recorded yet count as having shown this page.
        network
            As for `retrieved`.

        Raises
        ------
        RequestError, NoRoomError, StoreError
            As for `retrieved`.
        """
        if answer is None or answer.id != hit.id:
            answer = AnswerTicket(hit.id, hit.at, hit.query, hit.place, (hit.url,))
        await self._recalling()
        key, now = _click(hit.id, hit.place), time.time()
        counted = network if key not in self._seen else None
        if counted is not None and not self._shares.opens(counted, hit.url, now):
            return False
        click = Question(
            now, clicked=(hit.url,), id=hit.id, places=(hit.place,), stranger=network is not None
        )  # fmt: skip
        try:
            await asyncio.gather(self.retrieved(answer, network), self._record(key, click))
        except Exception:
            if counted is not None:
                self._shares.give_back(counted, hit.url, now)
            raise
        return True

    def beside(self, recording: Coroutine[Any, Any, bool]) -> None:
        """Record in the background; failures are counted."""

        async def quietly() -> None:
            with contextlib.suppress(RequestError, StoreError):
                await recording

        task = asyncio.create_task(quietly())
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def _record(self, key: str, question: Question) -> None:
        await self._recalling()
        if key in self._seen:
            pending = self._seen[key]
            if pending is not None:
                await asyncio.shield(pending)
            return
        if len(self._waiting) >= MOST_WAITING or self._ending:
            self.failed += 1
            raise RequestError(503, "too much waits to be recorded; ask again in a second", retry_after="1")
        future = self._seen[key] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda done: done.exception())  # the exception is passed to waiters; there may be none
        self._waiting.append((key, question, future))
        self._wake.set()
        await asyncio.shield(future)

    async def _recalling(self) -> None:
        assert self._recalled is not None, "it has begun"
        await asyncio.shield(self._recalled)

    async def _write(self) -> None:
        while not (self._ending and not self._waiting):
            await self._wake.wait()
            if not self._ending:
                await asyncio.sleep(EVERY_S)
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            if batch:
                await self._commit(batch)
            if self._ending:
                self._wake.set()

    async def _commit(self, batch: list[tuple[str, Question, asyncio.Future[None]]]) -> None:
        trouble: Exception | None = None
        try:
            await asyncio.to_thread(self._add, [question for _, question, _ in batch])
        except Exception as error:  # any exception is passed to the waiters, and the next batch is tried
            trouble = error
        for key, _, future in batch:
            if trouble is None:
                self._seen[key] = None
                future.set_result(None)
            else:
                del self._seen[key]
                future.set_exception(trouble)
        self.recorded += len(batch) * (trouble is None)
        self.failed += len(batch) * (trouble is not None)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    def _add(self, questions: list[Question]) -> None:
        with contextlib.suppress(OSError, EvercrawlError):  # otherwise it goes on growing
            if self._path.stat().st_size > MOST_BYTES:
                self._writer.shorten(MOST_BYTES)
        self._writer.add(questions, once=False)

    async def _recall(self) -> None:
        """Load the lines on disk that belong to valid tickets."""
        for key in await asyncio.to_thread(self._keys):
            self._seen[key] = None

    def _keys(self) -> list[str]:
        since = time.time() - 2 * LASTS_S
        found = list[str]()
        for question in Tail(self._path).all():
            if question.id and question.at >= since:
                found += [_click(question.id, place) for place in question.places] or [question.id]
        return found[-_REMEMBERED:]


def _click(id_: str, place: int) -> str:
    return f"{id_}:{place}"


def prefetched(headers: Mapping[str, str]) -> bool:
    """Return whether a browser requests the page before the user wants to see it.

    Examples
    --------
    >>> prefetched({"sec-purpose": "prefetch;prerender"}), prefetched({})
    (True, False)
    """
    return any("prefetch" in headers.get(name, "").lower() for name in ("sec-purpose", "purpose", "x-moz"))


def entered(headers: Mapping[str, str]) -> bool:
    """Return whether a user entered the query: the browser says that a person caused the request."""
    return headers.get("sec-fetch-user") == "?1" and not prefetched(headers)
