"""An event loop whose clock jumps to the next deadline instead of waiting for it."""

import asyncio
import contextlib
import selectors
from collections.abc import Coroutine
from typing import TypeVar

from evercrawl.clock import SteadyClock
from evercrawl.errors import EvercrawlError

T = TypeVar("T")


class SimulationError(EvercrawlError):
    """A made-up world came to a stand, or a promise was broken in it."""


class Crash(SystemExit):  # asyncio lets this one out of any task or callback, at once
    """The process ends here and now, as by kill -9 or a power cut; only whoever ran it may catch this."""


class _Jump(selectors.SelectSelector):
    """Where a real selector would wait for a socket, move the time forward."""

    def __init__(self, start: float) -> None:
        super().__init__()
        self.now = start

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise SimulationError("every task waits and no deadline is left: a deadlock")
        self.now += max(0.0, timeout)
        return []


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, start: float) -> None:
        self._jump = _Jump(start)
        super().__init__(self._jump)
        self._clock_resolution = 1e-6  # at 1.7e9 s the default, 1 ns, is lost in rounding and timers never fall due

    def time(self) -> float:
        return self._jump.now


class VirtualClock:
    """The running virtual loop's time, in seconds since the epoch."""

    def now(self) -> float:
        """Return the current virtual time."""
        return asyncio.get_running_loop().time()

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` virtual seconds."""
        await asyncio.sleep(duration_s)


class Machine:
    """A machine in virtual time: its clock on the wall is set now and then, and it may be suspended.

    What a crawl on it goes by is `clock`, the shipped one. What really happens, to be judged by, is `true`: it can
    neither be set nor does it stop.

    Attributes
    ----------
    wrong_s
        How far the wall is ahead of the true time, in seconds; negative where it is behind.
    slept_s
        Seconds for which it was suspended so far.

    Examples
    --------
    >>> async def night() -> list[float]:
    ...     machine = Machine()
    ...     clock, began = machine.clock(), machine.true()
    ...     machine.wrong_s = -3600.0
    ...     machine.suspend(8 * 3600.0)
    ...     return [time - began for time in (clock.now(), machine.true(), machine.wall())]
    >>> run_virtual(night())
    [28800.0, 28800.0, 25200.0]
    """

    def __init__(self, *, wrong_s: float = 0.0, slept_s: float = 0.0) -> None:
        self.wrong_s, self.slept_s = wrong_s, slept_s

    def true(self) -> float:
        """Return the true time, in seconds since the epoch."""
        return asyncio.get_running_loop().time() + self.slept_s

    def wall(self) -> float:
        """Return what the clock on the wall shows, in seconds since the epoch."""
        return self.true() + self.wrong_s

    def suspend(self, duration_s: float) -> None:
        """Let `duration_s` go by in which nothing runs: timers fall due as if it had not."""
        self.slept_s += duration_s

    def clock(self) -> SteadyClock:
        """Return the clock of a process that starts now."""
        return SteadyClock(self.wall, self.true)


def run_virtual(main: Coroutine[object, object, T], start: float = 1.7e9) -> T:
    """Run `main` to its end in virtual time that begins at `start`, seconds since the epoch.

    A `Crash`, whoever raises it, ends everything that runs: the other tasks are cancelled, and the `Crash` comes out
    here.

    Examples
    --------
    >>> async def day() -> float:
    ...     clock = VirtualClock()
    ...     began = clock.now()
    ...     await clock.sleep(86_400.0)
    ...     return clock.now() - began
    >>> round(run_virtual(day()))
    86400
    """
    with asyncio.Runner(loop_factory=lambda: _VirtualLoop(start)) as runner:
        try:
            return runner.run(main)
        except Crash:
            _bury(runner.get_loop())
            raise


def _bury(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what still runs, until nothing does; what a `finally` meets may raise `Crash` again."""
    loop.set_exception_handler(_unheard)
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        with contextlib.suppress(Crash):
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))


def _unheard(_loop: asyncio.AbstractEventLoop, _context: dict[str, object]) -> None:
    """Say nothing of the others that were struck: nobody is left to hear of it."""
