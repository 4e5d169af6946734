# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Heads of answers that flood, forge or break off."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.fetch.answer import settle
from evercrawl.fetch.asking import validator
from evercrawl.types import Exchange, Request

MIB = 1 << 20
HEAD_BYTES = 320 << 10  # of which no more is ever read


def loop(first, data):
    async def reply(say):
        await say(first)
        await say.forever(data)

    return reply


@pytest.mark.parametrize(
    ("first", "data"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"h" * 65536),
        (b"HTTP/1.1 200 ", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n" * 10_000),
        (b"HTTP/1.1 200 OK\r\na: b\r\n", b" folded\r\n" * 10_000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000),
        (b"", (b"HTTP/1.1 103 Early Hints\r\nLink: " + b"x" * 5_000 + b"\r\n\r\n") * 10),
    ],
    ids=["a line", "a status line", "lines", "folds", "interim answers", "interim answers with fields"],
)
def test_a_head_without_end_is_left_within_half_a_megabyte(hostile, first, data):
    far = hostile.Far({"/": loop(first, data)})
    (exchange,) = hostile.fetch(far)
    assert (exchange.error, exchange.status, exchange.wire) == ("too_large", 0, b"")
    assert exchange.elapsed_s < 2
    assert far.sent_bytes < 16 * MIB  # what the kernel's buffers took besides


def test_a_head_that_drips_ends_at_the_deadline(hostile):
    async def drip(say):
        await say(hostile.OK)
        await say.forever(b"a: b\r\n", 0.01)

    (exchange,) = hostile.fetch(drip, deadline_s=0.3)
    assert (exchange.error, exchange.status) == ("timeout", 0)
    assert 0.25 < exchange.elapsed_s < 1.5


@pytest.mark.parametrize(
    "start",
    [
        b"\r\n" * 50_000, b"\n" * 50_000, b"\r\n", b"HTTP/1.1 100 Continue\r\n\r\n\r\n", b"ICY 200 OK\r\n", b" ",
        b"HTTP/ 200 OK\r\n", b"\0", b"HTTP/1.1 200 OK\r\n\r\n"[:9],
    ],
)  # fmt: skip
def test_what_does_not_begin_as_http_does_is_an_error_and_the_network_goes_on(hostile, start):
    """Blank lines alone were once taken for a head, and the exchange never ended."""
    (exchange,) = hostile.fetch(start + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
    assert exchange.error == "protocol"
    assert exchange.body in (b"", b"hi")


@pytest.mark.parametrize(
    "status",
    [
        b"70000", b"2" + b"0" * 30, b"200" + b"0" * 5_000, b"1000", b"2000", b"600", b"099", b"-20", b"2\xb20", b"20",
        b"99999999999999999999", b"2 00",
    ],
    ids=lambda status: ascii(status[:20]),
)  # fmt: skip
def test_a_status_that_is_none_is_a_fault_of_the_protocol(hostile, status):
    (exchange,) = hostile.fetch(b"HTTP/1.1 " + status + b" OK\r\nContent-Length: 2\r\n\r\nhi")
    assert (exchange.error, exchange.status, exchange.wire) == ("protocol", 0, b"")


@pytest.mark.parametrize("status", [200, 204, 226, 299, 404, 451, 599, 999])
def test_a_status_that_is_one_is_taken(hostile, status):
    (exchange,) = hostile.fetch(b"HTTP/1.1 %d Words\r\nContent-Length: 0\r\n\r\n" % status)
    assert (exchange.error, exchange.status) == ("", status)


def test_a_fault_of_ours_in_reading_an_answer_is_heard_of(hostile, monkeypatch):
    monkeypatch.setattr("evercrawl.fetch.transfer.settle", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        hostile.fetch(hostile.page())


def test_cookies_by_the_thousand_are_neither_kept_nor_sent(hostile):
    lines = [f"Set-Cookie: c{i}={'x' * 40}; Path=/; Domain=127.0.9.1" for i in range(3_000)]
    far = hostile.Far({"/": hostile.reply(b"", *lines)})
    exchanges = hostile.fetch(far, times=2)
    assert [exchange.status for exchange in exchanges] == [200, 200]
    assert max(map(len, far.requests)) < 300
    assert not any(b"cookie" in head.lower() for head in far.requests)


@pytest.mark.parametrize("value", ["x" * 100_000, "\x01", "\x7f", "a\tb\x1b[2J", "", " ", "\u2603"])
def test_a_validator_that_cannot_be_sent_back_as_it_is_counts_as_none(value):
    assert validator(value) == ""


@pytest.mark.parametrize("value", ['"33a64"', 'W/"\xe9"', "Thu, 01 Jan 9999 00:00:00 GMT", "x" * 512])
def test_a_validator_that_can_be_sent_is_kept(value):
    assert validator(value) == value


def test_what_is_told_of_an_answer_is_short(hostile):
    names = ", ".join(f"coding{i}" for i in range(5_000))
    (exchange,) = hostile.fetch(hostile.reply(b"\0\1", f"Content-Encoding: {names}"))
    assert exchange.error == "coding"
    assert len(exchange.detail) < 200


@pytest.mark.parametrize("code", [0, 1, 7, 16, 18, 28, 52, 56, 60, 92])
@pytest.mark.parametrize(
    "words",
    ["\udcf4", "\udcff" * 999, "\x1b[2J\x07", "a\r\nb", "\u202e", "\x00", "\U0010ffff" * 500, "\x9b31m", "ok", ""],
)
def test_whatever_a_server_has_curl_say_is_visible_text(code, words):
    """In its words for a broken frame are bytes of that."""
    exchange = Exchange(Request("http://a.example/"), 1e9)
    settle(exchange, [], code, words)
    assert exchange.detail.isascii()
    assert exchange.detail.isprintable()
    assert len(exchange.detail) <= 200
    assert exchange.error


# HTTP/2


def a_field(name, value):
    return lambda far, s: far.frame(
        far.HEADERS, 5, s, far.STATUS_200 + b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
    )


@pytest.mark.parametrize("name", [b"\xf4", b"\xff\xfe" * 30, b"\x1b[2J", b"\x9b31m", b"A\x80", b"x\r\n"])
@pytest.mark.parametrize("value", [b"v", b"\xf4\x80\x00", b"\x1b]0;x\x07"])
def test_a_broken_field_of_http_2_is_told_in_visible_text(hostile, name, value):
    (exchange,) = hostile.fetch(hostile.Far2(frames(a_field(name, value))), deadline_s=2.0)
    for told in (exchange.error, exchange.detail, *exchange.headers, *exchange.headers.values()):
        told.encode()
    assert exchange.detail.isprintable()


def frames(make):
    async def reply(far, writer, stream):
        writer.write(make(far, stream))

    return reply


def flood(first, make):
    async def reply(far, writer, stream):
        writer.write(first(far, stream))
        for _ in range(5_000):
            writer.write(make(far, stream))
            await writer.drain()

    return reply


def head(far, stream):
    return far.frame(far.HEADERS, far.END_HEADERS, stream, far.STATUS_200)


def nothing(far, stream):
    return b""


def open_head(far, stream):
    return far.frame(far.HEADERS, 0, stream, far.STATUS_200)


def hpack_bomb(far, stream):
    """One field of 4 kB in the table, named 16,000 times by one byte each: 64 MB of head in 20 kB."""
    field = b"\x40\x01a\x7f\xe1\x1d" + b"x" * (0x7F + 0x61 + (0x1D << 7))
    return far.frame(far.HEADERS, far.END_HEADERS, stream, far.STATUS_200 + field + b"\xbe" * 12_000)


FLOODS = {
    "pings": (nothing, lambda far, _: far.frame(far.PING, 0, 0, b"12345678") * 2_000),
    "settings": (nothing, lambda far, _: far.frame(far.SETTINGS, 0, 0, b"\0\4\0\0\xff\xff" * 10) * 500),
    "continuations": (open_head, lambda far, s: far.frame(far.CONTINUATION, 0, s, far.field("a", "x" * 100)) * 100),
    "empty continuations": (open_head, lambda far, s: far.frame(far.CONTINUATION, 0, s, b"") * 1_000),
    "empty data": (head, lambda far, s: far.frame(far.DATA, 0, s, b"") * 5_000),
    "interim": (nothing, lambda far, s: far.frame(
        far.HEADERS, far.END_HEADERS, s, far.field(":status", "103") + far.field("link", "x" * 100)) * 100),
    "hpack": (hpack_bomb, nothing),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_frames_ends_the_exchange_early_and_cheaply(hostile, name):
    began = time.process_time()
    (exchange,) = hostile.fetch(hostile.Far2(flood(*FLOODS[name])))
    assert exchange.error in ("reset", "too_large", "protocol")
    assert exchange.body == b""
    assert exchange.elapsed_s < 2
    assert time.process_time() - began < 2


BROKEN = {
    "reset": lambda far, s: far.frame(far.RESET, 0, s, b"\0\0\0\x0b"),
    "away": lambda far, s: far.frame(far.AWAY, 0, 0, bytes(8)),
    "push": lambda far, s: far.frame(far.PUSH, 4, s, b"\0\0\0\2\x82\x84\x87") + head(far, s),
    "a status that is none": lambda far, s: far.frame(far.HEADERS, 5, s, far.field(":status", "abc")),
    "no status": lambda far, s: far.frame(far.HEADERS, 5, s, far.field("a", "b")),
    "a frame of 8 MB": lambda far, s: (1 << 23).to_bytes(3, "big") + bytes(2) + s.to_bytes(4, "big") + bytes(99_999),
    "less than its length": lambda far, s: far.frame(
        far.HEADERS, 5, s, far.STATUS_200 + far.field("content-length", "99")),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_frames_are_an_error(hostile, name):
    (exchange,) = hostile.fetch(hostile.Far2(frames(BROKEN[name])), deadline_s=2.0)
    assert exchange.error in ("reset", "protocol")
    assert (exchange.status, exchange.body) == (0, b"")


def test_line_breaks_in_a_field_of_http_2_make_no_field(hostile):
    forged = "a\r\ncontent-encoding: gzip"
    answer = frames(lambda far, s: far.frame(far.HEADERS, 5, s, far.STATUS_200 + far.field("x", forged)))
    (exchange,) = hostile.fetch(hostile.Far2(answer))
    assert "content-encoding" not in exchange.headers
    assert b"gzip" not in exchange.head


def test_a_body_in_frames_of_two_bytes_takes_no_more_memory_than_it_has(hostile):
    """As an object for each frame it would take thirty times as much."""
    far = hostile.Far2(flood(head, lambda far, s: far.frame(far.DATA, 0, s, b"xy") * 5_000))
    tracemalloc.start()
    (exchange,) = hostile.fetch(far, max_wire_bytes=MIB // 2, deadline_s=20.0)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(exchange.body), exchange.truncated) == (MIB // 2, True)
    assert peak_bytes < 5 * MIB


LINES = st.sampled_from([
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 301\r\n", b"HTTP/1.1 103 E\r\n", b"HTTP/2 404 \r\n", b"HTTP/1.1 101 S\r\n",
    b"\r\n", b"\n", b"a: b\r\n", b": x\r\n", b"no colon\r\n", b"Content-Encoding: gzip, br\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: ,;\xff\r\n",
])  # fmt: skip


@given(
    st.lists(LINES | st.binary(max_size=20), max_size=8), st.binary(max_size=60),
    st.sampled_from([0, 7, 8, 18, 28, 52, 56, 92, 100, 999]),
)  # fmt: skip
def test_any_lines_are_settled(lines, wire, code):
    exchange = Exchange(Request("http://example.org/"), 0.0, wire=wire)
    settle(exchange, lines, code, "words" if code else "")
    assert (exchange.status == 0) == (exchange.head == b"")
    assert exchange.error or exchange.status or not exchange.body
