# ruff: noqa: ANN202  (what a test runs is a nested function)
"""Ways to a site: SOCKS5 proxies by turns, addresses of both families, and requests that are signed."""

import asyncio
import json
import socket
import time
from contextlib import ExitStack, contextmanager

import pytest
from loopback import Server
from socks_server import SocksServer

from evercrawl.ask.status import status
from evercrawl.cli.verbs.asking.status import rows
from evercrawl.fetch.signing import new_key
from evercrawl.progress import Limits

SHORT = Limits(until_idle=True, seconds=600)
REST = {"refresh_after_s": 1000.0, "probe_share": 0.0}


class Site(Server):
    """Two pages."""

    async def answer(self, path, _, writer):
        body = b"<a href=/x>x</a> words" if path == "/" else b"words of x"
        status, kind = (200, b"text/html") if path in ("/", "/x") else (404, b"text/plain")
        head = b"HTTP/1.1 %d X\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (status, kind, len(body))
        writer.write(head + body)
        return True

    @property
    def paths(self):
        return [request.split()[1].decode() for request in self.requests]


@contextmanager
def mute(address):
    """Yield a port of an address on which nobody answers: the queue of those who wait is full."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind((address, 0))
        listening.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


def test_a_crawl_goes_through_the_proxy_that_answers_and_status_names_the_other(live, tmp_path):
    async def go():
        async with Site() as site, SocksServer(site.port, user=("me", "hunter2")) as well:
            listed = tmp_path / "proxies"
            dead = [f"socks5h://me:hunter2@127.0.0.{host}:9" for host in range(2, 8)]  # a host has one of seven
            listed.write_text("\n".join(["# ours", *dead, well.url("socks5h", "me:hunter2@")]))
            listed.chmod(0o600)
            await live.crawl(["http://page.example/"], SHORT, proxy=f"file:{listed}", **REST)
            return site.paths, well.asked

    paths, asked = asyncio.run(go())
    assert paths == ["/robots.txt", "/", "/x"]
    assert set(asked) == {("page.example", 80)}
    found = status(live.directory)
    failed = [one for one in found.proxies if one.failed]
    assert all(one.away_until > found.at and one.why == "it cannot be connected to" for one in failed)
    assert len([row for row in rows(found) if row[0] == "proxy"]) == len(failed)
    assert not any(
        "hunter2" in path.read_text(errors="replace") for path in live.directory.rglob("*.*") if path.is_file()
    )


def test_with_socks5_the_guard_sees_where_names_lead(live, tmp_path):
    async def go():
        async with Site() as site, SocksServer(site.port) as proxy:
            names = tmp_path / "names"
            names.write_text("inside.example 10.1.2.3\noutside.example 203.0.113.9\noutside.example 10.0.0.1\n")
            seeds = ["http://inside.example/", "http://outside.example/"]
            await live.crawl(
                seeds, SHORT, proxy=proxy.url("socks5"), resolve=str(names), allow_net=("203.0.113.0/24",), **REST
            )
            return proxy.asked

    asked = asyncio.run(go())
    assert set(asked) == {("203.0.113.9", 80)}
    assert live.outcomes()["http://inside.example/"] == "refused"
    assert live.outcomes()["http://outside.example/x"] == "ok"


def test_pages_are_read_over_ipv6(live):
    async def go():
        async with Site("::1") as site:
            await live.crawl([f"http://[::1]:{site.port}/"], SHORT, allow_net=("::1/128",), **REST)
            return site.paths, site.port

    paths, port = asyncio.run(go())
    assert paths == ["/robots.txt", "/", "/x"]
    assert live.outcomes()[f"http://[::1]:{port}/x"] == "ok"


@pytest.mark.parametrize("allowed", [True, False])
def test_an_address_that_does_not_answer_makes_way_for_the_next_which_is_judged_too(live, tmp_path, allowed):
    async def go(port):
        async with Site("::1", port) as site:
            names = tmp_path / "names"
            names.write_text("both.example 127.0.9.9\nboth.example ::1\n")
            networks = ("127.0.9.9/32", "::1/128") if allowed else ("127.0.9.9/32",)
            limits = SHORT if allowed else Limits(seconds=3)
            began = time.monotonic()
            await live.crawl([f"http://both.example:{port}/"], limits, resolve=str(names), allow_net=networks, **REST)
            return site.paths, time.monotonic() - began

    with mute("127.0.9.9") as port:
        paths, took_s = asyncio.run(go(port))
    if allowed:
        assert paths == ["/robots.txt", "/", "/x"]
        assert took_s < 9  # where an address alone has 10 s
    else:
        assert paths == []


def test_every_request_of_a_crawl_is_signed(live, tmp_path):
    pytest.importorskip("cryptography")
    key = tmp_path / "bot.pem"
    new_key(key)

    async def go():
        async with Site() as site:
            settings = {"sign_key": f"file:{key}", "sign_agent": "https://bot.example"} | REST
            await live.crawl([site.url("/")], SHORT, **settings)
            return site.requests

    requests = asyncio.run(go())
    assert len(requests) == 3
    assert all(b"\r\nSignature-Input: sig1=(" in request for request in requests)
    assert all(b'\r\nSignature-Agent: "https://bot.example"\r\n' in request for request in requests)
    assert json.dumps(status(live.directory).directory)
