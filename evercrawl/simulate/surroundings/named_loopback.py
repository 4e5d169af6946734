"""A server of a simulated web of many names on loopback addresses; a file maps the names."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Self

from evercrawl.simulate.worlds.made_web import MadeWeb

NETWORK = "127.0.0.0/8"


class NamedLoopback:
    """A running server of a `MadeWeb` whose sites have names.

    Parameters
    ----------
    sites, pages, seed
        Number of sites, each with a registrable domain of its own; pages of each; and the random seed.
    addresses
        Number of loopback addresses that the names share.
    prefix
        Prefix of these addresses; others than loopback ones must exist.

    Attributes
    ----------
    web
        The web served; its origins are known once the context is entered.
    asked
        Number of requests for each URL.
    began
        Time and URL of each request; seconds since the epoch.
    peers
        Address that each request came from.

    Examples
    --------
    ::

        async with NamedLoopback(sites=8) as server:
            server.write_names(Path("names.txt"))  # for --resolve
    """

    def __init__(
        self, sites: int = 8, pages: int = 20, *, seed: int = 1, addresses: int = 4, prefix: str = "127.0.9."
    ) -> None:
        self.web = MadeWeb(seed, (), pages, changing=0)
        self._sites, self._addresses = sites, addresses
        self.asked = Counter[str]()
        self.began, self.peers, self._prefix = list[tuple[float, str]](), list[str](), prefix
        self._servers, self._open = list[asyncio.Server](), set[asyncio.StreamWriter]()

    async def __aenter__(self) -> Self:
        """Listen on a free port of each address."""
        port = 0
        for number in range(self._addresses):
            server = await asyncio.start_server(self._answer, f"{self._prefix}{number + 1}", port)
            port = server.sockets[0].getsockname()[1]
            self._servers.append(server)
        origins = tuple(f"http://www.site{number}.org:{port}" for number in range(self._sites))
        self.web = replace(self.web, origins=origins)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        for server in self._servers:
            server.close()
        for writer in list(self._open):
            writer.close()
        await asyncio.sleep(0)

    @property
    def seed(self) -> str:
        """The front page of the first site."""
        return f"{self.web.origins[0]}/"

    def write_names(self, path: Path) -> None:
        """Write the file for `--resolve`."""
        lines = [f"www.site{n}.org {self._prefix}{n % self._addresses + 1}\n" for n in range(self._sites)]
        path.write_text("".join(lines))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                line, *fields = head.decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in fields)}
                method, path, _ = line.split(" ", 2)
                origin = f"http://{headers['host']}"
                self.asked[origin + path] += 1
                self.began.append((time.time(), origin + path))
                self.peers.append(str(writer.get_extra_info("peername")[0]))
                answer = self.web.answer(origin, path, headers, time.time())
                said = {"Content-Length": str(len(answer.body)), **answer.headers}
                lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
                writer.write(f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n{lines}\r\n".encode())
                writer.write(answer.body if method != "HEAD" else b"")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()
