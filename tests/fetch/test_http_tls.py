# ruff: noqa: ANN003, ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Certificates, and HTTP/2."""

import asyncio
import gzip
import ssl

import pytest
from answers import CA, HI, outcome
from loopback import CERTIFICATES

from evercrawl.fetch.transfer import ClientCertificate


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


def test_a_host_is_shown_the_certificate_that_is_meant_for_it(fetcher):
    own = ClientCertificate(str(CERTIFICATES / "site.pem"))

    async def work(site, network):
        hosts = ("site.test", "site.test", "127.0.0.1", "site.test")
        return [await fetcher.one(network, site.url("/", host), ("127.0.0.1",)) for host in hosts]

    class Asking(fetcher.Site):
        def context(self):
            context = super().context()
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(CERTIFICATES / "site.pem")
            return context

    site = Asking({"/": HI}, pem="site.pem")
    shown = fetcher.with_site(
        site, work, ca_file=CA, verify_tls=False, certificate=lambda host: own if host == "site.test" else None
    )
    assert [exchange.body for exchange in shown] == [b"hi", b"hi", b"", b"hi"]
    assert shown[2].error
    assert "password" not in repr(ClientCertificate("a", "b", "password"))
