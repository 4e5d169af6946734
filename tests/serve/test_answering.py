"""A large crawl that runs has a process beside it that answers questions, from the first one on."""

import asyncio
import os
import time

from evercrawl.ask.remote import NAME, remote
from evercrawl.ask.status import Status
from evercrawl.config import Config
from evercrawl.crawl.orders import answering
from evercrawl.crawl.orders.answering import AnsweringProcess
from evercrawl.crawl.session import crawl
from evercrawl.progress import Limits
from evercrawl.serve.answering import answer
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback


async def answered(directory, patience_s=60.0):
    """Ask until a process answers; None where none does."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        if (found := await asyncio.to_thread(remote, directory, Status, "status")) is not None:
            return found
        await asyncio.sleep(0.05)
    return None


def test_the_first_question_begins_what_answers_the_next_and_it_ends_with_the_crawl(tmp_path, monkeypatch):
    monkeypatch.setattr(answering, "LEAST_KNOWN", 1)

    async def go() -> Status | None:
        stop = asyncio.Event()
        async with Loopback(hosts=1, pages=5, changing=0) as server:
            config = Config(delay_s=0.0, allow_net=(NETWORK,), index=False)
            running = asyncio.ensure_future(crawl(tmp_path, config, server.seeds, Limits(seconds=90), stop=stop))
            while not (tmp_path / "live.sock").exists():  # noqa: ASYNC110  # a file tells nobody
                await asyncio.sleep(0.01)
            assert not (tmp_path / NAME).exists(), "nothing runs beside a crawl that nobody asks about"
            found = await answered(tmp_path)
            stop.set()
            await running
        return found

    found = asyncio.run(go())
    assert found is not None
    assert found.known >= 1
    assert not (tmp_path / NAME).exists()
    assert remote(tmp_path, Status, "status") is None


def test_a_small_crawl_and_one_that_fills_its_memory_have_no_such_process(tmp_path):
    def begun(known: int, limit_bytes: int) -> bool:
        return AnsweringProcess(tmp_path, lambda: known, limit_bytes, lambda: 600).begin()

    assert not begun(answering.LEAST_KNOWN - 1, 0)
    assert not begun(answering.LEAST_KNOWN, 1000)


def test_a_process_that_ended_is_begun_again_after_a_while(tmp_path, monkeypatch):
    one = AnsweringProcess(
        tmp_path, lambda: answering.LEAST_KNOWN, 0, lambda: 0
    )  # where there is no crawl to answer for
    assert one.begin()
    while one.begin():
        time.sleep(0.01)
    later = time.monotonic() + 61.0
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert one.begin()
    monkeypatch.undo()
    one.close()


def test_it_ends_where_nobody_asks_and_with_the_crawl(crawl):
    reading, writing = os.pipe()
    asyncio.run(asyncio.wait_for(answer(crawl.directory, reading, idle_s=0.0), 30))
    os.close(writing)
    asyncio.run(asyncio.wait_for(answer(crawl.directory, reading), 30))
    os.close(reading)
    assert not (crawl.directory / NAME).exists()
