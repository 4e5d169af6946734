"""Ten thousand streams of events that nobody reads: what the server gives them, and whether others are answered.

    python bench/idle_streams.py [--streams 10000]

A small crawl is served by a process of its own. One address asks for events over so many connections and reads nothing,
while another searches ten times a second. Printed are the streams that were opened, the searches that failed, their
times against those without the streams, and how much the server grew. Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import statistics
import tempfile
import time
from pathlib import Path

from figures import Figure
from served import serving

from evercrawl.config import Config
from evercrawl.crawl.session import crawl
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback

OTHER = "127.0.0.9"
ASKED = b"GET /api/v1/%b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


async def searched(port: int, seconds: float) -> tuple[list[float], int]:
    """Return how long searches took, s, and how many failed, each over a connection of its own."""
    took, failed, until = list[float](), 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(OTHER, 0))
            writer.write(ASKED % b"search?q=page")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30.0)
            failed += not head.startswith(b"HTTP/1.1 200")
            writer.close()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            failed += 1
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.1)
    return took, failed


async def opened(port: int, count: int) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open streams as quickly as possible, and read nothing."""
    held = list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]()
    for _ in range(count):
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(ASKED % b"events")
            held.append((reader, writer))
    return held


async def measured(port: int, streams: int, memory) -> list[Figure]:
    """Return all figures."""
    before, _ = await searched(port, 5.0)
    empty_mib = memory()
    asking = asyncio.ensure_future(searched(port, 20.0))
    held = await opened(port, streams)
    during, failed = await asking
    grown_mib = memory() - empty_mib
    await asyncio.sleep(1.0)
    there = sum(not reader.at_eof() and reader.exception() is None for reader, _ in held)
    for _, writer in held:
        writer.close()
    p95 = [statistics.quantiles(each, n=20)[-1] for each in (before, during)]
    return [
        Figure(f"connections let in, of {streams:,}", float(there), ""),
        Figure(f"searches from another address that failed, of {len(during)}", float(failed), "", at_most=0.0),
        Figure("search, 95 %, without the streams", 1e3 * p95[0], "ms"),
        Figure("search, 95 %, beside them", 1e3 * p95[1], "ms"),
        Figure("the server grew by", grown_mib, "MiB", at_most=100.0),
    ]


def made(directory: Path) -> Path:
    """Crawl a small web."""

    async def go() -> None:
        async with Loopback(hosts=2, pages=200, changing=0) as server:
            config = Config(delay_s=0.0, allow_net=(NETWORK,))
            await crawl(directory, config, server.seeds, Limits(until_idle=True, seconds=120))

    asyncio.run(go())
    return directory


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=10_000)
    args = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, args.streams + 500), hard), hard))
    with tempfile.TemporaryDirectory() as folder, serving(made(Path(folder) / "crawl")) as server:
        port = int(server.said["link"].partition("//")[2].partition("/")[0].rpartition(":")[2])
        figures = asyncio.run(measured(port, args.streams, server.memory_mib))
    print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
