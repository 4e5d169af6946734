"""Servers on loopback that say exactly what a test wants, byte by byte."""

import asyncio
import ssl
import struct
from pathlib import Path
from typing import Any, Self

CERTIFICATES = Path(__file__).parents[1] / "fetch" / "data"
PREFACE_BYTES = 24  # of HTTP/2, before the first frame


class Server:
    """A raw server, of which a subclass says in `speak` what it does with a connection.

    Parameters
    ----------
    address, port
        Where it listens; any free port by default.
    pem
        Its certificate, by name or path; without one it speaks plainly.
    alpn
        Protocols that it offers with TLS.
    """

    def __init__(self, address: str = "127.0.0.1", port: int = 0, *, pem: str = "", alpn: tuple[str, ...] = ()) -> None:
        self.address, self.port, self.pem, self.alpn = address, port, pem, alpn
        self.requests: list[bytes] = []
        self.connections = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        context = self.context() if self.pem else None
        self.server = await asyncio.start_server(self._accept, self.address, self.port, ssl=context)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def context(self) -> ssl.SSLContext:
        """Return how it speaks TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / self.pem)  # a whole path stays as it is
        context.set_alpn_protocols(list(self.alpn))
        return context

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", host: str = "") -> str:
        return f"{'https' if self.pem else 'http'}://{host or self.address}:{self.port}{path}"

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request after another, and answer it."""
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(head)
            if not await self.answer(head.split()[1].decode(), reader, writer):
                await writer.drain()
                writer.close()
                return
            await writer.drain()

    async def answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; return whether the connection goes on."""
        raise NotImplementedError

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        try:
            await self.speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass  # the far end, or the test, has had enough
        finally:
            self._tasks.discard(task)
            writer.transport.abort()


class Server2(Server):
    """A raw server of HTTP/2, of which a subclass says in `answer_stream` which frames it sends to a request."""

    DATA, HEADERS, RESET, SETTINGS, PUSH, PING, AWAY, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 9
    END_STREAM, END_HEADERS, PADDED = 1, 4, 8
    STATUS_200 = b"\x88"

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__(address, pem="site.pem", alpn=("h2",))

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(PREFACE_BYTES)
        writer.write(self.frame(self.SETTINGS, 0, 0, b""))
        while True:
            head = await reader.readexactly(9)
            kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
            payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
            if kind == self.SETTINGS and not flags & 1:
                writer.write(self.frame(self.SETTINGS, 1, 0, b""))
            if kind == self.HEADERS:
                self.requests.append(payload)
                await self.answer_stream(writer, stream)
            await writer.drain()

    async def answer_stream(self, writer: asyncio.StreamWriter, stream: int) -> None:
        raise NotImplementedError

    @staticmethod
    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    @staticmethod
    def field(name: str, value: str) -> bytes:
        """One literal header field, not indexed, as HPACK writes it (RFC 7541, 6.2.2)."""
        return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
