"""Who says next to nothing, as the network tells it, and how it hangs up."""

import asyncio

from evercrawl.fetch.answer import MAX_HEAD_BYTES
from evercrawl.types import SILENT, Request

OVER_S = 0.4


closed = asyncio.Event()


async def drips(talk) -> None:
    _, writer = talk
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while not writer.transport.is_closing():
        writer.write(b"x")
        await asyncio.sleep(0.05)
    closed.set()


async def says_nothing(_) -> None:
    await asyncio.sleep(3600)


async def talks(talk) -> None:
    _, writer = talk
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % MAX_HEAD_BYTES)
    while not writer.transport.is_closing():
        writer.write(b"x" * 200)
        await asyncio.sleep(0.05)


def test_silence_and_drips_are_told_apart_from_who_talks(fetcher):
    async def run() -> None:
        closed.clear()
        async with fetcher.Site({"/silent": says_nothing, "/drips": drips, "/talks": talks}) as site:
            network = fetcher.network()
            for path in ("silent", "drips", "talks"):
                network.start(Request(site.url(f"/{path}")), ("127.0.0.1",))
            told = set[str]()
            for _ in range(30):
                await network.finished(0.05)
                told = {one.request.url.rpartition("/")[2] for one in network.silent(OVER_S)}
                if len(told) == 2:
                    break
            silences = network.silent(OVER_S)
            assert told == {"silent", "drips"}
            assert {one.ip for one in silences} == {"127.0.0.1"}
            network.hang_up(silences)
            assert network.in_flight == 1
            ended = await network.finished(1.0)
            assert {exchange.error for exchange in ended} == {SILENT}
            assert all(exchange.sent for exchange in ended)
            assert network.silent(OVER_S) == []
            await closed.wait()  # as the far end sees
            await network.close()

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_handle_that_was_hung_up_serves_the_next_exchange(fetcher):
    async def run() -> None:
        async with fetcher.Site({"/silent": says_nothing, "/page": fetcher.reply(b"whole")}) as site:
            network = fetcher.network()
            for _ in range(3):
                network.start(Request(site.url("/silent")), ("127.0.0.1",))
                await network.finished(0.1)
                network.hang_up(network.silent(0.0))
                (cut,) = await network.finished(1.0)
                assert (cut.error, cut.status) == (SILENT, 0)
                whole = await fetcher.one(network, Request(site.url("/page")), ("127.0.0.1",))
                assert (whole.error, whole.body) == ("", b"whole")
            await network.close()

    asyncio.run(asyncio.wait_for(run(), 30))


def test_who_was_not_reached_is_silent_too(fetcher):
    async def run() -> None:
        network = fetcher.network()
        network.start(Request("http://a.example/"), ("192.0.2.1",))  # for documentation: nobody answers, or nobody can
        await network.finished(0.1)
        silences = network.silent(0.0)
        network.hang_up(silences)
        ended = await network.finished(0.1) if silences else []
        assert all((one.error, one.sent) == (SILENT, b"") for one in ended)
        assert network.in_flight == 0
        await network.close()

    asyncio.run(asyncio.wait_for(run(), 30))
