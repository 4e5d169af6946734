# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Which addresses are connected to, whatever names say, and what a proxy changes."""

import asyncio
import time

import pytest
from answers import CA, HI, OK

from evercrawl.fetch.proxies import Proxies
from evercrawl.types import Request

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


def test_only_the_first_address_is_connected_to(fetcher):
    judged = []

    async def work(site, network):
        return [
            await fetcher.one(network, site.url("/", "many.test"), addresses)
            for addresses in (("127.0.0.2", "127.0.0.1"), ("127.0.0.1", "127.0.0.2"))
        ]

    site = fetcher.Site({"/": HI})
    first, second = fetcher.with_site(site, work, judge=lambda ip: judged.append(ip) or "")
    assert (first.error, first.sent) == ("connect", b"")
    assert (second.body, second.error, second.ip) == (b"hi", "", "127.0.0.1")
    assert judged == ["127.0.0.2", "127.0.0.1"]
    assert site.connections == 1


@pytest.mark.parametrize("host", ["many.test", "6.test"])
def test_the_host_field_is_the_name_wherever_it_leads(fetcher, host):
    async def work(site, network):
        return await fetcher.one(network, site.url("/", host), ("127.0.0.1",))

    site = fetcher.Site({"/": HI})
    exchange = fetcher.with_site(site, work)
    assert exchange.sent.split(b"\r\n")[1] == f"Host: {host}:{site.port}".encode()
    assert exchange.ip == "127.0.0.1"


def test_an_address_of_the_sixth_version_is_connected_to(fetcher):
    async def run():
        network = fetcher.network(lambda ip: asked.append(ip) or "inside")
        exchange = await fetcher.one(network, "http://six.test:9/", ("2001:db8::1",))
        await network.close()
        return exchange.error

    asked = []
    assert asyncio.run(run()) == "refused_address"
    assert asked == ["2001:db8::1"]


def test_the_time_of_a_transfer_does_not_grow_with_the_names_before_it(fetcher):
    """A network that has seen 8,000 names, and new ones, in turn: what else the machine does costs both the same."""

    async def spent_s(site, network, part, names):
        began = time.process_time()
        for number in range(0, names, 20):
            for host in range(number, number + 20):
                network.start(Request(f"http://h{part}-{host}.test:{site.port}/", deadline_s=9.0), ("127.0.0.1",))
            left = 20
            while left:
                left -= len(await network.finished(9.0))
        return time.process_time() - began

    async def work(site, network):
        await spent_s(site, network, "before", 8_000)
        seen, unseen = [], []
        for part in range(8):
            seen.append(await spent_s(site, network, part, 160))
            other = fetcher.network()
            await spent_s(site, other, "first", 20)
            unseen.append(await spent_s(site, other, part, 160))
            await other.close()
        return min(seen), min(unseen)

    async def reply(connection):
        connection[1].write(OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nhi")

    seen_s, unseen_s = fetcher.with_site(fetcher.Site({"/": reply}), work)
    assert seen_s < 1.4 * unseen_s


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
        site.server.close()
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
            network = fetcher.network(lambda ip: "inside", proxies=Proxies([f"http://127.0.0.1:{site.port}"]))
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
                network = fetcher.network(proxies=Proxies([f"http://127.0.0.1:{proxy.port}"]), ca_file=CA)
                exchange = await fetcher.one(network, site.url("/", "site.test"))
                await network.close()
                return exchange, site.requests

    exchange, requests = asyncio.run(run())
    assert (exchange.body, exchange.tls_ok, exchange.head) == (b"hi", True, HI[:-2])
    assert [exchange.sent] == requests
