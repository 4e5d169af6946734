"""A directory to which a partition was moved takes orders once its process may request pages."""

import asyncio
import socket
from typing import Any

from evercrawl.cluster import part
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.wire import CeilingShared, LeaveGiven, PagesAllowed, StopAsked, packed
from evercrawl.config import Config
from evercrawl.store.disk.leaving import mark_leaving
from evercrawl.store.disk.moved import LEAVING
from tests.cluster.played import seen


def test_the_mark_of_a_move_is_removed_by_the_first_leave_and_by_nothing_earlier(wide, tmp_path, monkeypatch):
    _, machines = wide
    directory, heard = tmp_path / "a" / "part-0", list[object]()
    mark_leaving(directory)

    async def crawl(*given: Any, **named: Any) -> None:
        hear = named["member"].carrier.hear
        named["member"].carrier.hear = lambda frame: (heard.append(frame), hear(frame))
        await given[5].wait()

    monkeypatch.setattr(part, "crawl", crawl)

    async def run() -> None:
        ours, theirs = socket.socketpair()
        plan = PartPlan(directory, machines.birth.share(0), bytes(16), 40, Config(), ())
        attending = asyncio.ensure_future(part.attend(plan, theirs))
        reader, writer = await asyncio.open_connection(sock=ours)
        await reader.read(4)  # it asks for leave, so it has begun
        for frame in (PagesAllowed(-1), CeilingShared(1.0)):
            writer.write(packed(frame))
        await seen(lambda: len(heard) == 2)
        assert (directory / LEAVING).is_file()
        writer.write(packed(LeaveGiven(0.0)))
        await seen(lambda: len(heard) == 3)
        assert not (directory / LEAVING).exists()
        writer.write(packed(StopAsked()))
        await attending
        writer.close()

    asyncio.run(run())
