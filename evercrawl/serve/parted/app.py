"""The server application of a crawl in several partitions: a table of them, search over all, metrics, and an API."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from evercrawl.ask.instants import dated, iso
from evercrawl.ask.parted import PartedQuestions
from evercrawl.ask.parts_figures import exposition
from evercrawl.ask.remote import plainly
from evercrawl.ask.search.search import Narrow, SearchAnswer
from evercrawl.errors import EvercrawlError
from evercrawl.serve.asking import Parameters
from evercrawl.serve.guard import RequestGuard
from evercrawl.serve.pages.search import LOCKED, ago, marked
from evercrawl.serve.pages.shell import Static, filled
from evercrawl.serve.problems import HANDLERS, RequestError

STATES_S: Final = 1.0
ANSWERS_S: Final = 10.0
"""For so long an answer serves who asks the same."""
TURN_S: Final = 10.0
"""After so long a question is refused that others keep from being asked."""
_AT_ONCE: Final = 2
_WAITING: Final = 16  # concurrent queries; more are rejected
_KEPT: Final = 64  # answers
_PACKED_BYTES: Final = 2000
_MOST: Final = 100
_NARROWING: Final = ("site", "language", "fresh", "fetched_within")
_TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"


class PartedServer:
    """Answers requests about a crawl in several partitions.

    Parameters
    ----------
    questions
        Answers queries for all partitions; each may take seconds.
    """

    def __init__(self, questions: PartedQuestions) -> None:
        self._questions, self._static = questions, Static()
        self._told: OrderedDict[tuple[Any, ...], tuple[float, Any]] = OrderedDict()
        self._asking: dict[tuple[Any, ...], asyncio.Task[Any]] = {}
        self._turn = asyncio.Semaphore(_AT_ONCE)

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/", self._search_page),
            Route("/partitions", self._partitions_page),
            Route(f"/static/{self._static.digest}/{{name:path}}", self._static.file),
            Route("/api/v1/partitions", self._partitions),
            Route("/api/v1/top", self._top),
            Route("/api/v1/search", self._search),
            Route("/metrics", self._metrics),
            Route("/health/live", _live),
            Route("/health/ready", self._ready),
        ]

    # Pages

    async def _partitions_page(self, request: Request) -> Response:
        return HTMLResponse(self._page("parted", request))

    async def _search_page(self, request: Request) -> Response:
        given, found, trouble = Parameters(request, "q", "limit", *_NARROWING), None, ""
        words, note = given.text("q", most=500).strip(), ""
        if words and not request.state.may_read:
            trouble = LOCKED
        elif words:
            try:
                found, note = await self._found(given, words)
            except EvercrawlError as error:
                trouble = str(error)
        shown = {"found": found, "note": note, "trouble": trouble, "marked": marked, "ago": ago, "iso": iso}
        return HTMLResponse(self._page("parted_search", request, **shown))

    def _page(self, name: str, request: Request, **more: Any) -> str:
        return filled(name, self._static, query=dict(request.query_params), **more)

    # For programs

    async def _partitions(self, request: Request) -> Response:
        Parameters(request)
        found = await self._answer(("states",), self._questions.states, STATES_S)
        return _json({"running": found.running, "note": found.note or None, "parts": found.parts})

    async def _top(self, request: Request) -> Response:
        most = Parameters(request, "limit").whole("limit", 20, 1, 1000)
        pages, note = await self._answer(("top", most), lambda: self._questions.top(most), ANSWERS_S)
        return _json({"pages": [dated(asdict(page)) for page in pages], "note": note or None})

    async def _search(self, request: Request) -> Response:
        given = Parameters(request, "q", "limit", *_NARROWING)
        words = given.text("q", most=500).strip()
        if not words:
            raise RequestError(400, "q, the words to look for, is missing")
        found, note = await self._found(given, words)
        hits = [dated(asdict(hit)) for hit in found.hits]
        told = {"hits": hits, "more": found.more, "took_s": round(found.took_s, 6), "instead": found.instead or None}
        return _json({**told, "note": note or None})

    async def _metrics(self, request: Request) -> Response:
        found = await self._answer(("states",), self._questions.states, STATES_S)
        return PlainTextResponse(exposition(found.parts), media_type=_TEXT)

    async def _ready(self, request: Request) -> Response:
        await self._answer(("states",), self._questions.states, STATES_S)
        return PlainTextResponse("ok\n")

    # Questions

    async def _found(self, given: Parameters, words: str) -> tuple[SearchAnswer, str]:
        narrow = Narrow(
            site=given.text("site", most=253), language=given.text("language", most=35),
            fresh=given.share("fresh", 0.0), fetched_within_s=given.duration("fetched_within"),
        )  # fmt: skip
        limit = given.whole("limit", 10, 1, _MOST)
        question = ("search", words, limit, narrow)
        found: tuple[SearchAnswer, str] = await self._answer(
            question, lambda: self._questions.search(words, narrow, limit), ANSWERS_S
        )
        return found

    async def _answer(self, question: tuple[Any, ...], ask: Callable[[], Any], serves_s: float) -> Any:
        """Return a recent enough answer; concurrent equal queries share one.

        Raises
        ------
        RequestError
            There are too many queries at once.
        """
        at, told = self._told.get(question, (float("-inf"), None))
        if time.monotonic() < at + serves_s:
            return told
        task = self._asking.get(question)
        if task is None:
            if len(self._asking) >= _WAITING:
                raise _busy()
            task = self._asking[question] = asyncio.create_task(self._asked(question, ask))
        return await asyncio.shield(task)

    async def _asked(self, question: tuple[Any, ...], ask: Callable[[], Any]) -> Any:
        try:
            try:
                await asyncio.wait_for(self._turn.acquire(), TURN_S)
            except TimeoutError as error:
                raise _busy() from error
            try:
                told = await run_in_threadpool(ask)
            finally:
                self._turn.release()
        finally:
            del self._asking[question]
        self._told[question] = time.monotonic(), told
        self._told.move_to_end(question)
        if len(self._told) > _KEPT:
            self._told.popitem(last=False)
        return told


def parted_app(
    questions: PartedQuestions, token: str, hosts: frozenset[str] = frozenset(), public: str = ""
) -> Starlette:
    """Return the server application of a crawl in several partitions.

    Parameters
    ----------
    questions
        Answers queries for all partitions.
    token, hosts, public
        As for `RequestGuard`.
    """
    return Starlette(
        routes=PartedServer(questions).routes(),
        middleware=[
            Middleware(RequestGuard, token=token, hosts=hosts, public=public),
            Middleware(GZipMiddleware, _PACKED_BYTES),
        ],
        exception_handlers=HANDLERS,
    )


def _busy() -> RequestError:
    return RequestError(503, "other questions are being answered; ask again", retry_after="2")


async def _live(request: Request) -> Response:
    return PlainTextResponse("ok\n")


def _json(fields: dict[str, Any]) -> Response:
    return Response(msgspec.json.encode(fields, enc_hook=plainly), media_type="application/json")
