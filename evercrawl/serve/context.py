"""The server's shared components, and access to the replica without blocking the event loop."""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.usage.vector import UseFollower
from evercrawl.serve.clicks import UsageRecorder
from evercrawl.serve.heavy import HeavyQuestions
from evercrawl.serve.live import Live
from evercrawl.serve.problems import RequestError
from evercrawl.serve.replica import CrawlReplica
from evercrawl.serve.tickets import TicketOffice
from evercrawl.store.live_line import ask

PROGRESS_S: Final = 0.5
ANSWER_S: Final = 2.0
"""That a crawl may take to say how it is."""


@dataclass(slots=True)
class ServerParts:
    """The components that requests are answered from.

    Attributes
    ----------
    replica
        The crawl, followed.
    live
        Sends updates to browsers.
    heavy
        Answers queries that take seconds.
    tickets
        Issues tickets for search results.
    recorder
        Records results seen and pages opened; None if nothing is recorded.
    use
        Usage counts of pages.
    counts
        Responses by path template and status.
    """

    replica: CrawlReplica
    live: Live
    heavy: HeavyQuestions
    tickets: TicketOffice
    recorder: UsageRecorder | None
    use: UseFollower = field(default_factory=UseFollower)
    counts: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    _told: tuple[float, dict[str, Any] | None] = (-math.inf, None)
    _asking: threading.Lock = field(default_factory=threading.Lock)

    def progress(self) -> dict[str, Any] | None:
        """Return the running crawl's report of the last half second; None if no crawl responds."""
        with self._asking:
            if time.monotonic() > self._told[0] + PROGRESS_S:
                told = ask(self.replica.directory, {"ask": "progress"}, ANSWER_S)
                self._told = time.monotonic(), told if told is not None and "error" not in told else None
            return self._told[1]


def on_replica(ask: Callable[[ServerParts, Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that runs `ask` in a thread, where it may wait for the replica's lock."""

    @functools.wraps(ask)
    async def endpoint(request: Request) -> Response:
        parts: ServerParts = request.app.state.context
        return await run_in_threadpool(ask, parts, request)

    return endpoint


def wanted_url(raw: str) -> str:
    """Return the URL of a request, normalised.

    Raises
    ------
    RequestError
        It is not a URL.
    """
    from evercrawl.parse.urls import normalise

    url = normalise(raw)
    if url is None:
        raise RequestError(400, f"{raw[:200]!r} is not an http or https URL")
    return url
