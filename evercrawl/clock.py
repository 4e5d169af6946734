"""Time, as the rest of the program is allowed to see it."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """A source of seconds since the epoch that can also be waited on."""

    def now(self) -> float:
        """Return the current time in seconds since the epoch; it never goes back."""
        ...

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` seconds of this clock."""
        ...


class SystemClock:
    """The machine's time, held steady: set once from the wall, then carried by the monotonic clock.

    A wall clock that jumps while a crawl runs moves nothing here, so no host sees a burst and no page stalls.
    """

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._offset_s + time.monotonic()

    async def sleep(self, duration_s: float) -> None:
        """Return after `duration_s` seconds."""
        await asyncio.sleep(duration_s)
