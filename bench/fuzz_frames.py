"""The whole crawl against servers of HTTP/2 that send random frames: torn, padded, reordered, of every kind, or broken.

    python bench/fuzz_frames.py [--visits 2000] [--seed 1]

Real sockets and libcurl, with TLS, on loopback: two dozen servers answer each request with what a seed draws, from a
page in ordinary frames to bytes at random. After each life of some hundred visits the directory has to be sound;
nothing may raise, and the process may not have had more than 512 MiB.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import resource
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fuzz_crawl import MOST_MIB, drawn_body

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from loopback import Server2

if TYPE_CHECKING:
    from asyncio import StreamWriter

LIFE: Final = 200
HOSTS: Final = 24
PATHS: Final = 12
DEADLINE_S: Final = 0.4
MOST_S: Final = 20.0
"""Of a life."""
_NOT_FOUND: Final = b"\x8d"  # :status 404, as HPACK has it
_FIELDS: Final = (
    ("content-type", "text/html"), ("content-type", "text/plain"), ("content-encoding", "gzip"), ("etag", '"x"'),
    ("content-length", "5"), ("content-length", "99999999"), ("location", "/1"), ("connection", "close"),
    ("transfer-encoding", "chunked"), (":status", "200"), (":path", "/"), ("Upper", "case"), ("x", "\0"), ("", "x"),
    ("retry-after", "1"), ("x", "y" * 120),
)  # fmt: skip
_STATUS: Final = ("200", "200", "200", "301", "304", "404", "500", "103", "999", "000", "70000", "", "-1")


class DrawnServer(Server2):
    """Answers the first request, which is for robots.txt, with 404, and others with random frames."""

    def __init__(self, address: str, draw: random.Random) -> None:
        super().__init__(address)
        self._draw = draw
        self._greeted = False

    async def answer_stream(self, writer: StreamWriter, stream: int) -> None:
        """Send what is drawn."""
        if not self._greeted:
            self._greeted = True
            writer.write(self.frame(self.HEADERS, self.END_HEADERS | self.END_STREAM, stream, _NOT_FOUND))
            return
        data = b"".join(self._frames(stream))
        draw = self._draw
        if draw.random() < 0.25:
            data = _broken(draw, data)
        for at in range(0, len(data), 4096):
            if writer.is_closing():
                return
            writer.write(data[at : at + 4096])
            with contextlib.suppress(ConnectionError):
                await writer.drain()
        if draw.random() < 0.05:
            writer.close()

    def _frames(self, stream: int) -> list[bytes]:
        draw, frames = self._draw, list[bytes]()
        for _ in range(draw.choice((0, 0, 0, 1, 2))):
            frames.append(self._stray(stream))
        frames += self._head(stream)
        body = drawn_body(draw) + b"".join(b"<a href=/%d>x</a>" % draw.randrange(PATHS) for _ in range(3))
        while body:
            size = draw.choice((1, 100, 5_000, 16_384))
            piece, body = body[:size], body[size:]
            if len(frames) > 200:
                piece, body = piece + body[:10_000], b""
            frames.append(self._data(stream, piece, last=not body))
            if draw.random() < 0.05:
                frames.append(self._stray(stream))
        return frames

    def _head(self, stream: int) -> list[bytes]:
        draw = self._draw
        block = self.STATUS_200 if draw.random() < 0.6 else self.field(":status", draw.choice(_STATUS))
        block += self.field("content-type", "text/html")
        block += b"".join(self.field(*draw.choice(_FIELDS)) for _ in range(draw.choice((0, 0, 1, 4))))
        if draw.random() < 0.8:
            return [self.frame(self.HEADERS, self.END_HEADERS, stream, block)]
        cut = draw.randrange(len(block))
        return [
            self.frame(self.HEADERS, 0, stream, block[:cut]),
            *([self._stray(stream)] if draw.random() < 0.2 else []),
            self.frame(self.CONTINUATION, self.END_HEADERS, stream, block[cut:]),
        ]

    def _data(self, stream: int, piece: bytes, *, last: bool) -> bytes:
        draw, flags = self._draw, self.END_STREAM if last and self._draw.random() < 0.95 else 0
        if draw.random() < 0.2:
            padding = draw.randrange(200)
            told = draw.choice((padding, padding, padding, 255))
            return self.frame(self.DATA, flags | self.PADDED, stream, bytes([told]) + piece + bytes(padding))
        return self.frame(self.DATA, flags, stream, piece)

    def _stray(self, stream: int) -> bytes:
        """Return a frame that nobody asked for."""
        draw = self._draw
        kind = draw.choice((self.PING, self.SETTINGS, 8, 2, 10, 200, self.PUSH, self.AWAY, self.RESET, self.HEADERS))
        size = draw.choice((0, 4, 4, 5, 6, 8, 17))
        where = draw.choice((0, stream, stream, stream + 2, 2, 1 << 31))
        return self.frame(kind, draw.choice((0, 0, 1, 4, 255)), where, draw.randbytes(size))


def _broken(draw: random.Random, data: bytes) -> bytes:
    """Return bytes that were turned, cut, doubled or put at random."""
    at = draw.randrange(len(data) + 1)
    match draw.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + draw.randbytes(draw.randrange(1, 40)) + data[at:]
        case 2:
            return data[:at] + data
        case _:
            changed = bytearray(data)
            for _ in range(draw.randrange(1, 6)):
                changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
            return bytes(changed)


def live(seed: int, visits: int, folder: Path) -> int:
    """Live through so many visits; return how many were made.

    Raises
    ------
    AssertionError
        The directory is not sound.
    Exception
        Whatever the crawl raised.
    """
    settings = Config(
        delay_s=0.0, allow_net=(NETWORK,), workers="0", index=False, verify_tls=False, refresh_after_s=1.0,
        exchange_deadline_s=DEADLINE_S, body_max_bytes=1 << 20, connections=16,
    )  # fmt: skip

    async def run() -> int:
        async with contextlib.AsyncExitStack() as stack:
            servers = [
                await stack.enter_async_context(DrawnServer(f"127.0.0.{at + 2}", random.Random(f"{seed} {at}")))
                for at in range(HOSTS)
            ]
            seeds = [server.url(f"/{at}") for server in servers for at in range(PATHS)]
            summary = await crawl(folder, settings, seeds, Limits(pages=visits, seconds=MOST_S))
        return summary.visits

    made = asyncio.run(run())
    wrong = verify(folder).wrong
    assert not wrong, f"seed {seed}: {wrong[:3]}"
    errors = folder / "errors.log"
    assert not errors.exists(), f"seed {seed}: {errors.read_text()[:2000]}"
    return made


def main() -> int:
    """Live until so many visits are made; return the exit code."""
    parser = argparse.ArgumentParser(description="Crawl servers of HTTP/2 that send random frames.")
    parser.add_argument("--visits", type=int, default=2_000, metavar="N", help="visits in all (default 2000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the first life (default 1)")
    options = parser.parse_args()
    done, seed = 0, options.seed
    while done < options.visits:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-frames-"))
        try:
            done += max(live(seed, min(LIFE, options.visits - done), folder / "crawl"), 1)
        except Exception:
            print(f"seed {seed} fails", flush=True)
            raise
        finally:
            shutil.rmtree(folder)
        seed += 1
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{done:,} visits in {seed - options.seed} lives: nothing raised, all directories sound, {mib:.0f} MiB at most"
    )
    return 0 if mib <= MOST_MIB else 1


if __name__ == "__main__":
    sys.exit(main())
