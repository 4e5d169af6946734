"""Time as a page experiences it: a second counts less while many processes share the cores."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, TypeVar

__all__ = ["TICK_S", "core_share", "within"]

TICK_S: Final = 0.05
LEAST_SHARE: Final = 1 / 4
"""The least that a second counts, however busy the machine is."""
_LOAD: Final = Path("/proc/loadavg")

_Result = TypeVar("_Result")


def core_share(load: str | None = None, cores: int | None = None) -> float:
    """Return the share of a core that a busy process gets now, between `LEAST_SHARE` and 1.

    Parameters
    ----------
    load
        The content of /proc/loadavg, whose fourth field begins with the number of runnable processes; None reads it.
    cores
        The cores of the machine; None asks the system.

    Examples
    --------
    >>> core_share("9.1 4.2 2.1 8/176 15333", cores=2), core_share("0.1 0.2 0.1 1/176 15333", cores=2)
    (0.25, 1.0)
    >>> core_share("", cores=2)
    1.0
    """
    try:
        running = int((_LOAD.read_text() if load is None else load).split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return 1.0
    return min(max((cores or os.cpu_count() or 1) / max(running, 1), LEAST_SHARE), 1.0)


async def within(work: Awaitable[_Result], limit_s: float) -> _Result:
    """Return the result of `work`; cancel it once it has had `limit_s` seconds of fair time.

    Raises
    ------
    TimeoutError
        It took longer.
    """
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    task.add_done_callback(_looked_at)
    try:
        while not task.done():
            if limit_s <= 0:
                raise TimeoutError
            began = loop.time()
            await asyncio.wait([task], timeout=TICK_S)
            limit_s -= (loop.time() - began) * core_share()
        return task.result()
    finally:
        task.cancel()


def _looked_at(task: asyncio.Future[_Result]) -> None:
    """Retrieve the exception of a task, so that asyncio does not warn about it."""
    if not task.cancelled():
        task.exception()
