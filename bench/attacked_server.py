"""An attacked web on loopback: one server for all its hosts, a name server, and a crawl in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attacked_web import DEADLINE_S, AttackedWeb

from evercrawl.parse.urls import path_query

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

SECONDS: Final = 20.0
REST_S: Final = 0.1
GRACE_S: Final = 60.0
_NETWORK: Final = 127


class Server:
    """Answers for every host on every address of loopback, by the Host field, and for their names.

    Attributes
    ----------
    asked
        How often each host was asked for a page with a number.
    """

    def __init__(self, web: AttackedWeb) -> None:
        self._web = web
        self.asked = Counter[str]()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests until the far end has had enough."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                target = head.split(" ", 2)[1]
                host = next(line[5:].strip() for line in head.split("\r\n") if line.lower().startswith("host:"))
                await self._answer(host.partition(":")[0], target, writer)
                await writer.drain()
        writer.transport.abort()

    async def _answer(self, name: str, target: str, writer: asyncio.StreamWriter) -> None:
        if name in self._web.silent:
            await asyncio.sleep(DEADLINE_S)
        if name in self._web.dripping:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not writer.transport.is_closing():
                writer.write(b"x")
                await asyncio.sleep(0.5)
        self.asked[name] += target[1:].isdigit()
        answer = self._web.answer(f"http://{name}{self._web.port}", path_query(f"http://{name}{target}"), {}, 0.0)
        fields = "".join(f"{key}: {value}\r\n" for key, value in answer.headers.items())
        status = f"HTTP/1.1 {answer.status} Said\r\n{fields}Content-Length: {len(answer.body)}\r\n\r\n"
        writer.write(status.encode() + answer.body)


class Names(asyncio.DatagramProtocol):
    """A name server that says nothing of some names."""

    def __init__(self, web: AttackedWeb) -> None:
        self._web = web
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        """Take the socket."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer one question."""
        labels, at = list[str](), 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        kind, question = struct.unpack(">H", data[at + 1 : at + 3])[0], data[12 : at + 5]
        name = ".".join(labels).lower()
        if name in self._web.unanswered or self._transport is None:
            return
        where = self._web.addresses.get(name)
        found = b""
        if where is not None and kind == 1:
            found = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 3600, 4) + socket.inet_aton(f"{self._web.first}.{where}")
        flags = 0x8180 if where is not None else 0x8183
        head = data[:2] + struct.pack(">HHHHH", flags, 1, bool(found), 0, 0)
        self._transport.sendto(head + question + found, addr)


def pages_on_loopback(attack: Callable[[AttackedWeb], None]) -> int:
    """Return how many pages of good hosts were asked for."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("0.0.0.0", 0))
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind(("127.0.0.1", 0))
    web = AttackedWeb(port=f":{listening.getsockname()[1]}", first=_NETWORK)
    attack(web)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(
        target=_serve, args=(web, listening, questions, theirs), daemon=True
    )
    server.start()
    work = Path(tempfile.mkdtemp(prefix="attacks-"))
    try:
        (work / "seeds").write_text("\n".join(web.seeds))
        command = [
            sys.executable, "-m", "evercrawl", "crawl", f"@{work / 'seeds'}", "--dir", str(work / "crawl"),
            "--delay", f"{REST_S}s", "--scope", "any", "--seconds", f"{SECONDS}s", "--allow-net", "127.0.0.0/8",
            "--dns", f"127.0.0.1:{questions.getsockname()[1]}", "--workers", "0", "--no-index", "--quiet",
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS + GRACE_S, check=False)
        if ran.returncode:
            raise RuntimeError(f"the crawl failed: {ran.stderr[-2000:]}")
        ours.send("how many")
        asked: dict[str, int] = json.loads(ours.recv())
    finally:
        server.terminate()
        server.join()
        listening.close()
        questions.close()
        shutil.rmtree(work)
    return sum(asked.get(name, 0) for name in web.victims)


def _serve(web: AttackedWeb, listening: socket.socket, questions: socket.socket, told: Connection) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(_serving(web, listening, questions, told))


async def _serving(web: AttackedWeb, listening: socket.socket, questions: socket.socket, told: Connection) -> None:
    listening.listen(4096)
    server, loop = Server(web), asyncio.get_running_loop()
    loop.add_reader(told.fileno(), lambda: (told.recv(), told.send(json.dumps(server.asked))))
    await loop.create_datagram_endpoint(lambda: Names(web), sock=questions)
    async with await asyncio.start_server(server.talk, sock=listening, backlog=4096) as serving:
        await serving.serve_forever()
