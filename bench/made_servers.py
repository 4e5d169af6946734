"""A name server and a web server for a made-up web on loopback, each a process that counts what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import mmap
import multiprocessing
import os
import resource
import select
import signal
import socket
import struct
import time
from collections import deque
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from made_hosts import ROBOTS, MadeHosts

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.process import BaseProcess
    from types import FrameType

    from evercrawl.types import Floats, Ints

SECONDS: Final = 1 << 17
"""So long is counted, second by second."""
BACKLOG: Final = 4096
TTL_S: Final = 3600
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class Asked(IntEnum):
    """What servers count."""

    PAGES = 0  # answered with their content
    ROBOTS = 1  # robots.txt of a host
    UNCHANGED = 2  # answered with 304
    OTHER = 3  # of which there is none
    NAMES = 4  # questions to the name server, for whatever type of record
    UNKNOWN = 5  # of them, those for names that do not exist
    CONNECTIONS = 6
    WAITING = 7  # not a count, but how many questions for names waited for their answer at once, at most


class Counts:
    """What was asked in each second, in memory that processes share.

    Attributes
    ----------
    by_second
        Shape (kinds, seconds); the first second begins when this was made.
    first
        When each kind was first asked for since `restart` (`time.monotonic`); 0 if it was not.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, len(Asked) * 8 * (SECONDS + 1))
        cells = np.frombuffer(self._memory, np.int64)
        self.by_second: Ints = cells[: len(Asked) * SECONDS].reshape(len(Asked), SECONDS)
        self.first: Floats = cells[len(Asked) * SECONDS :].view(np.float64)
        self.begun_at = time.monotonic()

    def count(self, kind: Asked) -> None:
        """Count a question; each kind is counted by one process."""
        now = time.monotonic()
        self.by_second[kind, int(now - self.begun_at)] += 1
        if not self.first[kind]:
            self.first[kind] = now

    def most(self, kind: Asked, number: int) -> None:
        """Take note of a number of which the largest in each second counts."""
        cell = self.by_second[kind, int(time.monotonic() - self.begun_at) :][:1]
        np.maximum(cell, number, out=cell)

    def restart(self) -> float:
        """Forget what was asked first; return the instant."""
        self.first[:] = 0.0
        return time.monotonic()

    def between(self, start: float, end: float) -> Ints:
        """Return what was asked in each whole second from that of one instant to that of another."""
        return self.by_second[:, int(start - self.begun_at) : int(end - self.begun_at) + 1].copy()

    def totals(self) -> Ints:
        """Return how often each kind was asked for so far."""
        return self.by_second.sum(axis=1)


def cpu_s(pid: int) -> float:
    """Return the CPU that a process and all its children have used so far, in seconds; 0 where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = sum(map(int, fields[11:15])) / _TICKS_PER_S  # of itself and of children that have ended
    return own + sum(cpu_s(int(child)) for child in children)


def memory_mib(pid: int, field: str = "VmRSS") -> float:
    """Return the resident set of a process, or its peak (`VmHWM`), in MiB; 0 where there is none."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    return 0.0


class MadeServers:
    """Both servers, running while this is entered; the web is then to be had at `web.port`, names at `dns`.

    Parameters
    ----------
    hosts, pages
        Of the web.
    ttl_s, name_latency_s
        How long answers about names hold, and how long each takes.

    Attributes
    ----------
    counts
        What was asked.
    """

    def __init__(self, hosts: int, pages: int = 131, *, ttl_s: int = TTL_S, name_latency_s: float = 0.0) -> None:
        self.counts = Counts()
        self._http, self._udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._http.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._http.bind(("0.0.0.0", 0))
        self._udp.bind(("127.0.0.1", 0))
        self.web = MadeHosts(hosts, pages, port=self._http.getsockname()[1])
        self.dns = f"127.0.0.1:{self._udp.getsockname()[1]}"
        self._ttl_s, self._name_latency_s = ttl_s, name_latency_s
        self._processes: list[BaseProcess] = []

    def __enter__(self) -> Self:
        processes = multiprocessing.get_context("fork")
        for serve in (self._serve_web, self._serve_names):
            process = processes.Process(target=serve, daemon=True)
            process.start()
            self._processes.append(process)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
            process.join()
        self._http.close()
        self._udp.close()

    def cpu_s(self) -> tuple[float, float]:
        """Return the CPU that the web server and the name server have used so far, in seconds."""
        web, names = (cpu_s(process.pid or 0) for process in self._processes)
        return web, names

    def _serve_web(self) -> None:
        _leave_ending_to_the_parent()
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        asyncio.run(self._web())

    async def _web(self) -> None:
        self._http.listen(BACKLOG)
        made, loop = _Pages(self.web), asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(made, self.counts), sock=self._http, backlog=BACKLOG)
        await server.serve_forever()

    def _serve_names(self) -> None:
        _leave_ending_to_the_parent()
        _Names(self.web, self._ttl_s).serve(self._udp, self._name_latency_s, self.counts)


def _leave_ending_to_the_parent() -> None:
    def end(_: int, __: FrameType | None) -> None:
        os._exit(0)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)


class _Names:
    """Answers questions for A records; of other types names have none."""

    def __init__(self, web: MadeHosts, ttl_s: int) -> None:
        self._web, self._ttl_s = web, ttl_s
        self._soa = struct.pack(">BHHIH", 0, 6, 1, ttl_s, 22) + bytes(2) + struct.pack(">5I", 1, 60, 60, 60, ttl_s)

    def serve(self, udp: socket.socket, latency_s: float, counts: Counts) -> None:
        """Answer for ever, each question when it has waited so long."""
        udp.setblocking(False)
        waiting, poll = deque[tuple[float, bytes, Any]](), select.poll()
        poll.register(udp, select.POLLIN)
        while True:
            poll.poll(max(waiting[0][0] - time.monotonic(), 0.0) * 1e3 if waiting else None)
            now = time.monotonic()
            with contextlib.suppress(BlockingIOError):
                while True:
                    question, asker = udp.recvfrom(2048)
                    known, data = self.answer(question)
                    counts.count(Asked.NAMES)
                    if not known:
                        counts.count(Asked.UNKNOWN)
                    waiting.append((now + latency_s, data, asker))
            counts.most(Asked.WAITING, len(waiting))
            while waiting and waiting[0][0] <= now:
                _, data, asker = waiting.popleft()
                with contextlib.suppress(OSError):
                    udp.sendto(data, asker)

    def answer(self, question: bytes) -> tuple[bool, bytes]:
        """Return whether the name exists, and the answer (RFC 1035, section 4)."""
        at, labels = 12, list[bytes]()
        while question[at]:
            labels.append(question[at + 1 : at + 1 + question[at]])
            at += 1 + question[at]
        asked, kind = question[12 : at + 5], question[at + 1] << 8 | question[at + 2]
        host = self._web.number(b".".join(labels).decode("latin-1").lower())
        flags = 0x8580 | (question[2] & 1) << 8 if host is not None else 0x8583
        if host is not None and kind == 1:
            head = struct.pack(">HHHHHH", question[0] << 8 | question[1], flags, 1, 1, 0, 0)
            return True, head + asked + struct.pack(">HHHIH", 0xC00C, 1, 1, self._ttl_s, 4) + self._web.packed(host)
        head = struct.pack(">HHHHHH", question[0] << 8 | question[1], flags, 1, 0, 1, 0)
        return host is not None, head + asked + self._soa


class _Pages:
    """Makes whole answers."""

    def __init__(self, web: MadeHosts) -> None:
        self._web = web

    def answer(self, head: bytes) -> tuple[Asked, bytes]:
        """Return what kind of answer a request has, and the answer."""
        target = head.split(b" ", 2)[1]
        if target == b"/robots.txt":
            return Asked.ROBOTS, _reply(b"200 OK", b"text/plain", ROBOTS)
        at = head.find(b"\r\nHost: ") + 8
        host = self._web.number(head[at : head.find(b"\r", at)].partition(b":")[0].decode("latin-1"))
        page = self._web.page(target.decode("latin-1"))
        if host is None or page is None:
            return Asked.OTHER, _reply(b"404 Not Found", b"text/html", b"<title>not here</title>")
        if b"\r\nIf-None-Match:" in head:
            return Asked.UNCHANGED, b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
        return Asked.PAGES, _reply(b"200 OK", b"text/html; charset=utf-8", self._web.body(host, page), b'ETag: "1"\r\n')


def _reply(status: bytes, kind: bytes, body: bytes, more: bytes = b"") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Type: %b\r\n%bContent-Length: %d\r\n\r\n%b" % (status, kind, more, len(body), body)


class _Connection(asyncio.Protocol):
    """One connection: request after request, until the far end closes it."""

    def __init__(self, made: _Pages, counts: Counts) -> None:
        self._made, self._counts = made, counts
        self._got = b""
        self._write: Callable[[bytes], None]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._write = transport.write
        self._counts.count(Asked.CONNECTIONS)

    def data_received(self, data: bytes) -> None:
        self._got += data
        while (end := self._got.find(b"\r\n\r\n")) >= 0:
            kind, reply = self._made.answer(self._got[: end + 2])
            self._got = self._got[end + 4 :]
            self._counts.count(kind)
            self._write(reply)
