# ruff: noqa: ANN003, ANN202  (the servers of a test are nested functions, and say more without annotations)
import asyncio
import gzip
import os
import socket
import time
from pathlib import Path

import pytest

from evercrawl.errors import ConfigError
from evercrawl.types import Request

OK = b"HTTP/1.1 200 OK\r\n"
HI = OK + b"Content-Length: 2\r\n\r\nhi"
CA = str(Path(__file__).parent / "data" / "site.pem")
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def outcome(exchange):
    return exchange.status, exchange.error, exchange.truncated, exchange.body


# ---- what an exchange says


def test_a_page(fetcher):
    page = gzip.compress(b"<title>t</title>")
    head = OK + b"Content-Type: text/html\r\nX-A: 1\r\nContent-Encoding: gzip\r\nx-a:  2 \r\n"
    head += b"Content-Length: %d\r\n\r\n" % len(page)
    began = time.time()
    exchange = fetcher.from_site(head + page)
    assert outcome(exchange) == (200, "", False, b"<title>t</title>")
    assert (exchange.head, exchange.wire) == (head, page)
    assert exchange.headers["x-a"] == "1, 2"
    assert exchange.headers["content-type"] == "text/html"
    assert (exchange.ip, exchange.http_version, exchange.tls_ok) == ("127.0.0.1", "1.1", None)
    assert began - 1 < exchange.at < time.time()
    assert 0 < exchange.elapsed_s < 5


def test_a_chunked_page_keeps_its_wire(fetcher):
    wire = b"2;x\r\nhi\r\n3\r\n yo\r\n0\r\nT: trailer\r\n\r\n"
    exchange = fetcher.from_site(CHUNKED + wire)
    assert outcome(exchange) == (200, "", False, b"hi yo")
    assert (exchange.head, exchange.wire) == (CHUNKED, wire)
    assert "t" not in exchange.headers


def test_chunked_and_gzipped(fetcher):
    page = gzip.compress(b"page" * 999)
    head = OK + b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    exchange = fetcher.from_site(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(page), page))
    assert outcome(exchange) == (200, "", False, b"page" * 999)


def test_interim_answers_are_dropped(fetcher):
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    exchange = fetcher.from_site(b"HTTP/1.1 100 Continue\r\n\r\n" + early + HI)
    assert outcome(exchange) == (200, "", False, b"hi")
    assert exchange.head + exchange.wire == HI
    assert "link" not in exchange.headers


def test_line_feeds_alone_end_lines_too(fetcher):
    exchange = fetcher.from_site(b"HTTP/1.1 200 OK\nContent-Length: 2\nA: b\n\nhi")
    assert outcome(exchange) == (200, "", False, b"hi")
    assert exchange.headers == {"content-length": "2", "a": "b"}


def test_http_1_0_and_a_body_until_the_end_of_the_connection(fetcher):
    async def reply(connection):
        connection[1].write(b"HTTP/1.0 200 OK\r\nServer: old\r\n\r\npage")

    exchange = fetcher.from_site(reply)
    assert outcome(exchange) == (200, "", False, b"page")
    assert exchange.http_version == "1.0"


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified\r\nContent-Length: 9"])
def test_answers_without_a_body(fetcher, status):
    exchange = fetcher.from_site(b"HTTP/1.1 " + status + b"\r\n\r\n")
    assert outcome(exchange) == (int(status[:3]), "", False, b"")


def test_redirects_are_not_followed(fetcher):
    async def work(site, network):
        return await fetcher.one(network, site.url("/"))

    site = fetcher.Site({"/": b"HTTP/1.1 301 Moved\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n"})
    exchange = fetcher.with_site(site, work)
    assert (exchange.status, exchange.headers["location"]) == (301, "/next")
    assert len(site.requests) == 1


def test_latin_1_in_headers(fetcher):
    assert fetcher.from_site(fetcher.reply(b"", "X-A: é")).headers["x-a"] == "é"


# ---- what is sent


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", "/"),
        ("", "/"),
        ("?q=1", "/?q=1"),
        ("/a/../b/./c//d", "/a/../b/./c//d"),
        ("/%7e%2e%2F?%aa", "/%7e%2e%2F?%aa"),
        ("/x<>^`{|}\\'()[]*;~$&,=:@!?/?%zz", "/x<>^`{|}\\'()[]*;~$&,=:@!?/?%zz"),
        ('/a"b#frag', '/a"b'),
    ],
)
def test_sent_is_what_the_server_received(fetcher, path, target):
    async def work(site, network):
        await fetcher.one(network, site.url("/warm"))
        headers = (("If-None-Match", '"\xe9"'), ("accept", "text/plain"))
        return await fetcher.one(network, Request(site.url(path), headers=headers))

    replies = {"/warm": HI, target.split("?")[0]: HI}
    site = fetcher.Site(replies)
    exchange = fetcher.with_site(site, work, contact="https://bot.test/")
    assert exchange.sent == site.requests[1]
    assert exchange.sent == (
        f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
        "User-Agent: testbot/1 (+https://bot.test/)\r\nAccept-Encoding: gzip, deflate, br\r\n"
        'If-None-Match: "\xe9"\r\naccept: text/plain\r\n\r\n'
    ).encode("latin-1")


@pytest.mark.parametrize("pem", ["", "site.pem"])
def test_sent_is_true_of_old_servers_too(fetcher, pem):
    async def work(site, network):
        return [await fetcher.one(network, site.url("/")) for _ in range(3)]

    reply = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
    site = fetcher.Site({"/": reply}, pem=pem)
    exchanges = fetcher.with_site(site, work, ca_file=CA)
    assert [exchange.body for exchange in exchanges] == [b"hi"] * 3
    assert [exchange.sent for exchange in exchanges] == site.requests


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/a b",
        "http://127.0.0.1:1/a\r\nX-Injected: 1",
        "http://127.0.0.1:1/a\nb",
        "http://127.0.0.1:1/\xe9",
        "http://127.0.0.1:1/\0",
        "http://127.0.0.1%0d%0aX:1/",
        "http://me:secret@127.0.0.1:1/",
        "http://127.0.0.1:1\\@evil.test/",
        "http:///",
        "http://127.0.0.1:/",
        "file:///etc/hostname",
        "gopher://127.0.0.1:1/x",
        "",
    ],
)
def test_urls_that_could_smuggle_are_refused(fetcher, url):
    async def run():
        network = fetcher.network()
        exchange = await fetcher.one(network, url)
        await network.close()
        return exchange

    exchange = asyncio.run(run())
    assert (exchange.error, exchange.status, exchange.sent, exchange.ip) == ("protocol", 0, b"", "")
    assert exchange.detail


@pytest.mark.parametrize(("name", "value"), [("A", "b\r\nC: d"), ("A\r\nB", "c"), ("A", "b\0"), ("A:", "b"), ("A", "")])
def test_headers_that_could_smuggle_are_refused(fetcher, name, value):
    assert fetcher.from_site(HI, headers=((name, value),)).error == "protocol"


def test_an_agent_that_cannot_be_sent(fetcher):
    with pytest.raises(ConfigError, match="User-Agent"):
        fetcher.network(contact="a\nb")


def test_cookies_are_not_kept(fetcher):
    async def work(site, network):
        return [await fetcher.one(network, site.url("/")) for _ in range(2)]

    site = fetcher.Site({"/": fetcher.reply(b"", "Set-Cookie: a=b; Path=/")})
    fetcher.with_site(site, work)
    assert not any(b"cookie" in request.lower() for request in site.requests)


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


async def hold(connection):
    await connection[0].read(1)


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


# ---- kept connections


def test_connections_are_kept(fetcher):
    async def work(site, network):
        return [(await fetcher.one(network, site.url("/"))).body for _ in range(5)]

    site = fetcher.Site({"/": HI})
    assert fetcher.with_site(site, work) == [b"hi"] * 5
    assert site.connections == 1


def test_a_connection_that_was_closed_meanwhile(fetcher):
    async def reply(connection):
        connection[1].write(HI)

    async def work(site, network):
        bodies = []
        for _ in range(5):
            bodies.append((await fetcher.one(network, site.url("/"))).body)
            await asyncio.sleep(0.02)
        return bodies

    site = fetcher.Site({"/": reply})
    assert fetcher.with_site(site, work) == [b"hi"] * 5
    assert site.connections == 5


@pytest.mark.parametrize("pem", ["", "site.pem"])
@pytest.mark.parametrize("gap_s", [0, 0.1])
def test_an_answer_nobody_asked_for_is_never_taken(fetcher, gap_s, pem):
    evil = OK + b"Content-Length: 6\r\n\r\nPOISON"

    async def reply(connection):
        connection[1].write(HI)
        if not gap_s:
            connection[1].write(evil)
        await connection[1].drain()
        await asyncio.sleep(gap_s)
        return evil if gap_s else b""

    async def work(site, network):
        first = await fetcher.one(network, site.url("/"))
        await asyncio.sleep(2 * gap_s)
        return [first.body] + [(await fetcher.one(network, site.url("/own"))).body for _ in range(3)]

    site = fetcher.Site({"/": reply, "/own": OK + b"Content-Length: 3\r\n\r\nown"}, pem=pem)
    assert fetcher.with_site(site, work, ca_file=CA) == [b"hi", b"own", b"own", b"own"]


def test_an_answer_that_waits_behind_a_long_one_is_never_taken(fetcher):
    page = b"p" * 50_000

    async def reply(_):
        return fetcher.reply(page) + fetcher.reply(b"POISON")

    async def work(site, network):
        for _ in range(8):
            network.start(Request(site.url("/")))
        bodies = []
        while network.in_flight:
            for exchange in await network.finished(5):
                bodies.append(exchange.body)
                if len(bodies) < 50:
                    network.start(Request(site.url("/")))
        return bodies

    assert set(fetcher.with_site(fetcher.Site({"/": reply}), work)) == {page}


def test_a_closed_socket_that_lives_on_elsewhere(fetcher):
    """A process forked from ours holds the sockets of its parent, and epoll goes on reporting what happens there."""

    async def work(site, network):
        await fetcher.one(network, site.url("/"))
        connections = [fd for fd in range(256) if is_connection(fd, site.port)]
        copies = [os.dup(fd) for fd in connections]
        async with fetcher.Site({"/": HI}) as other:
            await fetcher.one(network, other.url("/"))  # takes the only place, so the first connection is closed
            began = time.process_time()
            await network.finished(0.3)
            took_s = time.process_time() - began
            body = (await fetcher.one(network, other.url("/"))).body
        for fd in copies:
            os.close(fd)
        return len(copies), body, took_s, other.connections

    async def reply(connection):
        connection[1].write(HI)
        await connection[1].drain()
        await asyncio.sleep(0.1)
        connection[1].write(b"more")
        await hold(connection)

    copies, body, took_s, connections = fetcher.with_site(fetcher.Site({"/": reply}), work, max_connections=1)
    assert (copies, body, connections) == (1, b"hi", 1)
    assert took_s < 0.1


def is_connection(fd, port):
    try:
        with socket.socket(fileno=os.dup(fd)) as one:
            return one.getpeername()[1] == port
    except (OSError, IndexError):
        return False


def test_connections_have_no_more_than_their_number(fetcher):
    async def slow(_):
        await asyncio.sleep(0.02)
        return HI

    async def work(site, network):
        for _ in range(30):
            network.start(Request(site.url("/")))
        assert network.in_flight == 30
        ended = []
        while network.in_flight:
            ended += await network.finished(5)
        return ended

    site = fetcher.Site({"/": slow})
    exchanges = fetcher.with_site(site, work, max_connections=4)
    assert [outcome(exchange) for exchange in exchanges] == [(200, "", False, b"hi")] * 30
    assert site.connections == 4


# ---- many at a time


def test_answers_find_their_requests(fetcher):
    async def work(site, network):
        for i in range(200):
            network.start(Request(site.url(f"/{i % 40}?{i}"), tag=i))
        ended = []
        while len(ended) < 200:
            ended += await network.finished(5)
        return ended

    site = fetcher.Site({f"/{i}": fetcher.reply(b"%d" % i) for i in range(40)})
    exchanges = fetcher.with_site(site, work, max_connections=20)
    assert sorted(exchange.request.tag for exchange in exchanges) == list(range(200))
    assert all(exchange.body == b"%d" % (exchange.request.tag % 40) for exchange in exchanges)


def test_nothing_ends_before_the_time_out(fetcher):
    async def work(site, network):
        began = time.monotonic()
        none_flying = await network.finished(0.05)
        network.start(Request(site.url("/")))
        silent = await network.finished(0.05)
        return none_flying, silent, time.monotonic() - began, network.in_flight

    none_flying, silent, took_s, in_flight = fetcher.with_site(fetcher.Site({"/": hold}), work)
    assert (none_flying, silent, in_flight) == ([], [], 1)
    assert 0.09 < took_s < 1


def test_close_aborts(fetcher):
    async def work(site, network):
        network.start(Request(site.url("/")))
        await network.finished(0.1)
        assert site.requests
        await network.close()
        return network.in_flight, await asyncio.wait_for(network.finished(0.01), 1)

    assert fetcher.with_site(fetcher.Site({"/": hold}), work) == (0, [])


# ---- addresses


def test_a_refused_address_is_not_connected_to(fetcher):
    asked = []

    def judge(ip):
        asked.append(ip)
        return "loopback is inside"

    async def work(site, network):
        return await fetcher.one(network, site.url("/"))

    site = fetcher.Site({"/": HI})
    exchange = fetcher.with_site(site, work, judge=judge)
    assert (exchange.error, exchange.detail) == ("refused_address", "loopback is inside")
    assert (exchange.status, exchange.sent, site.connections) == (0, b"", 0)
    assert asked == ["127.0.0.1"]


@pytest.mark.parametrize("host", ["[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "localhost"])
def test_the_judge_sees_addresses_however_they_are_written(fetcher, host):
    asked = []

    async def run():
        network = fetcher.network(lambda ip: asked.append(ip) or "inside")
        exchange = await fetcher.one(network, f"http://{host}:9/")
        await network.close()
        return exchange

    assert asyncio.run(run()).error == "refused_address"
    assert set(asked) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
    assert asked


def test_a_name_that_turns_inside_is_caught(fetcher):
    async def work(site, network):
        url = site.url("/", "rebind.test")
        first = await fetcher.one(network, url, ("127.0.0.1",))
        second = await fetcher.one(network, url, ("127.0.0.2",))
        return first, second

    async def reply(connection):  # closes, so that the second needs a connection
        connection[1].write(OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nhi")

    site = fetcher.Site({"/": reply})
    first, second = fetcher.with_site(site, work, judge=lambda ip: "inside" if ip == "127.0.0.2" else "")
    assert (first.body, first.ip) == (b"hi", "127.0.0.1")
    assert first.sent.split(b"\r\n")[1] == f"Host: rebind.test:{site.port}".encode()
    assert second.error == "refused_address"


def test_addresses_are_tried_in_turn(fetcher):
    async def work(site, network):
        return await fetcher.one(network, site.url("/", "many.test"), ("127.0.0.2", "127.0.0.1"))

    judge = {"127.0.0.2": "inside", "127.0.0.1": ""}.__getitem__
    exchange = fetcher.with_site(fetcher.Site({"/": HI}), work, judge=judge)
    assert (exchange.body, exchange.error, exchange.ip) == (b"hi", "", "127.0.0.1")


def test_pins_do_not_outlive_their_request(fetcher):
    async def work(site, network):
        pinned = await fetcher.one(network, site.url("/", "a.test"), ("127.0.0.1",))
        literal = await fetcher.one(network, site.url("/"))
        other = await fetcher.one(network, site.url("/", "b.test"), ("127.0.0.3",))
        return pinned.ip, literal.ip, other.error, other.detail

    judge = {"127.0.0.1": "", "127.0.0.3": "inside"}.__getitem__
    site = fetcher.Site({"/": HI})
    assert fetcher.with_site(site, work, judge=judge) == ("127.0.0.1", "127.0.0.1", "refused_address", "inside")


def test_a_judge_that_fails_refuses_and_is_heard_of(fetcher):
    def judge(ip):
        raise LookupError("no table")

    async def work(site, network):
        network.start(Request(site.url("/")))
        with pytest.raises(LookupError, match="no table"):
            await network.finished(5)
        return await network.finished(5)

    site = fetcher.Site({"/": HI})
    (exchange,) = fetcher.with_site(site, work, judge=judge)
    assert (exchange.error, site.connections) == ("refused_address", 0)
    assert "no table" in exchange.detail


def test_nobody_listens(fetcher):
    async def work(site, network):
        site._server.close()
        return await fetcher.one(network, site.url("/"))

    exchange = fetcher.with_site(fetcher.Site({}), work)
    assert (exchange.status, exchange.error, exchange.sent) == (0, "connect", b"")


def test_a_name_that_is_not_there(fetcher):
    async def run():
        network = fetcher.network()
        exchange = await fetcher.one(network, "http://nothing.invalid/")
        await network.close()
        return exchange

    assert asyncio.run(run()).error == "dns"


# ---- proxies


def test_the_environment_names_no_proxy(fetcher, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    assert fetcher.from_site(HI).body == b"hi"


def test_a_proxy_is_asked_with_the_whole_url(fetcher, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")

    async def run():
        async with fetcher.Site({"http://page.test/a": HI}) as site:
            network = fetcher.network(lambda ip: "inside", proxy=f"http://127.0.0.1:{site.port}")
            exchange = await fetcher.one(network, "http://page.test/a#b")
            refused = await fetcher.one(network, "http://127.0.0.1/", ())
            refused_too = await fetcher.one(network, "http://page.test/", ("127.0.0.1",))
            await network.close()
            return exchange, refused, refused_too, site.requests

    exchange, refused, refused_too, requests = asyncio.run(run())
    assert exchange.body == b"hi"
    assert [exchange.sent] == requests
    assert (refused.error, refused_too.error) == ("refused_address", "refused_address")


def test_tls_goes_through_a_proxy_as_a_tunnel(fetcher):
    async def tunnel(connection, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        connection[1].write(b"HTTP/1.1 200 Connected\r\nX-Proxy: 1\r\n\r\n")

        async def pipe(source, sink):
            try:
                while data := await source.read(65536):
                    sink.write(data)
            finally:
                sink.close()

        await asyncio.gather(pipe(connection[0], writer), pipe(reader, connection[1]))

    async def run():
        async with fetcher.Site({"/": HI}, pem="site.pem") as site:
            proxy = fetcher.Site({f"site.test:{site.port}": lambda connection: tunnel(connection, site.port)})
            async with proxy:
                network = fetcher.network(proxy=f"http://127.0.0.1:{proxy.port}", ca_file=CA)
                exchange = await fetcher.one(network, site.url("/", "site.test"))
                await network.close()
                return exchange, site.requests

    exchange, requests = asyncio.run(run())
    assert (exchange.body, exchange.tls_ok, exchange.head) == (b"hi", True, HI[:-2])
    assert [exchange.sent] == requests


# ---- TLS and HTTP/2


def https(fetcher, site, host="site.test", times=1, **options):
    async def work(site, network):
        return [await fetcher.one(network, site.url("/", host), ("127.0.0.1",)) for _ in range(times)]

    return fetcher.with_site(site, work, **options)


def test_a_certificate_that_verifies(fetcher):
    site = fetcher.Site({"/": HI}, pem="site.pem")
    exchanges = https(fetcher, site, times=3, ca_file=CA)
    assert [(exchange.body, exchange.tls_ok) for exchange in exchanges] == [(b"hi", True)] * 3
    assert [exchange.sent for exchange in exchanges] == site.requests
    assert site.connections == 1


@pytest.mark.parametrize(("pem", "host"), [("other.pem", "other.test"), ("site.pem", "wrong.test")])
def test_a_certificate_that_does_not_verify(fetcher, pem, host):
    site = fetcher.Site({"/": HI}, pem=pem)
    (exchange,) = https(fetcher, site, host, ca_file=CA)
    assert (exchange.error, exchange.status, exchange.tls_ok, exchange.sent) == ("tls", 0, False, b"")
    assert exchange.detail
    assert site.requests == []


@pytest.mark.parametrize(("pem", "host"), [("other.pem", "other.test"), ("site.pem", "wrong.test")])
def test_unverified_by_wish(fetcher, pem, host):
    site = fetcher.Site({"/": HI}, pem=pem)
    exchanges = https(fetcher, site, host, times=3, ca_file=CA, verify_tls=False)
    assert [(exchange.body, exchange.error, exchange.tls_ok) for exchange in exchanges] == [(b"hi", "", False)] * 3
    assert [exchange.sent for exchange in exchanges] == site.requests
    assert site.connections == 2  # the failed try, and the one that is kept


def test_verified_although_it_need_not_be(fetcher):
    (exchange,) = https(fetcher, fetcher.Site({"/": HI}, pem="site.pem"), ca_file=CA, verify_tls=False)
    assert (exchange.body, exchange.tls_ok) == (b"hi", True)


def test_no_tls_at_the_other_end(fetcher):
    async def work(site, network):
        return await fetcher.one(network, f"https://127.0.0.1:{site.port}/")

    async def babble(connection):
        connection[1].write(b"HTTP/1.1 400 Bad\r\n\r\n")

    site = fetcher.Site({})
    site.speak = lambda reader, writer: babble((reader, writer))
    exchange = fetcher.with_site(site, work, ca_file=CA)
    assert (exchange.error, exchange.tls_ok) == ("tls", None)


def http2(fetcher, answer, times=1, **options):
    site = fetcher.Site2(answer)
    return https(fetcher, site, times=times, ca_file=CA, **options), site


def test_http_2(fetcher):
    field = fetcher.Site2.field
    early = (1, 4, field(":status", "103") + field("link", "x"))
    head = (1, 4, b"\x88" + field("content-encoding", "gzip") + field("server", "two"))
    data = (0, 0, gzip.compress(b"page"))
    trailer = (1, 5, field("a-trailer", "t"))
    exchanges, site = http2(fetcher, [early, head, data, trailer], times=3)
    assert site.connections == 1
    for exchange in exchanges:
        assert outcome(exchange) == (200, "", False, b"page")
        assert exchange.http_version == "2"
        assert exchange.head == b"HTTP/2 200 \r\ncontent-encoding: gzip\r\nserver: two\r\n\r\n"
        assert exchange.headers == {"content-encoding": "gzip", "server": "two"}
        assert exchange.sent.startswith(b"GET / HTTP/2\r\nHost: site.test:")
        assert exchange.tls_ok is True


def test_http_2_may_speak_at_any_time(fetcher):
    class Pinging(fetcher.Site2):
        async def speak(self, reader, writer):
            async def ping():
                while True:
                    await asyncio.sleep(0.02)
                    writer.write(self.frame(6, 0, 0, b"12345678"))

            pings = asyncio.ensure_future(ping())
            try:
                await super().speak(reader, writer)
            finally:
                pings.cancel()

    async def work(site, network):
        for _ in range(3):
            assert (await fetcher.one(network, site.url("/", "site.test"), ("127.0.0.1",))).status == 200
            await asyncio.sleep(0.1)

    site = Pinging([(1, 5, b"\x88")])
    fetcher.with_site(site, work, ca_file=CA)
    assert (len(site.requests), site.connections) == (3, 1)


def test_an_http_2_stream_that_breaks_off(fetcher):
    (exchange,), _ = http2(fetcher, [(1, 4, b"\x88"), (0, 0, b"half"), (3, 0, b"\0\0\0\2")])
    assert outcome(exchange) == (200, "", True, b"half")


def test_http_2_is_offered_only_by_wish(fetcher):
    site = fetcher.Site({"/": HI}, pem="site.pem", alpn=("h2", "http/1.1"))
    (exchange,) = https(fetcher, site, ca_file=CA, http2=False)
    assert (exchange.body, exchange.http_version) == (b"hi", "1.1")
