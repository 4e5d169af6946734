"""Fuzz every reader of foreign bytes, and every file of a crawl directory.

    python bench/fuzz.py --seconds 5            # so long for each target
    python bench/fuzz.py --hours 8              # for all targets together, in turn, with new seeds (make fuzz)
    python bench/fuzz.py --target robots --seed 7 --seconds 60
    python bench/fuzz.py --replay bench/kept/fuzz/robots/1f2e.bin

A case is made of the samples of a target: bits turned, pieces cut, doubled, moved and mixed, numbers at their limits,
and words that mean something to the reader. A reader must return, in time, or raise what it says it raises; the target
`kernels` has compiled code read cases between pages that it may not touch (bench/guarded.py). What breaks one is kept
in bench/kept/fuzz/TARGET, and is tried first by each later run and by the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import contextlib
import gzip
import hashlib
import json
import random
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from guarded import guarded

from evercrawl.ask.status import status
from evercrawl.ask.verify.verify import verify
from evercrawl.change.dates import http_date, w3c_date
from evercrawl.config import Config, load
from evercrawl.crawl import crawl
from evercrawl.crawl.backoff import retry_after_s
from evercrawl.crawl.workers.worker import Body
from evercrawl.errors import EvercrawlError
from evercrawl.fetch.answer import settle, unwrap
from evercrawl.fetch.asking import validator
from evercrawl.fetch.coding import dechunk, decode
from evercrawl.fetch.directives import x_robots
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import read_resolve_file
from evercrawl.fetch.robots import Robots
from evercrawl.fetch.robots_policy import fresh_s
from evercrawl.http_head import head_fields, status_of
from evercrawl.model.stored.contents import contents
from evercrawl.model.worth.usage import Tail
from evercrawl.parse import html
from evercrawl.parse.listings.feed import read_feed
from evercrawl.parse.listings.sitemap import SitemapReader
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname, normalise, origin, path_query, resolve
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store.archive.answer import stored
from evercrawl.store.archive.cdxj import media_type
from evercrawl.store.archive.surt import surt_key
from evercrawl.store.archive.warc_read import parse, walk
from evercrawl.store.disk.disk import RealDisk
from evercrawl.types import Exchange, Request

KEPT = Path(__file__).parent / "kept" / "fuzz"
MOST_S = 5.0
"""Seconds of this process after which a case counts as one that hangs."""
MOST_BYTES = 200_000
URL = "http://a.example/dir/page?x=1"


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes
    ----------
    run
        Reads one case; raises where that is the reader's fault.
    samples
        What cases are made of.
    words
        Pieces that mean something to it.
    costly
        Whether a case takes a good part of a second.
    """

    run: Callable[[bytes], None]
    samples: Sequence[bytes]
    words: Sequence[bytes] = ()
    costly: bool = False


# Readers


def _heads(data: bytes) -> None:
    lines = [line + b"\n" for line in data.split(b"\n")]
    exchange = Exchange(Request(URL), 1e9, wire=data[-100:])
    settle(exchange, lines, 0, "")
    assert exchange.status == 0 or 100 <= exchange.status < 600 or exchange.status == 999
    assert exchange.status or exchange.error
    if exchange.status:
        assert status_of(exchange.head) == exchange.status
        assert head_fields(exchange.head) == exchange.headers
    retry_after_s(Exchange(Request(URL), 1e9, status=429, headers=exchange.headers), 1e9)
    for value in exchange.headers.values():
        http_date(value), validator(value), fresh_s(value), x_robots(value, "evercrawl"), media_type(value)
        moved = normalise(value, URL)
        assert moved is None or moved.startswith(("http://", "https://"))


def _bodies(data: bytes) -> None:
    coding, _, body = data.partition(b"\n")
    headers = {"content-encoding": coding.decode("latin-1"), "transfer-encoding": "chunked"}
    for version in ("1.1", "2"):
        exchange = Exchange(Request(URL, max_body_bytes=1 << 20), 1e9, wire=body, headers=headers, http_version=version)
        unwrap(exchange)
        assert len(exchange.body) <= 1 << 20
    decode(body, coding.decode("latin-1"), 1 << 20)
    dechunk(body, 1 << 20)


def _pages(data: bytes) -> None:
    kind, _, body = data.partition(b"\n")
    headers = {"content-type": kind.decode("latin-1"), "x-robots-tag": kind.decode("latin-1")}
    for text in (True, False):
        found = contents(
            Body(URL, headers, "1.1", body, False, 1 << 20, 1 << 20, False, 0, 0, "evercrawl", text, bytes(16))
        )
        assert all(target.startswith(("http://", "https://")) for target in found.targets)
        assert len(found.keys) == 8 * len(found.targets)


def _trees(data: bytes) -> None:
    said = html.markdown(data, URL)
    assert "](javascript:" not in said.lower().replace("\\](", "")
    html.links(data, URL)


def _robots(data: bytes) -> None:
    robots = Robots(data)
    rules = robots.rules("evercrawl")
    for path in ("/", "/robots.txt", "/a?b", "/" + "a" * 2_000):
        rules.allowed(path)
    delay_s = robots.crawl_delay_s("evercrawl")
    assert delay_s is None or delay_s >= 0
    for address in robots.sitemaps[:100]:
        normalise(address, URL)


def _sitemaps(data: bytes) -> None:
    for kind in ("application/xml", "text/plain", ""):
        reader = SitemapReader(data, "http://a.example/sitemap.xml", kind, 1_000)
        while reader.step():
            pass
        for entry in reader.sitemap.pages:
            assert normalise(entry.url) == entry.url
            w3c_date(entry.dated)


def _feeds(data: bytes) -> None:
    for entry in read_feed(data, URL).entries:
        http_date(entry.dated), w3c_date(entry.dated)


def _urls(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for url in (normalise(text), normalise(text, URL), *resolve(URL, text.split("\n"))):
        if url is not None:
            assert normalise(url) == url
            assert normalise("/", url) == f"{origin(url)}/"
            surt_key(url), site(hostname(url)), origin(url), path_query(url), Guard().judge_url(url)
    Guard().judge(text)


def _dates(data: bytes) -> None:
    text = data.decode("latin-1")
    for at in (http_date(text), w3c_date(text)):
        assert at is None or abs(at) < 1e12


def _warc(data: bytes) -> None:
    with _file(data, "x.warc.gz") as path:
        disk = RealDisk(path.parent, read_only=True)
        with contextlib.closing(disk), contextlib.suppress(EvercrawlError):
            for found in walk(disk, path.name):
                if found.record.kind in ("response", "revisit"):
                    stored(found.record)
            parse(data)


def _settings(data: bytes) -> None:
    with _file(data, "crawl.toml") as path, contextlib.suppress(EvercrawlError):
        load(path)


def _names(data: bytes) -> None:
    with _file(data, "names") as path, contextlib.suppress(EvercrawlError):
        read_resolve_file(path)


def _usage(data: bytes) -> None:
    with _file(data, "usage.jsonl") as path:
        tail = Tail(path)
        for _ in tail.read():
            pass


@contextlib.contextmanager
def _file(data: bytes, name: str) -> Iterator[Path]:
    """Give a file with this content, for as long as it is read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


# A crawl directory


@cache
def made_crawl() -> Path:
    """Return a small crawl directory of real sockets, made once a process."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-")) / "crawl"
    atexit.register(shutil.rmtree, folder.parent, ignore_errors=True)
    settings = Config(delay_s=0, allow_net=(NETWORK,), workers="0", policy="price")

    async def run() -> None:
        async with Loopback(hosts=2, pages=8, changing=0) as server:
            await crawl(folder, settings, server.seeds, Limits(until_idle=True, seconds=30))

    asyncio.run(run())
    return folder


def files() -> dict[str, str]:
    """Return the kinds of files of a crawl directory, and the first file of each."""
    folder, kinds = made_crawl(), dict[str, str]()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and path.stat().st_size and name != "lock" and not name.startswith("search/"):
            kinds.setdefault(f"archive{path.suffix}" if "/" in name else name.partition("-0")[0], name)
    return kinds


def _in_place(name: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "crawl"
            shutil.copytree(made_crawl(), copy)
            (copy / name).write_bytes(data)
            for ask in (verify, status, _start):
                with contextlib.suppress(EvercrawlError):
                    ask(copy)

    return run


def _start(directory: Path) -> None:
    asyncio.run(crawl(directory, Config(workers="0", index=False), [], Limits(seconds=0.0)))


def of_file(name: str) -> Target:
    """Return the target that damages one file of a crawl directory, and then opens it in every way."""
    return Target(_in_place(name), [(made_crawl() / name).read_bytes()], [b"\0" * 8, b"\xff" * 8], costly=True)


_PAGE = b"""text/html; charset=utf-8
<!doctype html><html lang=en><head><title>A title</title><base href=/b/><meta name=robots content=noindex>
<link rel=canonical href=/c><meta http-equiv=refresh content='5; url=/d'></head><body><p>Words
<a href='x?y=1&amp;z#f' rel=nofollow>link</a><form action=/search><input name=q></form>
<script>var a='<a href=q>';</script><!-- c --><svg><a xlink:href=u></a></svg>
<textarea><a href=v></textarea><iframe src=w></iframe></body>"""
_HEAD = b"""HTTP/1.1 200 OK
Content-Type: text/html
Date: Sun, 06 Nov 1994 08:49:37 GMT
ETag: "x"
Retry-After: 3
Location: /a
Cache-Control: max-age=60
Content-Encoding: gzip

""".replace(b"\n", b"\r\n")
_MAP = (
    b"<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://a.example/1</loc>"
    b"<lastmod>2023-11-01T00:00:00+01:00</lastmod></url><url><loc>http://a.example/2</loc></url></urlset>"
)
_FEED = b"<rss><channel><item><link>/1</link><pubDate>Wed, 01 Nov 2023 00:00:00 GMT</pubDate></item></channel></rss>"
_RULES = b"User-agent: *\nDisallow: /a*b$\nAllow: /a\nCrawl-delay: 2\nSitemap: http://a.example/s.xml\n"
_RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2023-11-01T00:00:00Z\r\n"
    b"WARC-Target-URI: http://a.example/\r\nContent-Length: 21\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi\r\n\r\n"
)
_TAGS = [
    b"<a href=",
    b"</",
    b"<!--",
    b"-->",
    b"<script>",
    b"<![CDATA[",
    b"&#x0;",
    b"&amp",
    b"javascript:",
    b"<base href=",
]

READERS = {
    "heads": Target(_heads, [_HEAD], [b"HTTP/1.1 ", b"\r\n\r\n", b": ", b"200", b"99999", b"\xa0", b"HTTP/2 "]),
    "bodies": Target(
        _bodies,
        [
            b"gzip\n" + gzip.compress(b"a" * 500),
            b"deflate\n" + zlib.compress(b"b" * 500),
            b"br\n\x0b\x02\x80page\x03",
            b"\n5\r\nhello\r\n0\r\n\r\n",
            b"gzip, br\n" + gzip.compress(gzip.compress(b"c" * 900)),
        ],
        [b"gzip", b"x-gzip", b"identity", b"br", b"\r\n", b"ffffffff", b"0\r\n\r\n", b"\x1f\x8b\x08"],
    ),
    "pages": Target(
        _pages, [_PAGE, b"text/plain\nwords", b"application/rss+xml\n" + _FEED], [*_TAGS, b"charset=utf-16"]
    ),
    "trees": Target(_trees, [_PAGE.partition(b"\n")[2]], _TAGS),
    "robots": Target(
        _robots, [_RULES], [b"User-agent:", b"Disallow:", b"*", b"$", b"\xef\xbb\xbf", b"Crawl-delay: 1e9"]
    ),
    "sitemaps": Target(
        _sitemaps,
        [_MAP, gzip.compress(_MAP), _FEED, b"http://a.example/1\nhttp://a.example/2\n"],
        [b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"<loc>", b"</url>", b"<sitemap>", b"<![CDATA["],
    ),
    "feeds": Target(
        _feeds, [_FEED, b"<feed><entry><link href='/2'/><updated>2023-01-01</updated></entry></feed>"], _TAGS
    ),
    "urls": Target(
        _urls,
        [
            URL.encode(),
            b"//b.example:8080/x/../y?z#f",
            b"http://[::1]/",
            b"http://xn--a.example/",
            "http://ü.example/ß".encode(),
        ],
        [b"xn--", b"://", b"@", b"[", b"]", b"%", b"%00", b"..", b"\\", b"0x7f.1", b"\xe2\x80\x8b", b":", b"#", b"?"],
    ),
    "dates": Target(
        _dates,
        [b"Sun, 06 Nov 1994 08:49:37 GMT", b"2023-11-01T00:00:00.5+01:00", b"Sunday, 06-Nov-94 08:49:37 GMT"],
        [b"9999", b"-", b"+9999", b"GMT", b"\xb2", b"00", b"99"],
    ),
    "kernels": Target(guarded, [_PAGE, bytes(range(256)) * 4], _TAGS),
    "warc": Target(
        _warc, [_RECORD, gzip.compress(_RECORD) * 2], [b"WARC/1.1\r\n", b"Content-Length: 99999999", b"\r\n\r\n"]
    ),
    "settings": Target(
        _settings,
        [b'[pace]\ndelay_s = "2s"\n[scope]\ninclude = ["a.*"]\n[[focus]]\nurl = "/n/"\nweight = 4\n'],
        [b"[", b"]]", b'"""', b"= 1e999", b"= nan", b"delay_s", b"proxy", b"policy", b"\\u0000"],
    ),
    "names": Target(
        _names, [b"a.example 192.0.2.1 2001:db8::1\nb.example:443:192.0.2.2\n* 192.0.2.3 # c\n"], [b"*", b"::", b":"]
    ),
    "usage": Target(
        _usage,
        [b'{"query": "a", "at": 1.0, "shown": ["http://a/"], "opened": ["http://a/"]}\n'],
        [b"{", b"null", b"1e999"],
    ),
}


# Cases


def mutated(draw: random.Random, target: Target, more: Sequence[bytes] = ()) -> bytes:
    """Return a case made of a target's samples."""
    pool = [*target.samples, *more]
    data = bytearray(draw.choice(pool))
    for _ in range(1 + int(draw.expovariate(0.4))):
        at, end = sorted((draw.randrange(len(data) + 1), draw.randrange(len(data) + 1)))
        match draw.randrange(9):
            case 0 if data:
                data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            case 1:
                data[at:at] = draw.randbytes(draw.randrange(1, 9))
            case 2:
                del data[at : min(end, at + 40)]
            case 3:
                data[at:at] = data[at:end] * draw.choice((1, 2, 50))
            case 4 if target.words:
                data[at:at] = draw.choice(target.words)
            case 5:
                other = draw.choice(pool)
                data[at:] = other[min(at, len(other)) :]
            case 6:
                del data[at:]
            case 7 if data:
                number = draw.choice((0, 0x7F, 0x80, 0xFF))
                data[at : at + 4] = bytes([number]) * len(data[at : at + 4])
            case _:
                data[at:at] = str(draw.choice((0, -1, 2**31, 2**63, 2**64, 10**30, 1e308))).encode()
        if len(data) > MOST_BYTES:
            del data[MOST_BYTES:]
    return bytes(data)


def attempt(target: Target, data: bytes) -> str:
    """Run a case; return what is wrong, "" if nothing is."""
    began = time.process_time()
    try:
        target.run(data)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    took_s = time.process_time() - began
    return f"took {took_s:.1f} s" if took_s > MOST_S * (4 if target.costly else 1) else ""


def kept(name: str) -> list[bytes]:
    """Return the cases that broke a target once."""
    return [path.read_bytes() for path in sorted((KEPT / name.replace("/", "_")).glob("*.bin"))]


def keep(name: str, data: bytes) -> Path:
    """Keep a case that broke a target."""
    folder = KEPT / name.replace("/", "_")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.blake2b(data, digest_size=8).hexdigest()}.bin"
    path.write_bytes(data)
    return path


def cases(name: str, target: Target, seed: int) -> Iterator[bytes]:
    """Yield the cases that were kept, the samples, and then made-up ones without end."""
    old = kept(name)
    yield from old
    yield from target.samples
    draw = random.Random(f"{name} {seed}")
    while True:
        yield mutated(draw, target, old)


def fuzz(name: str, target: Target, seed: int, seconds: float) -> dict[str, object]:
    """Run cases for a while, and return what came of it; the first that breaks the target is kept."""
    began, count = time.monotonic(), 0
    for data in cases(name, target, seed):
        wrong = attempt(target, data)
        count += 1
        if wrong:
            return {"target": name, "seed": seed, "cases": count, "wrong": wrong, "kept": str(keep(name, data))}
        if time.monotonic() > began + seconds:
            break
    return {"target": name, "seed": seed, "cases": count, "wrong": "", "kept": ""}


def targets() -> dict[str, Target]:
    """Return all targets, by name: readers, and files of a crawl directory."""
    return READERS | {f"file-{kind}": of_file(name) for kind, name in files().items()}


def main() -> int:
    """Fuzz what the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each target (default: 5)")
    parser.add_argument("--hours", type=float, default=0.0, help="for all together, round after round")
    parser.add_argument("--target", action="append", help="only this one (repeatable)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", type=Path, help="run one kept case")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    chosen = {name: one for name, one in targets().items() if not args.target or name in args.target}
    if args.replay:
        name = next(name for name in chosen if name.replace("/", "_") == args.replay.parent.name)
        chosen[name].run(args.replay.read_bytes())
        return 0
    broken, until, seed = 0, time.monotonic() + 3600 * args.hours, args.seed
    while True:
        for name, target in chosen.items():
            found = fuzz(name, target, seed, args.seconds)
            broken += bool(found["wrong"])
            line = f"{name:<32}{found['cases']:>8,} cases  {found['wrong'] or 'fine'}  {found['kept']}".rstrip()
            print(json.dumps(found) if args.json else line, flush=True)
        seed += 1
        if time.monotonic() > until:
            return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
