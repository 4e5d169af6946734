"""Tasks that run beside the loop of a crawl; the loop raises what they raise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

__all__ = ["Background"]


class Background:
    """Tasks under way.

    Parameters
    ----------
    wake
        Called when a task has ended, so that whoever waits for it, or for idleness, looks again.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None

    @property
    def busy(self) -> bool:
        """Whether a task is under way."""
        return bool(self._tasks)

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Start a task."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)

    def check(self) -> None:
        """Raise what a task has raised: a mistake of ours."""
        if self._fault is not None:
            raise self._fault

    def close(self) -> None:
        """Cancel the tasks under way."""
        for task in self._tasks:
            task.cancel()

    async def ended(self) -> None:
        """Wait for the end of the tasks under way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._fault = task.exception()
        self._wake()
