# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Bodies without end, in drips, that lie about themselves, and that swell."""

import asyncio
import gzip
import time
import tracemalloc
import zlib

import brotli
import pytest

from evercrawl.clock import SystemClock
from evercrawl.fetch.answer import cut_words
from evercrawl.fetch.http import CurlNetwork
from evercrawl.types import Request

MIB = 1 << 20
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
CAP = 100_000  # bytes


def endless(head, data):
    async def reply(say):
        await say(head)
        await say.forever(data)

    return reply


@pytest.mark.parametrize(
    ("head", "data"),
    [
        (b"\r\n", b"x" * 65_536),
        (b"Content-Length: 99999999999\r\n\r\n", b"x" * 65_536),
        (b"Content-Length: 999999999999999999999999999\r\n\r\n", b"x" * 65_536),
        (CHUNKED, b"8000\r\n" + b"x" * 32_768 + b"\r\n"),
        (CHUNKED, b"1\r\nx\r\n" * 10_000),
        (CHUNKED + b"7fffffffffffffff\r\n", b"x" * 65_536),
    ],
    ids=["no length", "a length", "a length beyond numbers", "chunks", "chunks of a byte", "a chunk"],
)
def test_a_body_without_end_is_cut_at_the_cap(hostile, head, data):
    far = hostile.Far({"/": endless(hostile.OK + head, data)})
    (exchange,) = hostile.fetch(far, max_wire_bytes=CAP, max_body_bytes=CAP)
    assert (exchange.status, exchange.error, exchange.truncated) == (200, "", True)
    assert len(exchange.wire) == CAP
    assert exchange.detail == cut_words(CAP)
    assert 10_000 < len(exchange.body) <= CAP
    assert far.sent_bytes < 16 * MIB  # the kernel's buffers included
    assert exchange.elapsed_s < 2


def test_a_body_of_http_2_without_end_is_cut_at_the_cap(hostile):
    async def reply(far, writer, stream):
        writer.write(far.frame(far.HEADERS, far.END_HEADERS, stream, far.STATUS_200))
        for _ in range(4_000):
            writer.write(far.frame(far.DATA, 0, stream, b"x" * 16_000))
            await writer.drain()

    (exchange,) = hostile.fetch(hostile.Far2(reply), max_wire_bytes=CAP)
    assert (exchange.body, exchange.truncated) == (b"x" * CAP, True)


@pytest.mark.parametrize("head", [b"\r\n", b"Content-Length: 9999\r\n\r\n", CHUNKED])
def test_a_body_that_drips_is_cut_at_the_deadline(hostile, head):
    async def drip(say):
        await say(hostile.OK + head)
        await say.forever(b"1\r\nx\r\n" if head == CHUNKED else b"x", 0.02)

    (exchange,) = hostile.fetch(drip, deadline_s=0.3)
    assert (exchange.status, exchange.error, exchange.truncated) == (200, "", True)
    assert 0.25 < exchange.elapsed_s < 1.5
    assert 1 <= len(exchange.body) <= 20


# Lies


def test_more_than_its_length_is_not_taken(hostile):
    (exchange,) = hostile.fetch(hostile.OK + b"Content-Length: 2\r\n\r\nhi, and more")
    assert (exchange.body, exchange.wire, exchange.truncated) == (b"hi", b"hi", False)


def test_less_than_its_length_is_truncated_and_never_whole(hostile):
    async def reply(say):
        await say(hostile.OK + b"Content-Length: 5000\r\n\r\n<title>short</title>")

    far = hostile.Far({"/": reply})
    crawled = hostile.crawl(far)
    assert crawled.outcomes == {far.url(): "truncated"}
    assert far.asked.count("/") == 1


@pytest.mark.parametrize(
    ("kind", "body", "links"),
    [
        ("image/png", b"<a href=/x>", 0),
        ("application/octet-stream", b"<a href=/x>", 0),
        ("text/html", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, 0),
        ("text/html", b"%PDF-1.7 <a href=/x>", 1),  # said to be a page, so what links it has are followed
        ("text/html; charset=\"" + "x" * 50_000, b"<a href=/x>", 1),
        ("text/html, image/png", b"<a href=/x>", 0),
        ("", b" <a href=/x>", 1),
        ("/;;;=", b"<a href=/x>", 0),
    ],
    ids=["image", "bytes", "an image as a page", "a PDF as a page", "a long charset", "two kinds", "none", "rubbish"],
)  # fmt: skip
def test_what_is_not_said_to_be_a_page_is_not_read_for_links(hostile, kind, body, links):
    fields = [f"Content-Type: {kind}"] if kind else ["Content-Type:"]
    far = hostile.Far({"/": hostile.reply(body, *fields), "/x": hostile.page(text="other")})
    crawled = hostile.crawl(far)
    assert crawled.outcomes[far.url()] == "ok"
    assert len(crawled.outcomes) == 1 + links


# Codings


def layers(count, body):
    for _ in range(count):
        body = gzip.compress(body, 9)
    return body


def swollen(coding):
    zeros = bytes(64 * MIB)
    if coding == "deflate":
        return zlib.compress(zeros, 9)
    return brotli.compress(zeros, quality=3) if coding == "br" else gzip.compress(zeros, 9)


BOMBS = {
    "gzip": lambda: swollen("gzip"),
    "deflate": lambda: swollen("deflate"),
    "br": lambda: swollen("br"),
    "gzip, gzip": lambda: gzip.compress(swollen("gzip"), 9),
    "br, gzip": lambda: gzip.compress(swollen("br"), 9),
    "gzip, br, gzip": lambda: gzip.compress(brotli.compress(swollen("gzip"))),
}


@pytest.mark.parametrize("coding", BOMBS)
def test_a_bomb_costs_its_cap_however_it_is_wrapped(hostile, coding):
    reply = hostile.reply(BOMBS[coding](), f"Content-Encoding: {coding}")
    began = time.process_time()
    tracemalloc.start()
    (exchange,) = hostile.fetch(reply, max_body_bytes=4 * MIB)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (exchange.error, exchange.truncated, len(exchange.body)) == ("", True, 4 * MIB)
    assert exchange.detail == cut_words(4 * MIB)
    assert peak_bytes < 24 * MIB
    assert time.process_time() - began < 2


@pytest.mark.parametrize("count", [4, 100])
@pytest.mark.parametrize("field", ["Content-Encoding", "Transfer-Encoding"])
def test_more_codings_than_anybody_uses_are_not_undone(hostile, field, count):
    body = layers(count, b"<title>in</title>")
    names = ", ".join(["gzip"] * count)
    if field == "Transfer-Encoding":
        body, names = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body), names + ", chunked"
        reply = hostile.OK + f"Transfer-Encoding: {names}\r\n\r\n".encode() + body
    else:
        reply = hostile.reply(body, f"Content-Encoding: {names}")
    (exchange,) = hostile.fetch(reply, deadline_s=1.0)
    assert (exchange.error, exchange.body) == ("coding", b"")


def test_a_whole_crawl_meets_bodies_of_every_kind_and_reads_what_comes_after(hostile):
    async def drip(say):
        await say(hostile.OK + b"\r\n<title>drip</title>")
        await say.forever(b"z", 0.05)

    far = hostile.Far({
        "/": hostile.page("/endless", "/drip", "/bomb", "/short", "/chunks", "/after"),
        "/endless": endless(hostile.OK + b"\r\n<title>endless</title>", b"x" * 65_536),
        "/drip": drip,
        "/bomb": hostile.reply(swollen("br"), "Content-Encoding: br"),
        "/short": endless(hostile.OK + CHUNKED + b"5\r\nhello\r\n", b"zz\r\n"),
        "/chunks": hostile.OK + CHUNKED + b"zz\r\nhi\r\n0\r\n\r\n",
        "/after": hostile.page(title="after"),
    })  # fmt: skip
    crawled = hostile.crawl(far, body_max_bytes=MIB, seconds=25.0)
    label = {url.rpartition("/")[2]: outcome for url, outcome in crawled.outcomes.items()}
    assert label["after"] == "ok"
    assert (label["endless"], label["drip"], label["bomb"]) == ("truncated",) * 3
    assert (label["short"], label["chunks"]) == ("error",) * 2
    assert far.asked.count("/after") == 1


def test_many_large_bodies_at_once_hold_so_much_together_and_ordinary_ones_are_whole(hostile):
    """256 connections times 10 MiB would be 2.5 GiB."""

    async def large(say):
        await say(hostile.OK + b"\r\n")
        await say.forever(b"x" * 65_536)

    small = hostile.reply(b"s" * 50_000)
    far = hostile.Far({"/large": large, "/small": small})

    async def run() -> None:
        network = CurlNetwork(SystemClock(), lambda _: "", agent="t/1", max_connections=16, max_held_bytes=MIB)
        async with far:
            for i in range(16):
                network.start(Request(far.url("/small" if i % 4 == 3 else "/large"), deadline_s=9.0))
            async with asyncio.timeout(9.0):
                while network.in_flight:  # noqa: ASYNC110  (nothing may be handed over meanwhile)
                    await asyncio.sleep(0)
            ended.extend(await network.finished(0.0))
            network.start(Request(far.url("/large"), max_wire_bytes=MIB // 2, deadline_s=9.0))
            alone.extend(await network.finished(9.0))
            await network.close()

    ended, alone = [], []
    asyncio.run(run())
    large_bytes = [len(exchange.body) for exchange in ended if exchange.request.url.endswith("large")]
    assert sum(large_bytes) < 2 * MIB
    assert min(large_bytes) > MIB // 16
    assert all(exchange.truncated and exchange.detail for exchange in ended if exchange.request.url.endswith("large"))
    assert [exchange.body for exchange in ended if exchange.request.url.endswith("small")] == [b"s" * 50_000] * 4
    assert len(alone[0].wire) == MIB // 2  # what was handed over counts no more
