# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Ways inside and ways to keep us out: names, addresses, ports and certificates, in whole crawls."""

import asyncio
import socket
from pathlib import Path
from typing import Self

import pytest

from evercrawl.fetch.names import StaticResolver
from evercrawl.fetch.names.base import MAX_ADDRESSES

EXPIRED = Path(__file__).parent / "data" / "expired.pem"


def dead_port():
    """A port of the servers' address where nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.9.1", 0))
        return one.getsockname()[1]


def test_links_to_dead_ports_do_not_keep_us_from_the_host(hostile):
    """A port without robots.txt closes itself, and once closed its whole host: any page anywhere could do that."""
    ports = [dead_port() for _ in range(3)]
    far = hostile.Far({})
    dead = [f"http://127.0.9.1:{port}/dead" for port in ports]
    far.replies["/"] = hostile.page(*dead, *[f"/{i}" for i in range(5)])
    far.replies |= {f"/{i}": hostile.page(text=str(i)) for i in range(5)}
    crawled = hostile.crawl(far, seconds=10.0)
    label = {url.rpartition("/")[2]: outcome for url, outcome in crawled.outcomes.items()}
    assert [label[str(i)] for i in range(5)] == ["ok"] * 5
    assert label["dead"] == "refused"
    assert crawled.took_s < 5
    assert any(
        visit.error.startswith("robots_unreachable: robots.txt of http://127.0.9.1:") for visit in crawled.visits
    )


def test_a_site_of_which_one_port_is_closed_and_met_first_is_crawled_all_the_same(hostile, monkeypatch):
    monkeypatch.setattr("evercrawl.model.rules.robots.MIN_FRESH_S", 0.1)
    far = hostile.Far({"/": hostile.page("/x"), "/x": hostile.page(text="x")})
    dead = f"http://127.0.9.1:{dead_port()}/dead"
    crawled = hostile.crawl(far, first=(dead,), policy="breadth_first", seconds=2.0, until_idle=False)
    assert crawled.outcomes[dead] == "refused"
    assert crawled.outcomes[far.url("/x")] == "ok"


# Inside


class Canary:
    """Counts who comes, on IPv4 and IPv6 loopback; nobody may."""

    connections = 0

    async def __aenter__(self) -> Self:
        self.servers = [await asyncio.start_server(self._count, "127.0.8.8", 0)]
        self.port = self.servers[0].sockets[0].getsockname()[1]
        for address in ("127.0.0.1", "::1"):
            self.servers.append(await asyncio.start_server(self._count, address, self.port))
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self.servers:
            server.close()

    def _count(self, _, writer):
        self.connections += 1
        writer.close()


SPELLINGS = [
    "127.0.8.8", "127.2056", "2130708488", "0x7f.0.8.8", "0x7f000808", "0177.0.8.8", "0177.0.010.010", "017700004010",
    "127.0.8.8.", "%31%32%37.0.8.8", "\uff11\uff12\uff17.0.8.8", "127\u30020\u30028\u30028", "127\uff0e0\uff0e8\uff0e8",
    "\u2460\u2461\u2466.0.8.8", "[::ffff:127.0.8.8]", "[::ffff:7f00:808]", "[0:0:0:0:0:ffff:7f00:0808]",
    "[::1]", "[0000::0001]", "localhost", "LOCALHOST", "localhost.",
    "\u24dbocalhost", "lo\u00adcalhost", "127.0.0.1", "127.1", "0", "0.0.0.0", "[::]", "[::127.0.8.8]",
    "[64:ff9b::7f00:808]", "[2002:7f00:808::]", "x@127.0.8.8", "127.0.8.8\\@example.org", "\t127.0.\n8.8",
]  # fmt: skip


@pytest.mark.parametrize("way", ["link", "redirect"])
def test_no_spelling_of_an_inside_address_leads_there(hostile, way, tmp_path):
    names = tmp_path / "names"
    names.write_text("localhost 127.0.0.1\nlocalhost 127.0.8.8\n")
    canary, far = Canary(), hostile.Far({})
    port: list[int] = []

    async def front(say):
        port.append(canary.port)
        links = [f"http://{host}:{canary.port}/in{i}" for i, host in enumerate(SPELLINGS)]
        if way == "redirect":
            links = [link for link in links if link.isascii() and link.isprintable()]
            far.replies |= {f"/r{i}": hostile.moved(link) for i, link in enumerate(links)}
            links = [f"/r{i}" for i in range(len(links))]
        await say(hostile.page(*links))
        return b""

    far.replies["/"] = front
    crawled = hostile.crawl(far, beside=(canary,), scope="any", resolve=str(names), delay_s=0.001, seconds=8.0)
    inside = {url: label for url, label in crawled.outcomes.items() if f":{port[0]}/in" in url}
    assert canary.connections == 0
    assert len(inside) >= 25
    assert set(inside.values()) == {"refused"}


def test_of_a_name_s_addresses_only_so_many_are_tried():
    addresses = [f"192.0.2.{i}" for i in range(200)] + [f"2001:db8::{i:x}" for i in range(4_000)]
    found = asyncio.run(StaticResolver({"many.example": addresses}).resolve("many.example"))
    assert len(found.addresses) == MAX_ADDRESSES


# Certificates


@pytest.mark.parametrize("verify", [True, False])
def test_a_certificate_that_has_expired_is_refused_or_noted(hostile, verify):
    far = hostile.Far({"/": hostile.page()}, pem=str(EXPIRED))
    (exchange,) = hostile.fetch(far, options={"ca_file": str(EXPIRED), "verify_tls": verify})
    assert exchange.tls_ok is False
    assert (exchange.error, exchange.status) == (("tls", 0) if verify else ("", 200))
    assert "expired" in exchange.detail or not verify
    assert len(far.asked) == (0 if verify else 1)


@pytest.mark.parametrize("babble", [b"", b"HTTP/1.1 200 OK\r\n\r\n", b"\x16\x03\x01\xff\xff" + bytes(70_000), bytes(9)])
def test_what_is_no_tls_ends_by_the_deadline(hostile, babble):
    class Deaf(hostile.Far):
        async def speak(self, reader, writer):
            writer.write(babble)
            while await reader.read(1 << 16):
                pass

    far = Deaf({})
    far.url = lambda path="/", host="": f"https://site.test:{far.port}{path}"
    (exchange,) = hostile.fetch(far, deadline_s=0.4)
    assert exchange.error in ("tls", "timeout", "reset")
    assert (exchange.status, exchange.sent) == (0, b"")
    assert exchange.elapsed_s < 2
