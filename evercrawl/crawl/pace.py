"""Ceilings on the whole crawl: pages and bytes a second."""

from collections import deque
from typing import Final

LATE_S: Final = 0.25
"""A start that comes late by no more is made up for by the next ones; a longer pause is not."""
_WINDOW: Final = 21  # reports, half a second apart: the rate shown is over the last 10 s


class Pace:
    """When the next exchange may start, and how fast they have been.

    Parameters
    ----------
    rate_per_s, rate_bytes_per_s
        Ceilings; 0 is none.

    Examples
    --------
    >>> pace = Pace(rate_per_s=2.0, rate_bytes_per_s=1000.0)
    >>> pace.started(10.0)
    >>> pace.next_at, pace.free(10.2), pace.free(10.5)
    (10.5, False, True)
    >>> pace.received(10.5, 3000)
    >>> pace.next_at
    13.5
    """

    def __init__(self, rate_per_s: float, rate_bytes_per_s: float) -> None:
        self._step_s = 1.0 / rate_per_s if rate_per_s else 0.0
        self._byte_s = 1.0 / rate_bytes_per_s if rate_bytes_per_s else 0.0
        self.next_at = float("-inf")
        self._seen: deque[tuple[float, int]] = deque(maxlen=_WINDOW)

    @property
    def bounded(self) -> bool:
        """Whether starts are to be spread one by one."""
        return self._step_s > 0.0

    def free(self, now: float) -> bool:
        """Whether an exchange may start."""
        return self.next_at <= now

    def started(self, now: float) -> None:
        """Take note of a start."""
        if self._step_s:
            self.next_at = (self.next_at if now - self.next_at <= LATE_S else now) + self._step_s

    def received(self, now: float, size_bytes: int) -> None:
        """Take note of bytes that came in."""
        if self._byte_s:
            self.next_at = max(self.next_at, now) + size_bytes * self._byte_s

    def observed(self, now: float, visits: int) -> None:
        """Take note of how many visits there have been, for `rate_per_s`."""
        self._seen.append((now, visits))

    def rate_per_s(self, now: float, visits: int) -> float:
        """Return visits a second over the last 10 s or so."""
        at, before = self._seen[0] if self._seen else (now, visits)
        return (visits - before) / (now - at) if now > at else 0.0
