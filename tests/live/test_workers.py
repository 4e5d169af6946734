"""A real crawl whose pages are read by other processes, while these are killed."""

import asyncio
import functools
import os
import signal
from collections import Counter
from typing import Any

import psutil
import pytest

from evercrawl.crawl import equipment
from evercrawl.crawl.workers.crew import Crew
from evercrawl.crawl.workers.workers import Workers


@pytest.fixture
def made(monkeypatch):
    """Start processes with the first page; return the readers that were made."""
    made = []

    def workers(*arguments: Any, **more: Any) -> Workers:
        made.append(Workers(*arguments, **more, busy_s=0.0))
        return made[-1]

    monkeypatch.setattr(equipment, "Workers", functools.wraps(Workers)(workers))
    return made


def unsuspected(crew: Crew) -> list[int]:
    """Return the processes that read nothing for the second time, nor are about to."""
    return [] if crew._suspects else [one.pid for one in crew._processes if one.ready and not one.suspected]


@pytest.mark.parametrize("index", [False, True])
def test_killed_while_they_read_they_lose_nothing_and_leave_nothing(live, made, index):
    killed = []

    async def kill() -> None:
        while True:  # none that reads again what another came to grief on: a body on which two did is given up
            await asyncio.sleep(0.7)
            for pid in [pid for one in made for pid in unsuspected(one._crew)][:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    async def go() -> Any:
        async with live.Server(hosts=6, pages=60) as server:
            killing = asyncio.ensure_future(kill())
            summary = await live.crawl(server.seeds, delay_s=0.05, workers="2", index=index)
            killing.cancel()
            return server, summary

    server, summary = asyncio.run(go())
    assert summary.reason == "idle"
    foretold = server.web.urls()
    assert server.pages == Counter({url: 1 for url, what in foretold.items() if what != "refused"})
    found = live.outcomes()
    assert {url: found[url] for url, what in foretold.items() if what != "copy"} == {
        url: what for url, what in foretold.items() if what != "copy"
    }
    live.verified()
    assert len(killed) > 1
    assert any("ended (signal SIGKILL); another takes its place" in progress.message for progress in live.said)
    assert not [child for child in psutil.Process().children() if child.pid in killed or child.pid in made[0].pids]
    assert not made[0].pids


def test_without_them_there_is_none(live, made):
    async def go() -> None:
        async with live.Server(hosts=1, pages=5) as server:
            await live.crawl(server.seeds, workers="0")

    asyncio.run(go())
    assert not made
