"""`/mcp`: the assistants' tools over HTTP (the protocol's streamable HTTP, stateless), behind the server's guard."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from evercrawl.serve.guard import ASKED
from evercrawl.serve.problems import RequestError, problem

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from evercrawl.serve.replica import CrawlReplica

PATH: Final = ASKED
NEEDED: Final = "assistants need more packages here: pip install 'evercrawl[mcp]', and start the server again"


class AssistantEndpoint:
    """Answers assistants over HTTP.

    The protocol's library is loaded on the first request. Requests are stateless: there are no sessions, so no state
    is kept for clients that disconnect, and the token decides for each request what it may do.

    Parameters
    ----------
    replica
        The crawl, followed.
    """

    def __init__(self, replica: CrawlReplica) -> None:
        self._replica = replica
        self._managers: tuple[StreamableHTTPSessionManager, ...] = ()
        self._run: asyncio.Task[None] | None = None
        self._ready, self._stop = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; tools that change the crawl require the token."""
        request = Request(scope)
        if request.method != "POST":
            said = "assistants ask by POST; this server keeps no sessions and sends nothing unasked"
            await problem(405, said, {"allow": "POST"})(scope, receive, send)
            return
        if importlib.util.find_spec("mcp") is None:
            raise RequestError(501, NEEDED)
        if self._run is None:
            self._run = asyncio.create_task(self._serve())
        await self._ready.wait()
        if not self._managers:
            raise RequestError(503, "the server is stopping; ask again once it is back")
        manager = self._managers[bool(request.state.knows)]
        await manager.handle_request(scope, receive, send)

    async def close(self) -> None:
        """Cancel pending requests."""
        self._stop.set()
        if self._run is not None:
            await self._run

    async def _serve(self) -> None:
        try:
            reading, writing = await asyncio.to_thread(self._made)
            async with contextlib.AsyncExitStack() as running:
                for each in (reading, writing):
                    await running.enter_async_context(each.run())
                self._managers = (reading, writing)
                self._ready.set()
                await self._stop.wait()
                self._managers = ()
        finally:
            self._ready.set()

    def _made(self) -> tuple[StreamableHTTPSessionManager, StreamableHTTPSessionManager]:
        """Return the handlers of requests without and with the token."""
        from mcp.server.transport_security import TransportSecuritySettings

        from evercrawl.serve.mcp.server import mcp_server
        from evercrawl.serve.mcp.tools import CrawlTools

        guarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `RequestGuard` checks host names
        found: list[StreamableHTTPSessionManager] = []
        for may_order in (False, True):
            server = mcp_server(CrawlTools(self._replica, may_order=may_order))
            server.streamable_http_app(json_response=True, stateless_http=True, transport_security=guarded)
            found.append(server.session_manager)
        return found[0], found[1]
