"""The machine's clock as the crawl sees it."""

import asyncio
import time

from evercrawl.clock import SystemClock


def test_it_tells_the_time_of_day():
    assert abs(SystemClock().now() - time.time()) < 1.0


def test_it_never_goes_back(monkeypatch):
    clock = SystemClock()
    before = clock.now()
    monkeypatch.setattr(time, "time", lambda: 0.0)  # somebody sets the machine's clock
    after = clock.now()
    assert 0.0 <= after - before < 60.0


def test_it_can_be_waited_on():
    clock = SystemClock()
    before = clock.now()
    asyncio.run(clock.sleep(0.01))
    assert clock.now() - before >= 0.01
