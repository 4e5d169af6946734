# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Connections are kept, and never give one request the answer to another."""

import asyncio
import os
import resource
import socket
import time

import pytest
from answers import CA, HI, OK, hold, outcome

from evercrawl.fetch.sockets import spare_connections
from evercrawl.types import Request

# ---- kept connections


def test_connections_are_kept(fetcher):
    async def work(site, network):
        return [(await fetcher.one(network, site.url("/"))).body for _ in range(5)]

    site = fetcher.Site({"/": HI})
    assert fetcher.with_site(site, work) == [b"hi"] * 5
    assert site.connections == 1


def test_a_connection_that_was_closed_meanwhile(fetcher):
    async def reply(connection):
        connection[1].write(HI)

    async def work(site, network):
        bodies = []
        for _ in range(5):
            bodies.append((await fetcher.one(network, site.url("/"))).body)
            await asyncio.sleep(0.02)
        return bodies

    site = fetcher.Site({"/": reply})
    assert fetcher.with_site(site, work) == [b"hi"] * 5
    assert site.connections == 5


@pytest.mark.parametrize("pem", ["", "site.pem"])
@pytest.mark.parametrize("gap_s", [0, 0.1])
def test_an_answer_nobody_asked_for_is_never_taken(fetcher, gap_s, pem):
    evil = OK + b"Content-Length: 6\r\n\r\nPOISON"

    async def reply(connection):
        connection[1].write(HI)
        if not gap_s:
            connection[1].write(evil)
        await connection[1].drain()
        await asyncio.sleep(gap_s)
        return evil if gap_s else b""

    async def work(site, network):
        first = await fetcher.one(network, site.url("/"))
        await asyncio.sleep(2 * gap_s)
        return [first.body] + [(await fetcher.one(network, site.url("/own"))).body for _ in range(3)]

    site = fetcher.Site({"/": reply, "/own": OK + b"Content-Length: 3\r\n\r\nown"}, pem=pem)
    assert fetcher.with_site(site, work, ca_file=CA) == [b"hi", b"own", b"own", b"own"]


def test_an_answer_that_waits_behind_a_long_one_is_never_taken(fetcher):
    page = b"p" * 50_000

    async def reply(_):
        return fetcher.reply(page) + fetcher.reply(b"POISON")

    async def work(site, network):
        for _ in range(8):
            network.start(Request(site.url("/")))
        bodies = []
        while network.in_flight:
            for exchange in await network.finished(5):
                bodies.append(exchange.body)
                if len(bodies) < 50:
                    network.start(Request(site.url("/")))
        return bodies

    assert set(fetcher.with_site(fetcher.Site({"/": reply}), work)) == {page}


def test_a_closed_socket_that_lives_on_elsewhere(fetcher):
    """A process forked from ours holds the sockets of its parent, and epoll goes on reporting what happens there."""

    async def work(site, network):
        await fetcher.one(network, site.url("/"))
        connections = [fd for fd in range(256) if is_connection(fd, site.port)]
        copies = [os.dup(fd) for fd in connections]
        async with fetcher.Site({"/": HI}) as other:
            await fetcher.one(network, other.url("/"))  # takes the only place, so the first connection is closed
            began = time.process_time()
            await network.finished(0.3)
            took_s = time.process_time() - began
            body = (await fetcher.one(network, other.url("/"))).body
        for fd in copies:
            os.close(fd)
        return len(copies), body, took_s, other.connections

    async def reply(connection):
        connection[1].write(HI)
        await connection[1].drain()
        await asyncio.sleep(0.1)
        connection[1].write(b"more")
        await hold(connection)

    copies, body, took_s, connections = fetcher.with_site(fetcher.Site({"/": reply}), work, max_connections=1)
    assert (copies, body, connections) == (1, b"hi", 1)
    assert took_s < 0.1


def is_connection(fd, port):
    try:
        with socket.socket(fileno=os.dup(fd)) as one:
            return one.getpeername()[1] == port
    except (OSError, IndexError):
        return False


def test_connections_have_no_more_than_their_number(fetcher):
    async def slow(_):
        await asyncio.sleep(0.02)
        return HI

    async def work(site, network):
        for _ in range(30):
            network.start(Request(site.url("/")))
        assert network.in_flight == 30
        ended = []
        while network.in_flight:
            ended += await network.finished(5)
        return ended

    site = fetcher.Site({"/": slow})
    exchanges = fetcher.with_site(site, work, max_connections=4)
    assert [outcome(exchange) for exchange in exchanges] == [(200, "", False, b"hi")] * 30
    assert site.connections == 4


def test_idle_connections_are_kept_beside_those_in_use(fetcher):
    async def work(site, network):
        for number in [*range(6)] * 3:
            await fetcher.one(network, f"http://n{number}.test:{site.port}/", ("127.0.0.1",))
        return site.connections

    replies = {"/": fetcher.reply(b"hi")}
    few = fetcher.with_site(fetcher.Site(replies), work, max_connections=2)
    many = fetcher.with_site(fetcher.Site(replies), work, max_connections=2, kept_idle=4)
    assert (few, many) == (18, 6)


def test_no_more_connections_are_kept_than_there_are_descriptors_for():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = []
    try:
        for descriptors in (1024, 700, 300):
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
            found.append(spare_connections(256))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == [256, 188, 0]


# ---- many at a time


def test_answers_find_their_requests(fetcher):
    async def work(site, network):
        for i in range(200):
            network.start(Request(site.url(f"/{i % 40}?{i}"), tag=i))
        ended = []
        while len(ended) < 200:
            ended += await network.finished(5)
        return ended

    site = fetcher.Site({f"/{i}": fetcher.reply(b"%d" % i) for i in range(40)})
    exchanges = fetcher.with_site(site, work, max_connections=20)
    assert sorted(exchange.request.tag for exchange in exchanges) == list(range(200))
    assert all(exchange.body == b"%d" % (exchange.request.tag % 40) for exchange in exchanges)


def test_nothing_ends_before_the_time_out(fetcher):
    async def work(site, network):
        began = time.monotonic()
        none_flying = await network.finished(0.05)
        network.start(Request(site.url("/")))
        silent = await network.finished(0.05)
        return none_flying, silent, time.monotonic() - began, network.in_flight

    none_flying, silent, took_s, in_flight = fetcher.with_site(fetcher.Site({"/": hold}), work)
    assert (none_flying, silent, in_flight) == ([], [], 1)
    assert 0.09 < took_s < 1


def test_close_aborts(fetcher):
    async def work(site, network):
        network.start(Request(site.url("/")))
        await network.finished(0.1)
        assert site.requests
        await network.close()
        return network.in_flight, await asyncio.wait_for(network.finished(0.01), 1)

    assert fetcher.with_site(fetcher.Site({"/": hold}), work) == (0, [])
