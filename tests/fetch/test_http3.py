# ruff: noqa: ANN202  (what a test runs is a nested function)
"""HTTP/3 on a server of our own: used once it was offered, left where it fails, and judged by the guard."""

import asyncio

import pytest
from answers import CA, OK
from loopback import CERTIFICATES

from evercrawl.errors import ConfigError
from evercrawl.fetch.http3 import Http3Offers, speaks_http3
from evercrawl.types import Exchange, Request

aioquic = pytest.importorskip("aioquic")
pytestmark = pytest.mark.skipif(not speaks_http3(), reason="this libcurl does not speak HTTP/3")


async def quic(port: int, asked: list[str]):
    from aioquic.asyncio import QuicConnectionProtocol, serve
    from aioquic.h3.connection import H3_ALPN, H3Connection
    from aioquic.h3.events import HeadersReceived
    from aioquic.quic.configuration import QuicConfiguration

    class Protocol(QuicConnectionProtocol):
        def quic_event_received(self, event):
            self.http = getattr(self, "http", None) or H3Connection(self._quic)
            for found in self.http.handle_event(event):
                if isinstance(found, HeadersReceived):
                    asked.append(dict(found.headers)[b":path"].decode())
                    fields = [(b":status", b"200"), (b"content-type", b"text/html"), (b"content-length", b"5")]
                    self.http.send_headers(found.stream_id, fields)
                    self.http.send_data(found.stream_id, b"three", end_stream=True)
                    self.transmit()

    configuration = QuicConfiguration(alpn_protocols=H3_ALPN, is_client=False)
    configuration.load_cert_chain(CERTIFICATES / "site.pem")
    return await serve("127.0.0.1", port, configuration=configuration, create_protocol=Protocol)


def asked_twice(fetcher, *, http3=True, answers=True, judge=lambda _: "", times=2):
    async def run():
        async def reply(_):
            return OK + f'Alt-Svc: h3=":{site.port}"; ma=60\r\nContent-Length: 3\r\n\r\none'.encode()

        asked: list[str] = []
        async with fetcher.Site({"/": reply}, pem="site.pem") as site:
            server = await quic(site.port, asked) if answers else None
            network = fetcher.network(judge, ca_file=CA, http3=http3)
            try:
                url = site.url("/", "site.test")
                return [await fetcher.one(network, url, ("127.0.0.1",)) for _ in range(times)], asked
            finally:
                await network.close()
                if server is not None:
                    server.close()

    return asyncio.run(run())


def test_a_server_that_has_offered_it_is_asked_in_it(fetcher):
    made, asked = asked_twice(fetcher, times=3)
    assert [(each.http_version, each.body) for each in made] == [("1.1", b"one"), ("3", b"three"), ("3", b"three")]
    assert asked == ["/", "/"]
    assert made[1].head.startswith(b"HTTP/3 200")
    assert made[1].sent.startswith(b"GET / HTTP/3\r\nHost: site.test:")
    assert made[1].tls_ok


def test_without_the_setting_it_is_not_used(fetcher):
    made, asked = asked_twice(fetcher, http3=False)
    assert [each.http_version for each in made] == ["1.1", "1.1"]
    assert asked == []


def test_where_nobody_answers_there_an_older_version_serves(fetcher):
    made, _ = asked_twice(fetcher, answers=False, times=3)
    assert [(each.http_version, each.body) for each in made] == [("1.1", b"one")] * 3


def test_a_server_that_stops_to_answer_in_it_is_asked_in_an_older_version(fetcher):
    async def run():
        async def reply(_):
            return OK + f'Alt-Svc: h3=":{site.port}"; ma=60\r\nContent-Length: 3\r\n\r\none'.encode()

        async with fetcher.Site({"/": reply}, pem="site.pem") as site:
            server = await quic(site.port, [])
            network = fetcher.network(ca_file=CA, http3=True)
            url, made = site.url("/", "site.test"), []
            for number in range(5):
                if number == 2:
                    server.close()
                made.append(await fetcher.one(network, Request(url, deadline_s=20.0), ("127.0.0.1",)))
            await network.close()
            return made

    made = asyncio.run(run())
    assert [each.http_version for each in made] == ["1.1", "3", "1.1", "1.1", "1.1"]
    assert not any(each.error for each in made)


def test_the_guard_judges_its_sockets_too(fetcher):
    judged: list[str] = []
    made, asked = asked_twice(fetcher, judge=lambda one: judged.append(one) or ("" if len(judged) < 2 else "inside"))
    assert made[1].error in ("refused_address", "")
    assert asked == []


@pytest.mark.parametrize(
    ("said", "offers"),
    [
        ('h3=":443"', True), ('h2=":443", h3="a.example:443"; ma=5', True), ('h3="b.example:443"', False),
        ('h3=":8443"', False), ("clear", False), ('h3=":443"; ma=0', False),
    ],
)  # fmt: skip
def test_only_offers_of_the_same_host_and_port_count(said, offers):
    known = Http3Offers()
    known.learn(
        "a.example",
        Exchange(Request("https://a.example/"), 0.0, status=200, headers={"alt-svc": said}),
        0.0,
        asked=False,
    )
    assert known.offers("https", "a.example", 1.0) == offers
    assert not known.offers("http", "a.example", 1.0)


def test_a_libcurl_without_it_says_so(fetcher, monkeypatch):
    monkeypatch.setattr("pycurl.version_info", lambda: ("", "", 0, "", 0))
    with pytest.raises(ConfigError, match="does not support HTTP/3"):
        fetcher.network(http3=True)
