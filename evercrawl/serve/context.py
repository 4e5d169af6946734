"""What the parts of the server share, and how a question is asked of the replica without holding up the others."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.serve.clicks import UsageRecorder
from evercrawl.serve.heavy import HeavyQuestions
from evercrawl.serve.live import Live
from evercrawl.serve.problems import RequestError
from evercrawl.serve.replica import CrawlReplica
from evercrawl.serve.tickets import TicketOffice

AT_LEAST: Final = "at_least"


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
    counts
        Requests answered, by path template and status.
    """

    replica: CrawlReplica
    live: Live
    heavy: HeavyQuestions
    tickets: TicketOffice
    recorder: UsageRecorder | None
    counts: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])


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
