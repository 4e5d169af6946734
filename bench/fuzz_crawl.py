"""The whole crawl against a web of random bytes: heads, bodies, codings, robots.txt, sitemaps, dates, redirects, names.

    python bench/fuzz_crawl.py [--visits 20000] [--seed 1]

The shipped loop runs on a virtual clock; its network hands the crawl's own reader of answers whatever a seed draws.
Each life is of some hundred visits, after which the directory has to be sound; nothing may raise, in judging or in
applying, and the process may not have had more than 512 MiB. A seed and a number repeat what they found.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import random
import resource
import shutil
import sys
import tempfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.fetch.answer import settle
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import NameAnswer, ResolveError
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.parse.urls import path_query
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import MadeNetwork, inline
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.partition import Partition

if TYPE_CHECKING:
    from evercrawl.types import Exchange

MOST_MIB: Final = 512
LIFE: Final = 400
_HOSTS: Final = ("a.test", "www.a.test", "b.test", "8.8.1.1", "[2a00:1450::1]", "x--y.test", "c.github.io")
_STATUS: Final = (b"200 OK", b"200", b"301 M", b"302 F", b"304 N", b"404 N", b"410 G", b"429 T", b"500 E", b"503 S",
                  b"999 X", b"100 C", b"70000 OK", b"-1", b"\xff\xfe", b"2" + b"0" * 30, b"204 N",
                  b"206 P")  # fmt: skip
_DATES: Final = (b"Thu, 01 Jan 1970 00:00:00 GMT", b"Fri, 31 Dec 9999 23:59:59 GMT", b"-1", b"0", b"\xb2",
                 b"Wed, 14 Nov 2023 22:13:20 GMT", b"9" * 40)  # fmt: skip
_TYPES: Final = (b"text/html", b"text/html; charset=utf-16", b"text/html; charset=\xe9", b"application/xml", b"",
                 b"text/plain", b"application/rss+xml", b"image/png", b'text/html; charset="',
                 b"\xa0text/html")  # fmt: skip
_CODINGS: Final = (b"gzip", b"deflate", b"br", b"zstd", b"gzip, gzip", b"gzip\xa0", b"identity", b"x", b"")
_MARKUP: Final = (b"<a href='", b"<base href='", b"<title>", b"</title>", b"<!--", b"<script>", b"<meta name=robots ",
                  b"<link rel=canonical href='", b"<meta http-equiv=refresh content='0;url=", b"&#x110000;", b"&amp",
                  b"<urlset>", b"<url><loc>", b"</loc><lastmod>", b"<sitemapindex><sitemap><loc>", b"<rss><item><link>",
                  b"User-agent: *\n", b"Disallow: /", b"Crawl-delay: ", b"Sitemap: ", b"Allow: /*$", b"\x00", b"'>",
                  b"<?xml version='1.0' encoding='", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"\xed\xa0\x80")  # fmt: skip


class RandomNetwork(MadeNetwork):
    """Answers every request with what a seed draws, as the bytes of a head and of a body."""

    def __init__(self, draw: random.Random, clock: VirtualClock, guard: Guard) -> None:
        super().__init__(_Silent(), clock, judge=guard.judge)
        self._draw = draw

    def _carry_out(self, exchange: Exchange, headers: dict[str, str], at: float) -> float:
        draw, request = self._draw, exchange.request
        lasts_s = draw.choice((0.01, 0.1, 1.0, 5.0, 29.0))
        code = draw.choice((0, 0, 0, 0, 0, 0, 7, 18, 28, 52, 56, 60, 92))
        body, lines = drawn_body(draw), _head(draw)
        robots = path_query(request.url) == "/robots.txt"
        if robots and draw.random() < 0.7:  # else most hosts would be closed all the time
            body, lines, code = b"User-agent: *\nDisallow: /no\n", [b"HTTP/1.1 200 OK\r\n", b"\r\n"], 0
        if code in (7, 60):  # nobody was asked
            body, lines = b"", list[bytes]()
        exchange.sent = f"{request.method} {path_query(request.url)} HTTP/1.1\r\n\r\n".encode()
        exchange.wire = b"" if request.head else body[: request.max_wire_bytes]
        exchange.truncated = len(body) > request.max_wire_bytes
        words = "".join(chr(draw.choice((65, 27, 0xDCF4, 0x10FFFF, 10))) for _ in range(9))
        settle(exchange, lines, code, words if code else "")
        return min(lasts_s, request.deadline_s)


class _Silent:
    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        raise AssertionError("the network answers by itself")


class RandomNames:
    """Answers for names, or not, as a seed draws."""

    label = "random names"

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw

    async def resolve(self, host: str) -> NameAnswer:
        """Return an address, mostly."""
        await asyncio.sleep(self._draw.choice((0.01, 0.1, 16.0)) if self._draw.random() < 0.2 else 0.01)
        kind = self._draw.random()
        if kind < 0.1:
            raise ResolveError(self._draw.choice(("no such name", "time-out", "refused")))
        where = "10.0.0.1" if kind < 0.15 else f"8.8.{self._draw.randrange(4)}.{self._draw.randrange(1, 250)}"
        return NameAnswer((where,), self._draw.choice((None, 0.0, 60.0, 1e9)))


def _url(draw: random.Random) -> bytes:
    junk = bytes(draw.randrange(256) for _ in range(draw.randrange(6)))
    host = draw.choice(_HOSTS)
    return draw.choice((b"/", b"//", f"http://{host}/".encode(), f"https://{host}:8443/".encode(), b"?", b"")) + (
        draw.choice((b"%d" % draw.randrange(400), junk, b"robots.txt", b"a" * 9000, b"../..", b"#x", b"s.xml"))
    )


def _head(draw: random.Random) -> list[bytes]:
    status = draw.choice(_STATUS) if draw.random() < 0.5 else b"200 OK"
    fields = [
        (b"Content-Type", draw.choice(_TYPES)), (b"Content-Encoding", draw.choice(_CODINGS)),
        (b"Last-Modified", draw.choice(_DATES)), (b"Date", draw.choice(_DATES)), (b"Location", _url(draw)),
        (b"Retry-After", draw.choice((*_DATES, b"5", b"1e9"))), (b"ETag", draw.choice((b'"x"', b"W/\xff", b"y" * 999))),
        (b"Link", b"<" + _url(draw) + b">; rel=canonical"), (b"X-Robots-Tag", draw.choice((b"noindex", b"none,,:"))),
        (b"Content-Length", draw.choice((b"0", b"99999999999", b"-1"))), (b"Transfer-Encoding", b"chunked"),
        (b"Cache-Control", draw.choice((b"max-age=99999999999", b"no-store", b"max-age="))),
    ]  # fmt: skip
    chosen = [field for field in fields if draw.random() < 0.3]
    version = draw.choice((b"1.1", b"1.1", b"2", b"1.0"))
    if version == b"2":  # libcurl ends a stream that has such a field
        chosen = [field for field in chosen if field[0] != b"Transfer-Encoding"]
    lines = [b"HTTP/" + version + b" " + status + b"\r\n"]
    return [*lines, *(name + b": " + value.replace(b"\n", b"") + b"\r\n" for name, value in chosen), b"\r\n"]


def drawn_body(draw: random.Random) -> bytes:
    """Return a body of random markup, words that mean something among it; often packed or cut."""
    pieces = list[bytes]()
    for _ in range(draw.randrange(60)):
        pieces += [draw.choice(_MARKUP), _url(draw) if draw.random() < 0.7 else draw.randbytes(draw.randrange(20))]
    body = b"".join(pieces)
    kind = draw.random()
    if kind < 0.1:
        body = gzip.compress(body * draw.choice((1, 1, 400)), 1)
    elif kind < 0.15:
        body = zlib.compress(body)
    elif kind < 0.2:
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    return body[: draw.randrange(len(body) + 1)] if draw.random() < 0.1 else body


def live(seed: int, visits: int, folder: Path) -> int:
    """Live through so many visits; return how many were made.

    Raises
    ------
    AssertionError
        The directory is not sound.
    Exception
        Whatever the crawl raised.
    """
    draw = random.Random(seed)
    config = Config(
        scope=draw.choice(("any", "domains")), delay_s=draw.choice((0.0, 0.5)),
        refresh_after_s=draw.choice((1.0, 60.0)),
        connections=draw.choice((1, 8, 64)), body_max_bytes=draw.choice((10_000, 1 << 20)), index=False, workers="0",
        robots_bytes=1 << 20, max_backlog_per_host=500,
    )  # fmt: skip

    async def crawl() -> int:
        clock, guard = VirtualClock(), Guard()
        partition = Partition(
            folder, draw.randbytes, now=clock.now(), disk=RealDisk(folder), site=found_site,
            site_rules=site_rules(),
        )  # fmt: skip
        with closing(partition), closing(Memory.beside(partition, config, folder)) as memory:
            network = RandomNetwork(draw, clock, guard)
            outside = Outside(network, [RandomNames(draw)], clock, inline, guard, inline)
            one = assemble(config, memory, outside, lambda _: None)
            summary = await one.run(
                [f"http://{host}/{n}" for host in _HOSTS for n in range(20)], Limits(pages=visits, seconds=86_400.0)
            )
            one.close()
        return summary.visits

    made = run_virtual(crawl())
    wrong = verify(folder).wrong
    assert not wrong, f"seed {seed}: {wrong[:3]}"
    return made


def main() -> int:
    """Live until so many visits are made; return the exit code."""
    parser = argparse.ArgumentParser(description="Crawl a web of random bytes, and hold the crawl to being sound.")
    parser.add_argument("--visits", type=int, default=20_000, metavar="N", help="visits in all (default 20000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the first life (default 1)")
    options = parser.parse_args()
    done, seed = 0, options.seed
    while done < options.visits:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-crawl-"))
        try:
            done += max(live(seed, min(LIFE, options.visits - done), folder), 1)
        except Exception:
            print(f"seed {seed} fails", flush=True)
            raise
        finally:
            shutil.rmtree(folder)
        seed += 1
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{done:,} visits in {seed - options.seed} lives: nothing raised, every directory sound, {mib:.0f} MiB at most"
    )
    return 0 if mib <= MOST_MIB else 1


if __name__ == "__main__":
    sys.exit(main())
