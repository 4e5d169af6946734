"""The server that assistants speak to, by the protocol's own library."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from evercrawl import __version__
from evercrawl.errors import EvercrawlError
from evercrawl.serve.mcp.tools import INSTRUCTIONS, CrawlTools
from evercrawl.serve.replica import CrawlReplica

F = TypeVar("F", bound=Callable[..., Any])


def mcp_server(tools: CrawlTools) -> MCPServer[Any]:
    """Return the server with these tools; what goes wrong is told in a sentence."""
    made: MCPServer[Any] = MCPServer(
        "evercrawl", title="evercrawl", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR"
    )
    for name, tool in tools.tools().items():
        made.add_tool(_telling(tool), name=name)
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


def _telling(tool: F) -> F:
    @wraps(tool)
    def told(*arguments: Any, **named: Any) -> Any:
        try:
            return tool(*arguments, **named)
        except EvercrawlError as error:
            raise ToolError(str(error)) from error

    return told  # type: ignore[return-value]
