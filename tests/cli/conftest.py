"""A web to crawl; and the verbs change how the process takes signals: that is put back after each test."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evercrawl.cli.main import main
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it, as nohup does
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def beside() -> Iterator[asyncio.AbstractEventLoop]:
    """Return a loop that runs in a thread of its own while the test runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@pytest.fixture
def site(beside: asyncio.AbstractEventLoop) -> Iterator[Loopback]:
    """Serve a small web beside the test."""
    server = Loopback(hosts=2, pages=12, changing=0)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), beside).result(10)
    yield server
    asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), beside).result(10)


@pytest.fixture
def crawled(site: Loopback, tmp_path: Path) -> str:
    """Crawl the small web until nothing is left, and return the crawl directory."""
    directory = str(tmp_path / "crawl")
    flags = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "600", "--quiet"]
    assert main(["crawl", *site.seeds, "--dir", directory, *flags]) == 0
    return directory
