"""Clocks: the only source of time for the rest of the program."""

import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """A source of the current time in seconds since the epoch that can also sleep."""

    def now(self) -> float:
        """Return the current time in seconds since the epoch; it never goes back."""
        ...

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` seconds of this clock."""
        ...


class SteadyClock:
    """The time of day, read once from the wall clock and then advanced by a monotonic clock.

    It guarantees two things. While it runs, it advances at the true rate: it does not follow jumps of the wall clock,
    so no host receives a burst and no page stalls. And a crawl's time never goes back, not even between runs: see
    `go_on_from`.

    Parameters
    ----------
    wall
        Seconds since the epoch; may jump forwards or back.
    steady
        Seconds since an arbitrary instant; never jumps, and keeps running while the machine is suspended.

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
        """Advance to `at` if the time is earlier, and return the difference in seconds; otherwise return 0.

        A crawl calls this with the instant of its last event. If the wall clock was set back since then, the recorded
        instants would lie in the future: pages and resting hosts would wait for as long as the clock was set back.
        """
        behind_s = max(at - self.now(), 0.0)
        if behind_s:
            self._offset_s = at - self._steady()
        return behind_s

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` seconds."""
        import asyncio  # here, because queries never sleep, and asyncio takes as long to load as numpy

        await asyncio.sleep(duration_s)


class SystemClock(SteadyClock):
    """A steady clock that starts from the machine's time."""

    def __init__(self) -> None:
        super().__init__(time.time, since_boot)


def since_boot() -> float:
    """Return seconds since the machine was started, including suspended time where the platform counts it."""
    return time.clock_gettime(_BOOT)


_BOOT = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
