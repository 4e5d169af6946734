"""The MCP server, built with the protocol's own library."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from evercrawl import __version__
from evercrawl.errors import EvercrawlError
from evercrawl.serve.mcp.tools import INSTRUCTIONS, CrawlTools
from evercrawl.serve.replica import CrawlReplica

F = TypeVar("F", bound=Callable[..., Any])

AT_ONCE: Final = 8
"""Questions that are worked on at once; some wait for a page to be fetched, and others of the server must not."""


def mcp_server(tools: CrawlTools) -> MCPServer[Any]:
    """Return the MCP server with these tools; errors are reported in a sentence."""
    made: MCPServer[Any] = MCPServer(
        "evercrawl", title="evercrawl", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR"
    )
    room = CapacityLimiter(AT_ONCE)
    for name, tool in tools.tools().items():
        made.add_tool(_telling(tool, room), name=name)
    return made


def serve_stdio(directory: Path, *, may_order: bool) -> None:
    """Serve the crawl in `directory` over standard input and output until that ends.

    Raises
    ------
    ConfigError
        There is no crawl.
    StoreError
        It is damaged.
    """
    replica = CrawlReplica(directory)
    replica.start()
    try:
        mcp_server(CrawlTools(replica, may_order=may_order)).run("stdio")
    finally:
        replica.close()


def _telling(tool: F, room: CapacityLimiter) -> F:
    @wraps(tool)
    async def told(*arguments: Any, **named: Any) -> Any:
        try:
            return await run_sync(lambda: tool(*arguments, **named), limiter=room)
        except EvercrawlError as error:
            raise ToolError(str(error)) from error

    return told  # type: ignore[return-value]
