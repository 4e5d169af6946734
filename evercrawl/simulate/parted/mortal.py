"""Simulated processes that can be killed separately on one virtual event loop; a task belongs to its creator's."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, ClassVar

from evercrawl.simulate.surroundings.disk import VirtualDisk

_PROCESS: ContextVar[str] = ContextVar("process", default="")


class Killed(BaseException):  # the crawl must not be able to catch it, and other processes continue
    """One of several processes ends here and now, as by kill -9."""


class MortalDisk(VirtualDisk):
    """A simulated disk whose process may end while others continue."""

    ends: ClassVar[type[BaseException]] = Killed


class Processes:
    """Tracks which tasks belong to which process, and ends them."""

    def __init__(self) -> None:
        self._tasks: defaultdict[str, set[asyncio.Task[Any]]] = defaultdict(set)
        self.faults: list[str] = []

    def install(self) -> None:
        """Track the tasks of the running loop."""
        loop = asyncio.get_running_loop()
        loop.set_task_factory(self._begin)
        loop.set_exception_handler(self._unheard)

    def start(self, name: str, main: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a process with this task; tasks it creates belong to the same process."""
        token = _PROCESS.set(name)
        try:
            return asyncio.ensure_future(main)
        finally:
            _PROCESS.reset(token)

    async def end(self, name: str) -> None:
        """Cancel all tasks of a process; its disk is dead, so it cannot write any more."""
        while tasks := {task for task in self._tasks[name] if not task.done()}:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **more)
        tasks = self._tasks[_PROCESS.get()]
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    def _unheard(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, Killed):
            self.faults.append(f"{context.get('message')}: {error!r}")
