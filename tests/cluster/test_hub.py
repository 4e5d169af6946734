"""Who may join a crawl over the network."""

import asyncio

import pytest

from evercrawl.cluster.hub import Hub
from evercrawl.cluster.wire import Joined, StopAsked, packed
from evercrawl.errors import ConfigError


async def said(hub: Hub, data: bytes) -> bytes:
    """Send something, and return what comes until the other end closes."""
    reader, writer = await asyncio.open_connection(*await hub.address())
    writer.write(data)
    try:
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_only_a_process_that_was_begun_may_join():
    async def run() -> None:
        hub = Hub("127.0.0.1", "1")
        line = hub.expect(7)
        for data in (
            b"\xff\xff\xff\xff", b"\x05\x00\x00\x00hello", packed(StopAsked()), packed(Joined("no", 7, "1")),
            packed(Joined("n\u00f6", 7, "1")), packed(Joined(hub.token, 8, "1")),
        ):  # fmt: skip
            assert await said(hub, data) == b""
        assert (hub.refused, line.done()) == (6, False)
        reader, writer = await asyncio.open_connection(*await hub.address())
        writer.write(packed(Joined(hub.token, 7, "1")))
        _, ours = await asyncio.wait_for(line, 10)
        ours.write(b"x")
        assert await reader.readexactly(1) == b"x"
        assert await said(hub, packed(Joined(hub.token, 7, "1"))) == b""  # once
        ours.close()
        writer.close()
        await hub.close()

    asyncio.run(run())


def test_another_evercrawl_may_not_join():
    async def run() -> None:
        hub = Hub("127.0.0.1", "1")
        line = hub.expect(1)
        await said(hub, packed(Joined(hub.token, 1, "2")))
        with pytest.raises(ConfigError, match="evercrawl 2"):
            await line
        await hub.close()

    asyncio.run(run())
