"""The server's application: its routes, the guard before them, and the resources it opens and closes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evercrawl.serve.api import clicks, events, health
from evercrawl.serve.api.resources import RESOURCES, openapi
from evercrawl.serve.api.steering import tell
from evercrawl.serve.clicks import UsageRecorder
from evercrawl.serve.context import ServerParts
from evercrawl.serve.guard import RequestGuard
from evercrawl.serve.heavy import HeavyQuestions
from evercrawl.serve.live import Live
from evercrawl.serve.mcp.endpoint import PATH, AssistantEndpoint
from evercrawl.serve.pages import search as search_page
from evercrawl.serve.pages import shell
from evercrawl.serve.problems import HANDLERS
from evercrawl.serve.questions import QuestionLine
from evercrawl.serve.replica import CrawlReplica
from evercrawl.serve.sequences import SequencedAnswers
from evercrawl.serve.tickets import TicketOffice

_PACKED_BYTES: Final = 2000
"""Answers of this size and more are compressed, where who asks takes that; events are not."""
_PACKED_LEVEL: Final = 4


def app(
    directory: Path, token: str, hosts: frozenset[str] = frozenset(), public: str = "", *, record: bool = True
) -> Starlette:
    """Return the server application of the crawl in `directory`.

    Parameters
    ----------
    directory
        The crawl's directory; the crawl may be running.
    token, hosts, public
        As for `RequestGuard`.
    record
        Whether to record searches, results seen and pages opened.

    Raises
    ------
    ConfigError
        There is no crawl.
    StoreError
        It is damaged.
    """
    live = Live()
    recorder = UsageRecorder(directory) if record else None
    replica, heavy = CrawlReplica(directory, live.told), HeavyQuestions(directory)
    assistants = AssistantEndpoint(replica)
    context = ServerParts(replica, live, heavy, TicketOffice(token), recorder)
    static, line = shell.Static(), QuestionLine(replica)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        live.begin(events.Gather(context))
        context.replica.start()
        if recorder is not None:
            recorder.begin()
        await line.open()
        try:
            yield
        finally:
            live.end()
            await assistants.close()
            await line.close()
            await context.heavy.close()
            if recorder is not None:
                await recorder.end()
            context.replica.close()

    made = Starlette(
        routes=[
            Route("/", search_page.page(static)),
            *(Route(path, shell.page(name, static)) for name, path in shell.PAGES.items() if name != "search"),
            Route(f"/static/{static.digest}/{{name:path}}", static.file),
            Mount(
                "/api/v1",
                routes=_API,
                middleware=[
                    Middleware(GZipMiddleware, _PACKED_BYTES, _PACKED_LEVEL),
                    Middleware(SequencedAnswers),
                ],
            ),
            Route("/go/{ticket}", clicks.go),
            Route(PATH, assistants),
            Route("/openapi.json", openapi),
            Route("/health/live", health.live),
            Route("/health/ready", health.ready),
            Route("/metrics", health.metrics),
        ],
        middleware=[
            Middleware(_Counting, counts=context.counts),
            Middleware(RequestGuard, token=token, hosts=hosts, public=public),
        ],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    made.state.context = context
    made.state.static, made.state.line = static, line
    return made


_API: Final = [
    *(Route(f"/{name}", each.endpoint, methods=["GET"]) for name, each in RESOURCES.items()),
    Route("/orders", tell, methods=["POST"]),
    Route("/retrievals", clicks.retrieved, methods=["POST"]),
    Route("/clicks", clicks.clicked, methods=["POST"]),
]


class _Counting:
    """Counts responses by path template."""

    def __init__(self, app: ASGIApp, counts: dict[tuple[str, int], int]) -> None:
        self._app, self._counts = app, counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count its response."""

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                path = str(scope["path"])
                known = path if path.removeprefix("/api/v1/") in RESOURCES or path in _COUNTED else "other"
                key = known, int(message["status"])
                self._counts[key] = self._counts.get(key, 0) + 1
            await send(message)

        await self._app(scope, receive, counted if scope["type"] == "http" else send)


_COUNTED: Final = frozenset(
    {
        "/api/v1/retrievals",
        "/api/v1/clicks",
        PATH,
        "/metrics",
        "/openapi.json",
        "/health/live",
        "/health/ready",
        *shell.PAGES.values(),
    }
)
