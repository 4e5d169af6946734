"""The machine's clock as the crawl sees it."""

import asyncio
import time

from evercrawl.clock import SteadyClock, SystemClock, since_boot


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


def test_it_goes_on_while_the_machine_is_suspended():
    wall, up = [1000.0], [50.0]
    clock = SteadyClock(lambda: wall[0], lambda: up[0])
    up[0] += 8 * 3600.0
    wall[0] = 0.0
    assert clock.now() == 1000.0 + 8 * 3600.0
    assert time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot() < 1.0


def test_it_goes_on_from_where_it_was():
    clock = SystemClock()
    assert clock.go_on_from(time.time() - 100.0) == 0.0
    assert abs(clock.now() - time.time()) < 1.0
    assert 99.0 < clock.go_on_from(time.time() + 100.0) < 101.0
    assert 99.0 < clock.now() - time.time() < 101.0
