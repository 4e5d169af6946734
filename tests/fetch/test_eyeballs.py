# ruff: noqa: ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Two addresses of one server, of two families: the second is tried where the first is silent (RFC 8305)."""

import contextlib
import socket

import pytest
from answers import HI, OK

from evercrawl.types import Request

SIX, FOUR = "::1", "127.0.0.1"


def speaks_6() -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as one:
        one.bind((SIX, 0))
        return True
    return False


pytestmark = pytest.mark.skipif(not speaks_6(), reason="this machine has no IPv6, not even of its own")


@contextlib.contextmanager
def silent(port):
    """Have nobody answer at a port of ::1: the queue of those who wait for a connection is full."""
    with socket.socket(socket.AF_INET6) as listener, contextlib.ExitStack() as waiting:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((SIX, port))
        listener.listen(0)
        for _ in range(4):
            one = waiting.enter_context(socket.socket(socket.AF_INET6))
            one.setblocking(False)
            one.connect_ex((SIX, port))
        yield


async def two(site, network, addresses):
    """Return what comes of a request to either of two addresses, and of another to the one that answered."""
    found = []
    for beside in (addresses[1], ""):
        network.start(Request(site.url("/", "two.test"), deadline_s=5.0), addresses, beside=beside)
        found += await network.finished(8.0)
        addresses = (found[0].ip,)
    return found


def test_a_silent_address_costs_a_quarter_of_a_second(fetcher):
    judged = []

    async def work(site, network):
        with silent(site.port):
            return await two(site, network, (SIX, FOUR))

    site = fetcher.Site({"/": HI})
    first, second = fetcher.with_site(site, work, judge=lambda ip: judged.append(ip) or "", happy_eyeballs_s=0.1)
    assert [(each.body, each.ip) for each in (first, second)] == [(b"hi", FOUR)] * 2
    assert 0.1 <= first.elapsed_s < 1.5
    assert first.sent.split(b"\r\n")[1] == f"Host: two.test:{site.port}".encode()
    assert (judged, site.connections) == ([SIX, FOUR], 1)  # the connection that was made serves the next request too


@pytest.mark.parametrize("addresses", [(FOUR, SIX), (SIX, FOUR)])
def test_where_nobody_listens_at_one_the_other_is_asked_at_once(fetcher, addresses):
    async def work(site, network):
        return await two(site, network, addresses)

    first, _ = fetcher.with_site(fetcher.Site({"/": HI}), work, happy_eyeballs_s=60.0)
    assert (first.body, first.ip) == (b"hi", FOUR)


def test_a_refused_address_beside_is_not_connected_to(fetcher):
    async def work(site, network):
        with silent(site.port):
            network.start(Request(site.url("/", "two.test"), deadline_s=0.6), (SIX, FOUR), beside=FOUR)
            return await network.finished(8.0)

    site = fetcher.Site({"/": HI})
    judge = {SIX: "", FOUR: "inside"}.__getitem__
    (exchange,) = fetcher.with_site(site, work, judge=judge, happy_eyeballs_s=0.05)
    assert (exchange.status, site.connections) == (0, 0)


def test_later_connections_go_to_the_address_that_answered(fetcher):
    async def work(site, network):
        with silent(site.port):
            await two(site, network, (SIX, FOUR))
            judged.clear()
            network.start(Request(site.url("/", "two.test"), deadline_s=5.0), (FOUR,))
            return await network.finished(8.0)

    async def reply(connection):
        connection[1].write(OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nhi")

    judged = []
    site = fetcher.Site({"/": reply})
    (third,) = fetcher.with_site(site, work, judge=lambda ip: judged.append(ip) or "", happy_eyeballs_s=0.05)
    assert (third.body, third.ip, judged) == (b"hi", FOUR, [FOUR])
