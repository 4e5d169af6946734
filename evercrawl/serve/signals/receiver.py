"""The receiver of publishers' and hubs' notifications, on a separate port that may be public.

It reveals nothing about the crawl except whether it visits a host, and writes only `signals.jsonl` and
`subscriptions.json`. Senders are authenticated by a key on the host itself, or by a hub's signature.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from evercrawl.config import Config
from evercrawl.errors import EvercrawlError
from evercrawl.fetch.guard import Guard, is_own
from evercrawl.fetch.small import SmallAnswer, small_request
from evercrawl.parse.urls import hostname
from evercrawl.serve.problems import HANDLERS, RequestError, problem
from evercrawl.serve.signals.allowance import Allowance, of_visits
from evercrawl.serve.signals.indexnow import KeyProver, Submission, SubmissionVerdict
from evercrawl.serve.signals.websub import Subscriptions
from evercrawl.serve.strangers import network_of
from evercrawl.store.signals import Signal, append_signals

PROVING: Final = 4
"""Keys that are asked for at once; who comes meanwhile is told to submit again."""
INDEXNOW_BYTES: Final = 4 << 20
WEBSUB_BYTES: Final = 1 << 20
TOPIC_BYTES: Final = 1 << 20
TURN_S: Final = 5.0
CLIENT_PER_S: Final = 10.0
CLIENT_BURST: Final = 100.0
"""Limits on requests of one network: per second on average, and at once."""


class KnowsHosts(Protocol):
    """Knows which hosts the crawl visits."""

    def __call__(self, host: str) -> bool:
        """Return whether the crawl visits a host."""
        ...


class SignalReceiver:
    """Receives notifications, and writes them down for the crawl.

    Parameters
    ----------
    directory
        The crawl's directory.
    config
        Its settings: the addresses it may connect to, the crawl's product token, and how often a host is visited.
    knows
        Returns whether the crawl visits a host.
    public_url
        Public URL of this receiver, without a trailing slash.
    topics
        Pages and feeds to subscribe to, normalised.
    """

    def __init__(
        self, directory: Path, config: Config, knows: KnowsHosts, public_url: str, topics: tuple[str, ...] = ()
    ) -> None:
        self._directory, self._knows, self._topics = directory, knows, topics
        self._guard = Guard(config.allow_net, config.refuse_net, is_own)
        self._agent = f"{config.agent} (+{config.contact})" if config.contact else config.agent
        self._allowance = of_visits(config.delay_s)
        self._clients = Allowance(CLIENT_PER_S, CLIENT_BURST)
        self._prover = KeyProver(knows, partial(small_request, guard=self._guard, agent=self._agent))
        self._proving = asyncio.Semaphore(PROVING)
        self.subscriptions = Subscriptions(directory, f"{public_url}/websub", self._send)

    def app(self) -> Starlette:
        """Return the application."""

        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncGenerator[None]:
            subscribing = asyncio.create_task(self._subscribing())
            try:
                yield
            finally:
                subscribing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await subscribing

        return Starlette(
            routes=[
                Route("/indexnow", self._bounded(self._by_address), methods=["GET"]),
                Route("/indexnow", self._bounded(self._by_body), methods=["POST"]),
                Route("/websub/{name}", self._bounded(self._verify), methods=["GET"]),
                Route("/websub/{name}", self._bounded(self._notified), methods=["POST"]),
            ],
            exception_handlers=HANDLERS | {404: _nothing},
            lifespan=lifespan,
        )

    def _bounded(self, endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def judged(request: Request) -> Response:
            if not self._clients.take(_network(request), 1, time.monotonic()):
                raise RequestError(429, "too many requests at once; ask more slowly", retry_after="10")
            return await endpoint(request)

        return judged

    # IndexNow

    async def _by_address(self, request: Request) -> Response:
        query = request.query_params
        url = query.get("url", "")
        host = url.partition("://")[2].partition("/")[0]
        given = Submission(host, query.get("key", ""), [url], query.get("keyLocation", ""))
        return await self._submitted(given, request)

    async def _by_body(self, request: Request) -> Response:
        try:
            given = msgspec.json.decode(await _body(request, INDEXNOW_BYTES), type=Submission)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            said = '{"host": ..., "key": ..., "keyLocation": ..., "urlList": [...]}'
            raise RequestError(400, f"{str(error)[:200]}; post {said}") from error
        return await self._submitted(given, request)

    async def _submitted(self, given: Submission, request: Request) -> Response:
        if self._proving.locked():
            raise RequestError(429, "other keys are being requested; submit again soon", retry_after="10")
        async with self._proving:
            verdict: SubmissionVerdict = await run_in_threadpool(
                self._prover.judge, given, time.time(), _network(request)
            )
        if verdict.status != 200:
            again = {"retry_after": "60"} if verdict.status == 429 else {}
            raise RequestError(verdict.status, verdict.detail, **again)
        taken = await self._announce("indexnow", verdict.urls)
        if not taken:
            raise RequestError(429, "this host has announced as much as can be visited; submit less", retry_after="600")
        left = len(verdict.urls) - taken
        return PlainTextResponse(f"{taken} taken" + (f", {left} beyond what can be visited" if left else ""))

    # WebSub

    async def _verify(self, request: Request) -> Response:
        challenge = await run_in_threadpool(
            self.subscriptions.verified, request.path_params["name"], dict(request.query_params), time.time()
        )
        if challenge is None:
            raise RequestError(404, "nobody here wants that")
        return PlainTextResponse(challenge)

    async def _notified(self, request: Request) -> Response:
        body = await _body(request, WEBSUB_BYTES)
        signature, kind = request.headers.get("x-hub-signature", ""), request.headers.get("content-type", "")
        urls = await run_in_threadpool(self.subscriptions.told, request.path_params["name"], body, signature, kind)
        if urls is None:
            raise RequestError(410, "there is no such subscription")
        if urls:
            await self._announce("websub", urls)
        return Response(status_code=204)

    def _send(self, url: str, body: bytes | None, fields: Mapping[str, str]) -> SmallAnswer:
        return small_request(url, self._guard, self._agent, body=body, fields=fields, most_bytes=TOPIC_BYTES)

    async def _subscribing(self) -> None:
        self.subscriptions.want(list(self._topics))
        while True:
            with contextlib.suppress(EvercrawlError, OSError):
                await run_in_threadpool(self.subscriptions.turn, time.time())
            await asyncio.sleep(TURN_S)

    async def _announce(self, via: str, urls: tuple[str, ...]) -> int:
        """Write down as many of a host's pages as it may announce; return their number."""
        host = hostname(urls[0])
        if not self._knows(host):
            return 0
        count = self._allowance.take(host, len(urls), time.monotonic())
        if count:
            await run_in_threadpool(append_signals, self._directory, [Signal(time.time(), via, urls[:count])])
        return count


def _network(request: Request) -> str:
    """Return the network of a client, which may be behind a proxy on this machine."""
    client = request.client.host if request.client is not None else ""
    return network_of(client, ",".join(request.headers.getlist("x-forwarded-for")))


async def _nothing(_: Request, error: Exception) -> Response:
    return problem(404, "there is nothing here; publishers say at /indexnow what has changed")


async def _body(request: Request, most: int) -> bytes:
    found = bytearray()
    with contextlib.suppress(ClientDisconnect):
        async for piece in request.stream():
            found += piece
            if len(found) > most:
                raise RequestError(413, f"a request may have {most:,} bytes")
    return bytes(found)
