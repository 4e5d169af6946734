"""Where a crawl may go and how it gets there: the guard on every hop, names, name servers, proxies, certificates."""

import asyncio
import ssl
import struct
from pathlib import Path
from typing import Any

import pytest

from evercrawl.parse.urls import normalise
from evercrawl.progress import Limits
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.journal.events import TLS_BAD

CERTIFICATE = Path(__file__).parents[1] / "fetch" / "data" / "site.pem"
ALLOWED = ("127.0.1.1/32",)  # the server; the canary is on another loopback address


class Canary:
    """Counts connections; nobody may come."""

    def __init__(self, address: str = "127.0.7.7") -> None:
        self.address, self.connections = address, 0

    async def __aenter__(self) -> "Canary":
        self._server = await asyncio.start_server(self._count, self.address, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    def _count(self, reader: Any, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()


def names_file(tmp_path, **names: str) -> str:
    path = tmp_path / "names"
    path.write_text("".join(f"{name.replace('_', '.')} {address}\n" for name, address in names.items()))
    return str(path)


INSIDE = [
    "http://127.0.7.7:{port}/", "http://[::ffff:127.0.7.7]:{port}/", "http://2130708231:{port}/",
    "http://0x7f.0.1799:{port}/", "http://inside.example:{port}/", "http://both.example:{port}/",
    "http://mapped.example:{port}/", "http://localhost:{port}/", "https://127.0.7.7:{port}/",
]  # fmt: skip


@pytest.mark.parametrize("way", ["seed", "link", "redirect", "permanent", "refresh", "robots"])
def test_the_inside_gets_no_connection_whatever_leads_there(live, tmp_path, way):
    """Each address inside is named by a host of its own."""
    resolve = tmp_path / "names"
    resolve.write_text(
        "inside.example 127.0.7.7\nboth.example 127.0.7.7\nboth.example ::1\nmapped.example ::ffff:127.0.7.7\n"
        "localhost 127.0.7.7\n"
    )

    async def go() -> Any:
        async with live.Server(hosts=len(INSIDE)) as server, Canary() as canary:
            targets = [url.format(port=canary.port) for url in INSIDE]
            for origin, target in zip(server.web.origins, targets, strict=True):
                led = {
                    "/robots.txt": Answer(302, {"Location": target}) if way == "robots" else Answer(404),
                    "/seed": live.html(), "/link": live.html(target),
                    "/redirect": Answer(302, {"Location": target}), "/permanent": Answer(308, {"Location": target}),
                    "/refresh": live.html(head=f'<meta http-equiv=refresh content="0;url={target}">'),
                }  # fmt: skip
                server.extra |= {origin + path: answer for path, answer in led.items()}
            ways = [f"{origin}/{way}" for origin in server.web.origins]
            inside = {found for target in targets if (found := normalise(target))}
            await live.crawl(
                [*ways, *(sorted(inside) if way == "seed" else [])],
                Limits(seconds=600, until_idle=True),
                allow_net=("127.0.1.0/24",), scope="any", resolve=str(resolve),
            )  # fmt: skip
            return ways, inside, {served.origin for served in server.log}, canary.connections

    ways, inside, asked, connections = asyncio.run(go())
    assert connections == 0
    assert len(inside) == 7, "three of them are written differently and are one"
    assert len(asked) == len(ways)  # the way there was walked, to each of them
    if way != "robots":
        outcomes = live.outcomes()
        assert {outcomes.pop(url) for url in inside} == {"refused"}
        assert set(outcomes) == set(ways)
        assert set(outcomes.values()) <= {"ok", "redirect", "error"}


def test_of_an_allowed_inside_everything_can_be_had(live):
    async def go() -> Any:
        async with live.Server() as server:
            await live.crawl(server.seeds, Limits(pages=3))
            return server

    assert len(asyncio.run(go()).pages) == 3


def test_names_of_a_file_are_believed(live, tmp_path):
    async def go() -> Any:
        async with live.Server(hosts=2) as server:
            port = server.web.origins[0].rpartition(":")[2]
            server.extra["/"] = live.html("/x", f"http://b.example:{port}/x")
            server.extra["/x"] = live.html(text="x")
            resolve = names_file(tmp_path, a_example="127.0.1.1", b_example="127.0.1.2")
            await live.crawl([f"http://a.example:{port}/", f"http://b.example:{port}/"], resolve=resolve)
            return server

    server = asyncio.run(go())
    at = {(served.origin.rpartition(":")[0], served.headers["host"].partition(":")[0]) for served in server.log}
    assert at == {("http://127.0.1.1", "a.example"), ("http://127.0.1.2", "b.example")}


class NameServer(asyncio.DatagramProtocol):
    """Answers A questions from a table; other names do not exist."""

    def __init__(self, zone: dict[str, str]) -> None:
        self.zone, self.asked = zone, []

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, peer: Any) -> None:
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode().lower())
            at += 1 + data[at]
        name, (kind,) = ".".join(labels), struct.unpack(">H", data[at + 1 : at + 3])
        self.asked.append(name)
        address = self.zone.get(name)
        answers = b""
        if address and kind == 1:
            answers = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 60, 4) + bytes(map(int, address.split(".")))
        head = data[:2] + struct.pack(">HHHHH", 0x8180 | (0 if address else 3), 1, bool(answers), 0, 0)
        self.transport.sendto(head + data[12 : at + 5] + answers, peer)


def test_the_name_server_of_the_settings_is_asked(live):
    async def go() -> Any:
        loop = asyncio.get_running_loop()
        zone = {"here.example": "127.0.1.1", "inside.example": "127.0.7.7"}
        transport, names = await loop.create_datagram_endpoint(lambda: NameServer(zone), local_addr=("127.0.0.1", 0))
        try:
            async with live.Server() as server, Canary() as canary:
                port = server.web.origins[0].rpartition(":")[2]
                dns = f"127.0.0.1:{transport.get_extra_info('sockname')[1]}"
                server.extra["/"] = live.html("/x", f"http://inside.example:{canary.port}/", "http://nowhere.example/")
                server.extra["/x"] = live.html(text="x")
                await live.crawl(
                    [f"http://here.example:{port}/"], Limits(seconds=2.0), dns=dns, scope="any", allow_net=ALLOWED
                )
                return port, names, canary
        finally:
            transport.close()

    port, names, canary = asyncio.run(go())
    assert {"here.example", "inside.example", "nowhere.example"} <= set(names.asked)
    assert canary.connections == 0
    found = live.outcomes()
    assert found[f"http://here.example:{port}/x"] == "ok"
    assert found["http://nowhere.example/"] == "error"
    assert any(visit.error.startswith("dns: ") for visit in live.visits())


class Proxy:
    """A tiny HTTP proxy: forwards plain requests to one server, whatever host they name."""

    def __init__(self, server: Any) -> None:
        self.to, self.lines = int(server.web.origins[0].rpartition(":")[2]), []

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._serve, "127.0.3.3", 0)
        self.url = f"http://127.0.3.3:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            first, _, rest = head.partition(b"\r\n")
            method, url, version = first.decode().split()
            self.lines.append(url)
            path = "/" + url.split("/", 3)[3]
            there, onwards = await asyncio.open_connection("127.0.1.1", self.to)
            onwards.write(f"{method} {path} {version}\r\nConnection: close\r\n".encode() + rest)
            writer.write(await there.read())
            onwards.close()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()


def test_through_a_proxy_names_are_its_matter_and_literal_inside_addresses_still_refused(live):
    async def go() -> Any:
        async with live.Server() as server, Canary() as canary, Proxy(server) as proxy:
            inside = f"http://127.0.7.7:{canary.port}/"
            server.extra |= {"/robots.txt": Answer(404), "/": live.html("/x", inside), "/x": live.html(text="x")}
            await live.crawl(
                ["http://only.proxy.knows.example/"], Limits(seconds=2.0, until_idle=True), proxy=proxy.url,
                allow_net=(), scope="any",
            )  # fmt: skip
            return proxy, canary

    proxy, canary = asyncio.run(go())
    base = "http://only.proxy.knows.example"
    assert proxy.lines == [f"{base}/robots.txt", f"{base}/", f"{base}/x"]
    assert canary.connections == 0
    assert live.outcomes()[f"{base}/x"] == "ok"


@pytest.mark.parametrize("verify", [True, False])
def test_a_certificate_that_does_not_verify_is_refused_or_noted(live, tmp_path, verify):
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def go() -> str:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server = await asyncio.start_server(serve, "127.0.1.1", 0, ssl=context)
        url = f"https://127.0.1.1:{server.sockets[0].getsockname()[1]}/"
        await live.crawl([url], Limits(seconds=2.0, until_idle=True), verify_tls=verify)
        server.close()
        return url

    url = asyncio.run(go())
    if verify:
        assert live.outcomes() == {url: ""}  # robots.txt could not be read, so nothing was asked for
    else:
        assert live.outcomes() == {url: "ok"}
        assert live.visits()[-1].flags & TLS_BAD
