"""A living web, its crawl, the server beside that, and who asks it: processes and connections for `serve.py`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from evercrawl.simulate.living.web import LivingWeb
from evercrawl.simulate.surroundings.loopback import NETWORK, LivingLoopback
from evercrawl.store.live_line import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

HOSTS: Final = 40
CYCLE_S: Final = 100.0
END_S: Final = 30.0


async def web(pages: int) -> None:
    """Serve a living web until killed; print its seeds, as JSON."""
    at = time.time()
    served = LivingLoopback(
        lambda origins: LivingWeb(7, hosts=HOSTS, pages=pages, cycle_s=CYCLE_S, origins=origins, began_at=at), HOSTS
    )
    async with served as server:
        print(json.dumps(server.seeds), flush=True)
        while True:
            await asyncio.sleep(60.0)
            server.log.clear()


class Child:
    """A process of Python that prints a line of JSON once it is ready, and ends with its context.

    Attributes
    ----------
    said
        That line.
    ready_s
        How long it took.
    """

    def __init__(self, *words: str, says: bool = True) -> None:
        began = time.perf_counter()
        out = subprocess.PIPE if says else subprocess.DEVNULL
        self.process = subprocess.Popen([sys.executable, *words], stdin=subprocess.DEVNULL, stdout=out, text=True)
        self.said: Any = None
        if self.process.stdout is not None:
            line = self.process.stdout.readline()
            assert line, f"{' '.join(words)[:200]} ended"
            self.said = json.loads(line)
        self.ready_s = time.perf_counter() - began

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def cpu_s(self) -> float:
        """Return what it has used of the processor, in user and system mode."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100.0

    def memory_mib(self) -> float:
        """Return its resident set."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def crawling(directory: Path, seeds: list[str], *more: str) -> Child:
    """Start a crawl, or go on with one."""
    return Child(
        "-m", "evercrawl", "crawl", *seeds, "--dir", str(directory), "--allow-net", NETWORK, "--delay", "0",
        "--refresh-after", "0s", "--connections-per-host", "8", "--connections-per-ip", "8", "--quiet", *more,
        says=False,
    )  # fmt: skip


def serving(directory: Path) -> Child:
    """Start the server of a crawl."""
    return Child("-m", "evercrawl", "serve", "--dir", str(directory), "--port", "0", "--json")


def visits(directory: Path) -> int:
    """Return how many visits a running crawl has made in this run; -1 where none answers."""
    found = ask(directory, {"ask": "progress"}, 2.0)
    return sum(found["outcomes"].values()) if found and found.get("outcomes") else -1


class Asker:
    """One connection to the server, from a loopback address of its own: an address may not ask without bound.

    Parameters
    ----------
    link
        Of the server.
    number
        Of the asker.
    """

    def __init__(self, link: str, number: int) -> None:
        host, _, port = link.partition("//")[2].partition("/")[0].partition(":")
        self._host, self._port, self._from = host, int(port), f"127.9.{number // 250}.{1 + number % 250}"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def get(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of an answer."""
        if self._writer is None:
            await self._connect()
        reader, writer = self._reader, self._writer
        assert reader is not None
        assert writer is not None
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n\r\n".encode())
        status, headers = _head(await reader.readuntil(b"\r\n\r\n"))
        return status, headers, await reader.readexactly(int(headers.get("content-length", "0")))

    async def post(self, path: str, body: bytes) -> int:
        """Return the status with which a body is answered."""
        if self._writer is None:
            await self._connect()
        reader, writer = self._reader, self._writer
        assert reader is not None
        assert writer is not None
        host = f"Host: {self._host}:{self._port}\r\nContent-Length: {len(body)}"
        writer.write(f"POST {path} HTTP/1.1\r\n{host}\r\n\r\n".encode() + body)
        status, headers = _head(await reader.readuntil(b"\r\n\r\n"))
        await reader.readexactly(int(headers.get("content-length", "0")))
        return status

    async def timed(self, path: str) -> float:
        """Return how long an answer took, in seconds; where another process makes it, once that has.

        Raises
        ------
        AssertionError
            It was none.
        """
        began = time.perf_counter()
        status, _, body = await self.get(path)
        while status in (202, 503):  # 503: the history is read for the first time
            await asyncio.sleep(0.5)
            began = time.perf_counter()
            status, _, body = await self.get(path)
        assert status == 200, (path, status, body[:300])
        return time.perf_counter() - began

    async def listen(self, seconds: float) -> tuple[int, int]:
        """Listen to events for a while; return how many came, and how many bytes."""
        await self._connect()
        reader, writer = self._reader, self._writer
        assert reader is not None
        assert writer is not None
        writer.write(f"GET /api/v1/events HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n\r\n".encode())
        _head(await reader.readuntil(b"\r\n\r\n"))
        events = size = 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while data := await reader.readuntil(b"\n\n"):
                    events, size = events + data.count(b"event: state"), size + len(data)
        self.close()
        return events, size

    async def _connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(
            self._host, self._port, local_addr=(self._from, 0), limit=1 << 22
        )

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()
            self._writer = self._reader = None


def _head(data: bytes) -> tuple[int, dict[str, str]]:
    first, *rest = data.decode("latin-1").split("\r\n")
    return int(first.split(" ")[1]), {
        name.strip().lower(): value.strip() for name, found, value in (line.partition(":") for line in rest) if found
    }


def percentiles(took_s: list[float], *shares: float) -> Iterator[float]:
    """Yield times by the share of all that are shorter, in milliseconds."""
    ordered = sorted(took_s)
    for share in shares:
        yield 1000.0 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


if __name__ == "__main__":
    asyncio.run(web(int(sys.argv[1])))
