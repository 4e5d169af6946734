"""Queries by c-ares run in the asyncio loop, without a thread that hands answers over."""

import asyncio
import threading

import pytest
from name_server import AAAA, A, NameServer

from evercrawl.fetch.names import DnsResolver
from evercrawl.fetch.names.query_channel import QueryChannel

ZONE = {"one.example": {A: ["192.0.2.1"], AAAA: []}, "silent.example": None}


def test_answers_come_in_the_thread_of_the_loop() -> None:
    async def ask() -> int:
        async with NameServer(ZONE) as server:
            channel, answer = QueryChannel(server.address, 0.6), asyncio.get_running_loop().create_future()
            channel.query("one.example", A, lambda *_: answer.set_result(threading.get_ident()))
            thread = await answer
            channel.close()
        return thread

    assert asyncio.run(ask()) == threading.get_ident()


def test_a_closed_channel_ends_its_queries_and_watches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> None:
        loop, watched, codes = asyncio.get_running_loop(), list[int](), list[int]()
        async with NameServer(ZONE) as server:
            channel, add = QueryChannel(server.address, 0.6), loop.add_reader

            def note(fd: int, *call: object) -> None:
                watched.append(fd)
                add(fd, *call)

            monkeypatch.setattr(loop, "add_reader", note)
            channel.query("silent.example", A, lambda _, code: codes.append(code))
            assert watched
            assert not codes
            channel.close()
            assert len(codes) == 1
            channel.close()
            assert not any(loop.remove_reader(fd) for fd in watched)

    asyncio.run(ask())


def test_look_ups_go_on_in_new_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evercrawl.fetch.names.live.CHANNEL_QUERIES", 2)

    async def ask() -> list[tuple[str, ...]]:
        async with NameServer(ZONE) as server:
            resolver = DnsResolver(server.address, timeout_s=0.6)
            found = [(await resolver.resolve("one.example")).addresses for _ in range(4)]
            resolver.close()
        return found

    assert asyncio.run(ask()) == 4 * [("192.0.2.1",)]
