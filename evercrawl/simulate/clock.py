"""An event loop whose clock jumps to the next deadline instead of waiting for it."""

from __future__ import annotations

import asyncio
import contextlib
import selectors
from typing import TYPE_CHECKING, TypeVar

from evercrawl.errors import EvercrawlError

if TYPE_CHECKING:
    from collections.abc import Coroutine

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
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        with contextlib.suppress(Crash):
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
