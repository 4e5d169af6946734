"""A SOCKS5 proxy (RFC 1928, RFC 1929) on loopback that notes what it is asked for."""

import asyncio
import ipaddress
from typing import Any, Self


class SocksServer:
    """A proxy that connects whatever it is asked for to one port of this machine.

    Parameters
    ----------
    to
        Port on 127.0.0.1 that all connections lead to.
    reply
        What it says to each request: 0 for done, else a refusal of RFC 1928.
    user
        User name and password that it wants; nothing for none.
    port
        Where it listens.

    Attributes
    ----------
    asked
        Host and port of each request, in order.
    """

    def __init__(self, to: int, *, reply: int = 0, user: tuple[str, str] = ("", ""), port: int = 0) -> None:
        self.to, self.reply, self.user, self.port = to, reply, user, port
        self.asked: list[tuple[str, int]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, scheme: str = "socks5h", user: str = "") -> str:
        return f"{scheme}://{user}127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            await self._speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        version, count = await reader.readexactly(2)
        assert version == 5
        methods = await reader.readexactly(count)
        wanted = 2 if self.user[0] else 0
        if wanted not in methods:
            writer.write(b"\x05\xff")
            await writer.drain()
            return
        writer.write(bytes([5, wanted]))
        if wanted == 2:
            await reader.readexactly(1)
            name = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            right = (name.decode(), password.decode()) == self.user
            writer.write(bytes([1, not right]))
            if not right:
                await writer.drain()
                return
        _, command, _, kind = await reader.readexactly(4)
        assert command == 1
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
        self.asked.append((host, int.from_bytes(await reader.readexactly(2), "big")))
        writer.write(bytes([5, self.reply, 0, 1, 0, 0, 0, 0, 0, 0]))
        if self.reply:
            await writer.drain()
            return
        there, onwards = await asyncio.open_connection("127.0.0.1", self.to)
        try:
            await asyncio.gather(_pipe(reader, onwards), _pipe(there, writer))
        finally:
            onwards.transport.abort()


async def _pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65_536):
        sink.write(data)
        await sink.drain()
    sink.close()
