import asyncio
import socket
import threading
import time

import pytest
from name_server import AAAA, SERVFAIL, A, NameServer

from evercrawl.errors import ConfigError
from evercrawl.fetch.names import DnsResolver, ResolveError, StaticResolver, SystemResolver, read_resolve_file


async def failure(resolver, host) -> str:
    with pytest.raises(ResolveError) as caught:
        await resolver.resolve(host)
    return caught.value.reason


ZONE = {
    "one.example": {A: ["192.0.2.1"]},
    "many.example": {AAAA: ["2001:db8::1"], A: ["192.0.2.2", "192.0.2.1"]},
    "six.example": {AAAA: ["2001:db8::6"]},
    "alias.example": {A: ["=one.example", "192.0.2.1"]},
    "empty.example": {},
    "broken.example": SERVFAIL,
    "silent.example": None,
    "half.example": {A: ["192.0.2.1"], AAAA: None},
    "xn--bcher-kva.example": {A: ["192.0.2.7"]},
}


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("one.example", ["192.0.2.1"]),
        ("many.example", ["192.0.2.2", "192.0.2.1", "2001:db8::1"]),
        ("six.example", ["2001:db8::6"]),
        ("alias.example", ["192.0.2.1"]),
        ("half.example", ["192.0.2.1"]),
        ("xn--bcher-kva.example", ["192.0.2.7"]),
        ("192.0.2.9", ["192.0.2.9"]),
        ("[2001:db8::9]", ["2001:db8::9"]),
    ],
)
def test_a_name_server_answers(host, addresses):
    async def ask() -> None:
        async with NameServer(ZONE) as server:
            resolver = DnsResolver(server.address)
            assert await resolver.resolve(host) == (tuple(addresses), None if host[0] in "1[" else 60.0)
            resolver.close()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("missing.example", "no such name"),
        ("empty.example", "no such name"),
        ("silent.example", "time-out"),
        ("broken.example", "the name server failed"),
        ("a" * 64 + ".example", "no such name"),
    ],
)
def test_a_name_server_does_not_answer(host, reason):
    async def ask() -> None:
        async with NameServer(ZONE) as server:
            resolver = DnsResolver(server.address, timeout_s=0.6)
            start = time.monotonic()
            assert (await failure(resolver, host)).startswith(reason)
            assert time.monotonic() - start < 2
            resolver.close()

    asyncio.run(ask())


def test_a_lost_query_is_repeated():
    class Forgetful(NameServer):
        def datagram_received(self, data, addr) -> None:
            first = self._question(data)[:2] not in self.asked
            if first:
                self.asked.append(self._question(data)[:2])
            else:
                super().datagram_received(data, addr)

    async def ask() -> None:
        async with Forgetful(ZONE) as server:
            resolver = DnsResolver(server.address, timeout_s=0.9)
            assert await resolver.resolve("one.example") == (("192.0.2.1",), 60.0)
            resolver.close()

    asyncio.run(ask())


def test_nobody_listens():
    async def ask() -> None:
        resolver = DnsResolver("127.0.0.1:1", timeout_s=0.6)
        assert await failure(resolver, "one.example")
        resolver.close()

    asyncio.run(ask())


@pytest.mark.parametrize("text", ["127.0.0.1", "127.0.0.1:53", "[::1]:53", "[::1]", "::1"])
def test_forms_of_a_name_server(text):
    DnsResolver(text)


@pytest.mark.parametrize(
    "text", ["", "dns.example", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999", "[::1]:x", "127.0.0.1:-1"]
)
def test_a_bad_name_server_says_what_to_write(text):
    with pytest.raises(ConfigError, match=r"such as 127\.0\.0\.1:53"):
        DnsResolver(text)


def test_the_system_knows_itself():
    addresses = asyncio.run(SystemResolver().resolve("localhost")).addresses
    assert "127.0.0.1" in addresses or "::1" in addresses
    assert addresses == tuple(sorted(addresses, key=lambda address: ":" in address))


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_the_system_is_not_asked_about_literals(host, monkeypatch):
    monkeypatch.delattr(socket, "getaddrinfo")
    assert asyncio.run(SystemResolver().resolve(host)) == ((host.strip("[]"),), None)


def test_what_the_system_cannot_look_up_has_a_reason():
    assert "name" in asyncio.run(failure(SystemResolver(), "a" * 64 + ".example"))
    assert asyncio.run(failure(SystemResolver(timeout_s=2), "missing.invalid"))


def test_a_look_up_of_the_system_has_its_time_from_when_it_starts(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: release.wait(10) and [])

    async def ask() -> None:
        resolver = SystemResolver(at_once=1, timeout_s=0.05)
        assert await failure(resolver, "a.example") == "time-out"
        second = asyncio.ensure_future(failure(resolver, "b.example"))
        await asyncio.sleep(0.15)  # the first still has the only place
        assert not second.done()
        release.set()
        assert await second == "no such name"

    asyncio.run(ask())


def test_names_known_by_heart():
    async def ask() -> None:
        resolver = StaticResolver({"a.example": ["::1", "192.0.2.1"]})
        assert await resolver.resolve("A.example.") == (("192.0.2.1", "::1"), None)
        assert await resolver.resolve("127.0.0.1") == (("127.0.0.1",), None)
        assert await failure(resolver, "c.example") == "no such name"
        assert (await StaticResolver({"*": ["192.0.2.3"]}).resolve("any.example")).addresses == ("192.0.2.3",)

    asyncio.run(ask())


def test_resolve_file(tmp_path):
    path = tmp_path / "names"
    path.write_text(
        "# names\n\nA.example 192.0.2.1 2001:db8::1 # why\nb.example:443:192.0.2.2\n"
        "+c.example:80:192.0.2.3,[2001:db8::3]\nd.example:*:[::1]\n*:80:127.0.0.1\na.example 192.0.2.4\n"
    )
    assert read_resolve_file(path) == {
        "a.example": ["192.0.2.1", "2001:db8::1", "192.0.2.4"],
        "b.example": ["192.0.2.2"],
        "c.example": ["192.0.2.3", "2001:db8::3"],
        "d.example": ["::1"],
        "*": ["127.0.0.1"],
    }


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("a.example", "no address"),
        ("a.example b.example", "'b.example' is not an IP address"),
        ("192.0.2.1 a.example", "but a name must come first"),
        ("a.example:80:", "no address"),
        ("a.example:80:1.2.3", "'1.2.3' is not an IP address"),
        ("a.example 1.2.3.4,5.6.7.8", "is not an IP address"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, wrong):
    path = tmp_path / "names"
    path.write_text(f"ok.example 192.0.2.1\n{line}\n")
    with pytest.raises(ConfigError, match="line 2") as caught:
        read_resolve_file(path)
    assert wrong in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        read_resolve_file(tmp_path / "nowhere")
