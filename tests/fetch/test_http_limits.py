# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Caps, deadlines, and answers that are no HTTP."""

import asyncio
import gzip

import pytest
from answers import CHUNKED, OK, hold, outcome

# ---- caps and deadlines


def test_an_endless_body_is_cut_at_the_cap(fetcher):
    async def reply(connection):
        connection[1].write(OK + b"\r\n")
        while True:
            connection[1].write(b"x" * 65536)
            await connection[1].drain()

    exchange = fetcher.from_site(reply, max_wire_bytes=100_000)
    assert outcome(exchange) == (200, "", True, b"x" * 100_000)
    assert exchange.wire == exchange.body


def test_a_declared_length_over_the_cap_is_cut_too(fetcher):
    exchange = fetcher.from_site(fetcher.reply(b"x" * 300_000), max_wire_bytes=100_000)
    assert outcome(exchange) == (200, "", True, b"x" * 100_000)


def test_a_body_of_the_cap_is_whole(fetcher):
    exchange = fetcher.from_site(fetcher.reply(b"x" * 1000), max_wire_bytes=1000, max_body_bytes=1000)
    assert outcome(exchange) == (200, "", False, b"x" * 1000)


def test_a_bomb_is_cut_at_the_cap(fetcher):
    bomb = fetcher.reply(gzip.compress(bytes(20 << 20)), "Content-Encoding: gzip")
    exchange = fetcher.from_site(bomb, max_body_bytes=1 << 20)
    assert outcome(exchange) == (200, "", True, bytes(1 << 20))


def test_garbage_for_gzip(fetcher):
    exchange = fetcher.from_site(fetcher.reply(bytes(range(256)), "Content-Encoding: gzip"))
    assert (exchange.error, exchange.body, exchange.wire) == ("coding", b"", bytes(range(256)))


@pytest.mark.parametrize("head", [OK + b"Content-Length: 99\r\n\r\n", CHUNKED])
def test_a_short_body_is_truncated(fetcher, head):
    async def reply(connection):
        connection[1].write(head + (b"9\r\nhi" if head == CHUNKED else b"hi"))

    exchange = fetcher.from_site(reply)
    assert outcome(exchange) == (200, "", True, b"hi")


def after(first):
    async def reply(connection):
        connection[1].write(first)
        await hold(connection)

    return reply


def test_silence_until_the_deadline(fetcher):
    exchange = fetcher.from_site(hold, deadline_s=0.3)
    assert (exchange.status, exchange.error, exchange.truncated) == (0, "timeout", False)
    assert exchange.sent
    assert 0.25 < exchange.elapsed_s < 2


def test_a_body_cut_by_the_deadline(fetcher):
    async def drip(connection):
        connection[1].write(OK + b"Content-Length: 999\r\n\r\n")
        while True:
            connection[1].write(b"z")
            await asyncio.sleep(0.05)

    exchange = fetcher.from_site(drip, deadline_s=0.4)
    assert (exchange.status, exchange.error, exchange.truncated) == (200, "", True)
    assert 1 <= len(exchange.body) <= 9
    assert exchange.elapsed_s < 2


def test_a_head_without_a_body_until_the_deadline(fetcher):
    exchange = fetcher.from_site(after(OK + b"Content-Length: 9\r\n\r\n"), deadline_s=0.3)
    assert (exchange.status, exchange.error) == (200, "timeout")


@pytest.mark.parametrize(
    "head",
    [
        OK + b"X: " + b"h" * 2_000_000,
        OK + b"".join(b"X: %b\r\n" % (b"h" * 5000) for _ in range(400)),
        OK + b"".join(b"X%d: %b\r\n" % (i, b"h" * 5000) for i in range(54)) + b"Content-Length: 0\r\n\r\n",
    ],
    ids=["one line", "many lines", "just over"],
)
def test_a_huge_head_ends_early(fetcher, head):
    exchange = fetcher.from_site(after(head))
    assert (exchange.error, exchange.status, exchange.body) == ("too_large", 0, b"")
    assert exchange.elapsed_s < 3


# ---- broken protocol


@pytest.mark.parametrize(
    "reply",
    [
        CHUNKED + b"zz\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"-2\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"2\r\nhi\r\nzz\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"2\r\nhixx\r\n0\r\n\r\n",
        OK + b"Content-Length: -2\r\n\r\nhi",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
        OK + b"Content-Length: 2, 3\r\n\r\nhi",
        OK + b"Content-Length: 2x\r\n\r\nhi",
        OK + b"X: a\0b\r\nContent-Length: 2\r\n\r\nhi",
        OK + b"X: a\rB: c\r\nContent-Length: 2\r\n\r\nhi",
        OK + b"no colon\r\nContent-Length: 2\r\n\r\nhi",
        b"hello, this is HTTP/0.9",
        b"HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/2 200\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_broken_answers(fetcher, reply):
    exchange = fetcher.from_site(reply)
    assert exchange.error == "protocol"
    assert exchange.detail
    assert exchange.body in (b"", b"hi")


def test_the_same_length_twice_is_no_fault(fetcher):
    assert fetcher.from_site(OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi").body == b"hi"


def test_a_server_that_hangs_up(fetcher):
    async def reply(_):
        return None

    exchange = fetcher.from_site(reply)
    assert (exchange.status, exchange.error) == (0, "reset")


def test_an_unasked_switch_of_protocols(fetcher):
    exchange = fetcher.from_site(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nhi", deadline_s=0.3)
    assert exchange.error == "protocol"
