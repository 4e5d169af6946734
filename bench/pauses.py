"""How long the tasks of an event loop keep the others waiting: every step of every task is timed."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Any


@dataclass
class Steps:
    """The steps of all tasks of one kind: what they did from one wait to the next.

    Attributes
    ----------
    count, cpu_s
        How many, and the CPU of the loop's thread that all took.
    longest_cpu_s, longest_s
        Of one: CPU, and by the clock on the wall, with the waits for a processor or for the interpreter in it.
    """

    count: int = 0
    cpu_s: float = 0.0
    longest_cpu_s: float = 0.0
    longest_s: float = 0.0

    def took(self, cpu_s: float, wall_s: float) -> None:
        """Count one."""
        self.count += 1
        self.cpu_s += cpu_s
        self.longest_cpu_s = max(self.longest_cpu_s, cpu_s)
        self.longest_s = max(self.longest_s, wall_s)


class Pauses:
    """Times the steps of tasks that are made from now on, and collections of garbage.

    Attributes
    ----------
    steps
        By the name of the coroutine that a task runs.
    collections
        Of garbage.

    Examples
    --------
    >>> async def short(): await asyncio.sleep(0)
    >>> pauses = Pauses()
    >>> with asyncio.Runner() as runner:
    ...     pauses.watch(runner.get_loop())
    ...     runner.run(short())
    >>> pauses.steps["short"].count
    2
    """

    def __init__(self) -> None:
        self.steps: dict[str, Steps] = {}
        self.collections = Steps()
        self._began = (0.0, 0.0)
        gc.callbacks.append(self._collected)

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Time the tasks of a loop."""
        loop.set_task_factory(self._task)

    def longest(self, *names: str) -> Steps:
        """Return the steps of all tasks whose names contain one of these, as one."""
        found = Steps()
        for name, steps in self.steps.items():
            if any(part in name for part in names):
                found.count, found.cpu_s = found.count + steps.count, found.cpu_s + steps.cpu_s
                found.longest_cpu_s = max(found.longest_cpu_s, steps.longest_cpu_s)
                found.longest_s = max(found.longest_s, steps.longest_s)
        return found

    def forget(self) -> None:
        """Begin anew."""
        for steps in [*self.steps.values(), self.collections]:
            steps.__init__()  # type: ignore[misc]

    def _task(self, loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> asyncio.Task[Any]:
        steps = self.steps.setdefault(getattr(coro, "__qualname__", type(coro).__name__), Steps())
        return asyncio.Task(_Timed(coro, steps), loop=loop, **more)

    def _collected(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = (time.thread_time(), time.perf_counter())
        else:
            self.collections.took(time.thread_time() - self._began[0], time.perf_counter() - self._began[1])


class _Timed(Coroutine[Any, Any, Any]):
    """A coroutine whose steps are timed."""

    def __init__(self, inner: Coroutine[Any, Any, Any], steps: Steps) -> None:
        self._inner, self._steps = inner, steps
        self.__qualname__ = getattr(inner, "__qualname__", type(inner).__name__)

    def send(self, value: Any) -> Any:
        cpu, wall = time.thread_time(), time.perf_counter()
        try:
            return self._inner.send(value)
        finally:
            self._steps.took(time.thread_time() - cpu, time.perf_counter() - wall)

    def throw(self, kind: Any, value: Any = None, traceback: TracebackType | None = None) -> Any:
        return self._inner.throw(kind if value is None else value)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Any:
        return self._inner.__await__()
