"""The port at which processes of partitions on other machines join, with a secret token."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from typing import TYPE_CHECKING, Final

from evercrawl.cluster.wire import Joined, read_frame
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.cluster.launching import Line

JOINS_S: Final = 5.0
_HELLO_BYTES: Final = 1024


class Hub:
    """Listens for processes of partitions.

    Parameters
    ----------
    host
        Address of this machine that the others can reach.
    version
        Version of evercrawl; processes with another version are refused.

    Attributes
    ----------
    token
        The token that a process must present; new for each run.
    refused
        Number of refused connections.
    """

    def __init__(self, host: str, version: str) -> None:
        self.token, self.refused = secrets.token_hex(16), 0
        self._host, self._version = host, version
        self._server: asyncio.Server | None = None
        self._awaited = dict[int, asyncio.Future["Line"]]()
        self._tasks = set[asyncio.Task[None]]()

    async def address(self) -> tuple[str, int]:
        """Return the address to join; start listening at the first call."""
        if self._server is None:
            self._server = await asyncio.start_server(self._join, self._host, 0)
        return self._host, int(self._server.sockets[0].getsockname()[1])

    def expect(self, incarnation: int) -> asyncio.Future[Line]:
        """Return a future of the connection to a process that will join."""
        line = self._awaited[incarnation] = asyncio.get_running_loop().create_future()
        line.add_done_callback(lambda _: self._awaited.pop(incarnation, None))
        return line

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def _matches(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            hello = await asyncio.wait_for(read_frame(reader, _HELLO_BYTES), JOINS_S)
        except TimeoutError:
            hello = None
        line = self._awaited.get(hello.incarnation) if isinstance(hello, Joined) else None
        if not isinstance(hello, Joined) or line is None or not self._matches(hello.token):
            self.refused += 1
            writer.close()
        elif hello.version != self._version:
            line.set_exception(
                ConfigError(
                    f"a machine of the cluster has evercrawl {hello.version}, and this one {self._version}; install "
                    "the same on all of them"
                )
            )
            writer.close()
        else:
            line.set_result((reader, writer))
