"""A virtual event loop whose clock jumps to the next deadline instead of waiting."""

import asyncio
import contextlib
import selectors
from collections.abc import Coroutine
from typing import TypeVar

from evercrawl.clock import SteadyClock
from evercrawl.errors import EvercrawlError

T = TypeVar("T")


class SimulationError(EvercrawlError):
    """A simulated world deadlocked, or violated an invariant."""


class Crash(SystemExit):  # asyncio lets this exception out of any task or callback at once
    """The process ends here and now, as by kill -9 or a power cut; only the simulation may catch this."""


class _Jump(selectors.SelectSelector):
    """Advance the time where a real selector would wait for a socket."""

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
        self._clock_resolution = 1e-6  # at 1.7e9 s the default of 1 ns is lost in rounding, and timers would never fire

    def time(self) -> float:
        return self._jump.now

    def spend(self, duration_s: float) -> None:
        self._jump.now += duration_s


class VirtualClock:
    """The time of the running virtual loop, in seconds since the epoch."""

    def now(self) -> float:
        """Return the current virtual time."""
        return asyncio.get_running_loop().time()

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` virtual seconds."""
        await asyncio.sleep(duration_s)

    def spend(self, duration_s: float) -> None:
        """Let `duration_s` virtual seconds pass in which nothing else runs, as a processor does that computes."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _VirtualLoop), "the clock is that of a virtual loop"
        loop.spend(duration_s)


class Machine:
    """A machine in virtual time, whose wall clock may be set, and which may be suspended.

    A crawl on it uses `clock`, the shipped one. Checkers use `true`, which can neither be set nor stop.

    Attributes
    ----------
    wrong_s
        How far the wall clock is ahead of the true time, in seconds; negative if it is behind.
    slept_s
        Total time suspended, in seconds.

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
        """Return the wall clock, in seconds since the epoch."""
        return self.true() + self.wrong_s

    def suspend(self, duration_s: float) -> None:
        """Suspend the machine for `duration_s`: nothing runs, and timers afterwards fire as if no time had passed."""
        self.slept_s += duration_s

    def clock(self) -> SteadyClock:
        """Return the clock of a process that starts now."""
        return SteadyClock(self.wall, self.true)


def run_virtual(main: Coroutine[object, object, T], start: float = 1.7e9) -> T:
    """Run `main` to completion in virtual time that begins at `start`, seconds since the epoch.

    A `Crash` in any task ends everything: the other tasks are cancelled, and the `Crash` is raised here.

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
    """Cancel running tasks until none is left; a `finally` block may raise `Crash` again."""
    loop.set_exception_handler(_unheard)
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        with contextlib.suppress(Crash):
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))


def _unheard(_loop: asyncio.AbstractEventLoop, _context: dict[str, object]) -> None:
    """Ignore the exceptions of the other cancelled tasks: nobody is left to handle them."""
