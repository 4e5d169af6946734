"""What the parts of the server share, and how a question is asked of the replica without holding up the others."""

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
    """What requests are answered from.

    Attributes
    ----------
    replica
        The crawl, followed.
    live
        What tells browsers what is new.
    heavy
        What takes seconds of work.
    tickets
        Makes the tickets of what the search shows.
    recorder
        Writes what was seen and opened; None where nothing is recorded.
    use
        How pages are used.
    counts
        Requests answered, by path template and status.
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
        """Return what the running crawl said of itself within the last half second; None where none answers."""
        with self._asking:
            if time.monotonic() > self._told[0] + PROGRESS_S:
                told = ask(self.replica.directory, {"ask": "progress"}, ANSWER_S)
                self._told = time.monotonic(), told if told is not None and "error" not in told else None
            return self._told[1]


def on_replica(ask: Callable[[ServerParts, Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that runs `ask` in a thread, where it may wait for what the replica takes in."""

    @functools.wraps(ask)
    async def endpoint(request: Request) -> Response:
        parts: ServerParts = request.app.state.context
        return await run_in_threadpool(ask, parts, request)

    return endpoint


def wanted_url(raw: str) -> str:
    """Return a URL that was asked about, normalised.

    Raises
    ------
    RequestError
        It is none.
    """
    from evercrawl.parse.urls import normalise

    url = normalise(raw)
    if url is None:
        raise RequestError(400, f"{raw[:200]!r} is not an http or https URL")
    return url
