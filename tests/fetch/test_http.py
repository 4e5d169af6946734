# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""What an exchange says of an answer, and what is sent."""

import asyncio
import gzip
import time

import pytest
from answers import CA, CHUNKED, HI, OK, outcome

from evercrawl.errors import ConfigError
from evercrawl.types import Request

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
