import asyncio
import socket
import struct
import threading
import time
from typing import Self

import pytest

from evercrawl.errors import ConfigError
from evercrawl.fetch.resolve import (
    CachingResolver,
    DnsResolver,
    ResolveError,
    StaticResolver,
    SystemResolver,
    read_resolve_file,
)

A, CNAME, AAAA = 1, 5, 28
NXDOMAIN, SERVFAIL = 3, 2


class NameServer(asyncio.DatagramProtocol):
    """A name server on loopback: name -> {type: [data]}; a number is an error code, None is silence."""

    def __init__(self, zone) -> None:
        self.zone = zone
        self.asked = []

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        host, port = self.transport.get_extra_info("sockname")
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.transport.close()
        await asyncio.sleep(0)

    def datagram_received(self, data, addr):
        name, record_type, question = self._question(data)
        self.asked.append((name, record_type))
        held = self.zone.get(name.lower(), NXDOMAIN)
        if isinstance(held, dict):
            held = held.get(record_type, [])
        if held is None:
            return
        code = held if isinstance(held, int) else 0
        records = [] if isinstance(held, int) else [self._record(each) for each in held]
        header = data[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        self.transport.sendto(header + question + b"".join(records), addr)

    @staticmethod
    def _question(data) -> tuple[str, int, bytes]:
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        (record_type,) = struct.unpack(">H", data[at + 1 : at + 3])
        return ".".join(labels), record_type, data[12 : at + 5]

    @staticmethod
    def _record(text) -> bytes:
        if text.startswith("="):
            data = b"".join(bytes([len(part)]) + part.encode() for part in text[1:].split(".")) + b"\0"
            record_type = CNAME
        else:
            family, record_type = (socket.AF_INET6, AAAA) if ":" in text else (socket.AF_INET, A)
            data = socket.inet_pton(family, text)
        return b"\xc0\x0c" + struct.pack(">HHIH", record_type, 1, 60, len(data)) + data


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
            assert await resolver.resolve(host) == addresses
            resolver.close()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("missing.example", "no such name"),
        ("empty.example", "no such name"),
        ("silent.example", "time-out"),
        ("broken.example", "the name server failed"),
        ("a" * 64 + ".example", "not a name to look up"),
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
            assert await resolver.resolve("one.example") == ["192.0.2.1"]
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
    addresses = asyncio.run(SystemResolver().resolve("localhost"))
    assert "127.0.0.1" in addresses or "::1" in addresses
    assert addresses == sorted(addresses, key=lambda address: ":" in address)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_the_system_is_not_asked_about_literals(host, monkeypatch):
    monkeypatch.delattr(socket, "getaddrinfo")
    assert asyncio.run(SystemResolver().resolve(host)) == [host.strip("[]")]


def test_what_the_system_cannot_look_up_has_a_reason():
    assert "name" in asyncio.run(failure(SystemResolver(), "a" * 64 + ".example"))
    assert asyncio.run(failure(SystemResolver(timeout_s=2), "missing.invalid"))


def test_a_system_that_hangs_is_left_alone(monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: release.wait(10) and [])

    async def ask() -> None:
        resolver = SystemResolver(at_once=1, timeout_s=0.05)
        assert await failure(resolver, "a.example") == "time-out"
        assert await failure(resolver, "b.example") == "time-out"  # the first still has the only place
        release.set()
        reasons = [await failure(resolver, "c.example") for _ in range(20)]
        assert reasons[-1] == "no such name"  # the place is free again

    asyncio.run(ask())


def test_names_known_by_heart():
    async def ask() -> None:
        inner = StaticResolver({"b.example": ["192.0.2.2"]})
        resolver = StaticResolver({"a.example": ["::1", "192.0.2.1"]}, inner)
        assert await resolver.resolve("A.example.") == ["192.0.2.1", "::1"]
        assert await resolver.resolve("b.example") == ["192.0.2.2"]
        assert await resolver.resolve("127.0.0.1") == ["127.0.0.1"]
        assert await failure(resolver, "c.example") == "no such name"
        assert await StaticResolver({"*": ["192.0.2.3"]}).resolve("any.example") == ["192.0.2.3"]

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
        ("192.0.2.1 a.example", "where a name should stand first"),
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


class HandClock:
    def __init__(self) -> None:
        self.at = 1000.0

    def now(self):
        return self.at

    async def sleep(self, duration_s):
        self.at += duration_s


class Counting:
    """Answers when told to, and counts; names that begin with "no" do not exist."""

    def __init__(self) -> None:
        self.asked = []
        self.ready = asyncio.Event()

    async def resolve(self, host):
        self.asked.append(host)
        await self.ready.wait()
        if host.startswith("no"):
            raise ResolveError("no such name")
        return [f"192.0.2.{len(self.asked)}"]


def test_a_cache_forgets_in_time():
    async def ask() -> None:
        clock, inner = HandClock(), Counting()
        inner.ready.set()
        cache = CachingResolver(inner, clock)
        first = await cache.resolve("a")
        first.append("spoilt by the caller")
        clock.at += 299
        assert await cache.resolve("a") == ["192.0.2.1"]
        clock.at += 1
        assert await cache.resolve("a") == ["192.0.2.2"]
        assert await failure(cache, "no") == "no such name"
        clock.at += 29
        assert await failure(cache, "no") == "no such name"
        assert inner.asked == ["a", "a", "no"]
        clock.at += 1
        assert await failure(cache, "no") == "no such name"
        assert inner.asked == ["a", "a", "no", "no"]

    asyncio.run(ask())


def test_a_cache_asks_once_for_all_who_wait():
    async def ask() -> None:
        inner = Counting()
        cache = CachingResolver(inner, HandClock())
        waiting = [asyncio.create_task(cache.resolve("a")) for _ in range(5)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.pop(0).cancel()
        await asyncio.sleep(0)
        inner.ready.set()
        assert await asyncio.gather(*waiting) == [["192.0.2.1"]] * 4
        assert inner.asked == ["a"]

    asyncio.run(ask())


def test_a_cache_has_a_limit():
    async def ask() -> None:
        inner = Counting()
        inner.ready.set()
        cache = CachingResolver(inner, HandClock(), limit=2)
        for host in ("a", "b", "c", "c", "b", "a"):
            await cache.resolve(host)
        assert inner.asked == ["a", "b", "c", "a"]

    asyncio.run(ask())
