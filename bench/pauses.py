"""How long the tasks of an event loop keep the others waiting: every step of every task is timed.

What the longest of them did is told by samples of the stack.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, Final

SAMPLED_AFTER_S: Final = 0.01
SAMPLED_EVERY_S: Final = 0.003
FRAMES: Final = 6


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


@dataclass(order=True)
class LongStep:
    """One step.

    Attributes
    ----------
    cpu_s, wall_s
        As in `Steps`.
    task
        Name of the coroutine.
    did
        What was on top of the stack, the innermost first, and in how many samples: the most frequent first.
    """

    cpu_s: float
    wall_s: float
    task: str
    did: list[tuple[str, int]] = field(compare=False)

    def __str__(self) -> str:
        """Return a line, and one more for each place."""
        places = "".join(f"\n  {count:5} x {where}" for where, count in self.did)
        return f"{self.cpu_s * 1e3:7.1f} ms of CPU ({self.wall_s * 1e3:.0f} on the wall): {self.task}{places}"


class StepSamples:
    """Looks at the stack of a thread while a step of its loop takes long, and keeps the longest steps of each task.

    Parameters
    ----------
    most
        How many are kept of a task.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._longest = dict[str, list[LongStep]]()
        self._thread, self._began = threading.get_ident(), 0.0
        self._seen = Counter[str]()
        threading.Thread(target=self._sample, name="samples of steps", daemon=True).start()

    def began(self) -> None:
        """Hear that a step begins."""
        self._seen = Counter()
        self._began = time.perf_counter()

    def ended(self, task: str, cpu_s: float, wall_s: float) -> None:
        """Hear that it has ended."""
        self._began = 0.0
        if cpu_s >= SAMPLED_AFTER_S:
            steps = [*self._longest.get(task, ()), LongStep(cpu_s, wall_s, task, self._seen.most_common(3))]
            self._longest[task] = sorted(steps, reverse=True)[: self._most]

    @property
    def longest(self) -> list[LongStep]:
        """The longest steps of all tasks."""
        return sorted((step for steps in self._longest.values() for step in steps), reverse=True)

    def _sample(self) -> None:
        while True:
            time.sleep(SAMPLED_EVERY_S)
            began, seen = self._began, self._seen
            if began and time.perf_counter() - began > SAMPLED_AFTER_S:
                frame = sys._current_frames().get(self._thread)  # which samplers use; there is no other way
                if self._began == began:
                    seen[" < ".join(_names(frame))] += 1


def _names(frame: FrameType | None) -> list[str]:
    """Return where a stack is, the innermost first."""
    names = list[str]()
    while frame is not None and len(names) < FRAMES:
        file = frame.f_code.co_filename.rpartition("/")[2]
        names.append(f"{frame.f_code.co_name} ({file}:{frame.f_lineno})")
        frame = frame.f_back
    return names


class Pauses:
    """Times the steps of tasks that are made from now on, and collections of garbage.

    Parameters
    ----------
    sampled
        Of how many of the longest steps of each task it is noted what they did; 0 for none. Who makes this runs the
        loop.

    Attributes
    ----------
    samples
        These steps; None for none.
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

    def __init__(self, sampled: int = 0) -> None:
        self.samples = StepSamples(sampled) if sampled else None
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
        return asyncio.Task(_Timed(coro, steps, self.samples), loop=loop, **more)

    def _collected(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = (time.thread_time(), time.perf_counter())
        else:
            self.collections.took(time.thread_time() - self._began[0], time.perf_counter() - self._began[1])


class _Timed(Coroutine[Any, Any, Any]):
    """A coroutine whose steps are timed."""

    def __init__(self, inner: Coroutine[Any, Any, Any], steps: Steps, samples: StepSamples | None) -> None:
        self._inner, self._steps, self._samples = inner, steps, samples
        self.__qualname__ = getattr(inner, "__qualname__", type(inner).__name__)

    def send(self, value: Any) -> Any:
        if self._samples is not None:
            self._samples.began()
        cpu, wall = time.thread_time(), time.perf_counter()
        try:
            return self._inner.send(value)
        finally:
            cpu_s, wall_s = time.thread_time() - cpu, time.perf_counter() - wall
            self._steps.took(cpu_s, wall_s)
            if self._samples is not None:
                self._samples.ended(self.__qualname__, cpu_s, wall_s)

    def throw(self, kind: Any, value: Any = None, traceback: TracebackType | None = None) -> Any:
        return self._inner.throw(kind if value is None else value)

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Any:
        return self._inner.__await__()
