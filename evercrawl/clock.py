"""Time, as the rest of the program is allowed to see it."""

import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """A source of seconds since the epoch that can also be waited on."""

    def now(self) -> float:
        """Return the current time in seconds since the epoch; it never goes back."""
        ...

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` seconds of this clock."""
        ...


class SteadyClock:
    """The time of day, read once from a clock on the wall and then carried by one that nobody sets.

    There are two promises. While it runs, as much time goes by as really does: a wall clock that jumps moves nothing
    here, so that no host sees a burst and no page stalls. And a crawl's time never goes back, from run to run either:
    see `go_on_from`.

    Parameters
    ----------
    wall
        Seconds since the epoch; may jump, either way.
    steady
        Seconds since whenever; never jumps, and goes on while the machine is suspended.

    Examples
    --------
    >>> day, up = iter([1000.0, 400.0]), iter([5.0, 7.0, 8.0, 8.0, 9.0])
    >>> clock = SteadyClock(lambda: next(day), lambda: next(up))
    >>> clock.now()
    1002.0
    >>> clock.go_on_from(1500.0)
    497.0
    >>> clock.now()
    1501.0
    """

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._steady = steady
        self._offset_s = wall() - steady()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._offset_s + self._steady()

    def go_on_from(self, at: float) -> float:
        """Show `at` where the time is earlier, and return how much earlier it was (s); else 0, and nothing changes.

        A crawl does so with its last event. If the wall was set back since, what the crawl remembers would lie in the
        future: its pages and the hosts that asked to be left alone would wait for as long as the wall was set back.
        """
        behind_s = max(at - self.now(), 0.0)
        if behind_s:
            self._offset_s = at - self._steady()
        return behind_s

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` seconds."""
        import asyncio  # here, for questions about a crawl never wait, and it takes as long as numpy to load

        await asyncio.sleep(duration_s)


class SystemClock(SteadyClock):
    """The machine's time, held steady."""

    def __init__(self) -> None:
        super().__init__(time.time, since_boot)


def since_boot() -> float:
    """Return seconds since the machine was started, those that it slept through among them, where it can tell."""
    return time.clock_gettime(_BOOT)


_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
