"""The pace of the crawl loop.

`Pace` keeps the ceilings on requests and bytes per second. `Leisure` measures how much time the loop has to spare.
`StepTime` measures how long a step of the loop has lasted; after a long one, other tasks get their turn.
"""

import asyncio
import math
from collections import deque
from typing import Final

from evercrawl.clock import Clock

LATELY_S: Final = 0.1  # time constant: older observations count for little
SPARE: Final = 0.5  # the share of idle time below which pages of much lower value wait
LESS: Final = 0.3  # of the recent value of visits; the pages of an endless calendar have a tenth of it or less


class Leisure:
    """The share of recent time in which the crawl was idle.

    A crawl whose hosts have to rest has time for every page that it may request. A crawl limited by its own work has
    not: while it visits a page of low value, a better page of another host becomes available. So while the crawl is
    that busy, pages wait whose value is much lower than that of its recent visits.

    Attributes
    ----------
    share
        The share of idle time, 0 to 1.
    spent_s
        All time so far in which it was not idle (s).

    Examples
    --------
    >>> leisure = Leisure(now=10.0, idle_s=0.0)
    >>> leisure.busy
    False
    >>> leisure.observe(now=11.0, idle_s=0.1)
    >>> round(leisure.share, 2), leisure.busy
    (0.1, True)
    >>> round(leisure.spent_s, 2)
    0.9
    """

    def __init__(self, now: float, idle_s: float) -> None:
        self._at, self._idle_s = now, idle_s
        self.share, self.spent_s = 1.0, 0.0

    @property
    def busy(self) -> bool:
        """Whether there is little time to spare."""
        return self.share < SPARE

    def observe(self, now: float, idle_s: float) -> None:
        """Update the share from the total idle time so far (s)."""
        passed_s, idle = now - self._at, idle_s - self._idle_s
        if passed_s <= 0.0:  # the clock was set back
            return
        kept = math.exp(-passed_s / LATELY_S)
        self.share = kept * self.share + (1.0 - kept) * min(max(idle / passed_s, 0.0), 1.0)
        self.spent_s += min(max(passed_s - idle, 0.0), passed_s)
        self._at, self._idle_s = now, idle_s

    def least(self, usual: float) -> float:
        """Return the lowest value for a visit now, where `usual` is the value of recent visits (nan: unknown)."""
        return LESS * usual if self.busy and usual > 0.0 else -math.inf


LATE_S: Final = 0.25
"""A start that is late by no more than this is made up for by the next ones; a longer pause is not."""
RESTS_S: Final = 2.0
"""The time without a start after which `used` is 0, unless the ceilings make starts rare."""
_TURNS: Final = 4
_WINDOW: Final = 21  # reports half a second apart: the rate shown covers the last 10 s


class Pace:
    """When the next exchange may start, and the recent rate of starts and visits.

    Parameters
    ----------
    rate_per_s, rate_bytes_per_s
        Ceilings; 0 means none.

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
        self.next_at: float = -math.inf
        self._part = 1.0
        self._seen: deque[tuple[float, int]] = deque(maxlen=_WINDOW)
        self._started_at = -math.inf
        self._starts, self._received_s = 0, 0.0  # so far; bytes as the time in which the whole ceiling allows them
        self._observations = deque[tuple[float, int, float]](maxlen=_WINDOW)  # time, starts, allowed bytes (s)
        self._owed_s = 0.0  # bytes that are not allowed yet, while the part is 0

    def share(self, part: float, now: float) -> None:
        """Use this part of the ceilings from now on; it may exceed 1. With a ceiling, part 0 stops all starts.

        Examples
        --------
        >>> pace = Pace(rate_per_s=2.0, rate_bytes_per_s=0.0)
        >>> pace.share(0.0, now=10.0)
        >>> pace.free(99.0)
        False
        >>> pace.share(2.0, now=10.0)
        >>> pace.started(10.0)
        >>> pace.next_at
        10.25
        >>> pace.share(4.0, now=10.05)  # the wait of 0.2 s is half as long
        >>> round(pace.next_at, 3)
        10.15
        >>> pace = Pace(rate_per_s=0.0, rate_bytes_per_s=1000.0)
        >>> pace.received(10.0, 3000)
        >>> pace.share(0.5, now=11.0)  # of 3 s, 2 s are left, which are 4 s now
        >>> pace.next_at
        15.0
        """
        if part == self._part:
            return
        before, self._part = self._part, part
        self._observations.clear()  # the use of another part says little
        wait_s = max(self.next_at - now, 0.0) * before if before else self._owed_s
        if not part and (self._step_s or self._byte_s):
            self._owed_s, self.next_at = wait_s if self._byte_s else 0.0, math.inf
        elif not before:
            self.next_at = now + self._owed_s / part if self._owed_s else min(self.next_at, now)
            self._owed_s = 0.0
        elif wait_s and (self._byte_s or part > before):  # the remaining wait changes in proportion
            self.next_at = now + wait_s / part

    def used(self, now: float) -> float:
        """Return the used share of the ceilings over the last 10 s, or since the part changed: the larger of both.

        All starts under the ceiling on pages count, including those of sitemaps and requisites. Bytes count when they
        are allowed, not when they arrive. The result is 0 without a ceiling, and after a while without a start although
        one was allowed.

        Examples
        --------
        >>> pace = Pace(rate_per_s=2.0, rate_bytes_per_s=0.0)
        >>> for now in (0.0, 0.5, 1.0, 1.5):
        ...     pace.started(now)
        ...     pace.observed(now, visits=0)
        >>> pace.used(1.5), pace.used(3.0), pace.used(4.0)
        (1.0, 0.5, 0.0)
        >>> pace = Pace(rate_per_s=0.0, rate_bytes_per_s=1000.0)
        >>> pace.started(0.0)
        >>> pace.observed(0.0, visits=0)
        >>> pace.received(0.0, 5000)
        >>> pace.used(4.0), pace.used(6.25), pace.used(8.0)
        (1.0, 0.8, 0.0)
        """
        if not self._part or now > max(self._started_at, self._owed_until) + max(
            RESTS_S, _TURNS * self._step_s / self._part
        ):
            return 0.0
        at, starts, allowed_s = self._observations[0] if self._observations else (now, self._starts, 0.0)
        if now <= at:
            return 0.0
        return max((self._starts - starts) * self._step_s, self._allowed_s(now) - allowed_s) / (now - at)

    @property
    def _owed_until(self) -> float:
        return self.next_at if self._byte_s else -math.inf

    def _allowed_s(self, now: float) -> float:
        """Return how many of the received bytes the ceiling has allowed by now, in seconds of the whole ceiling."""
        if not self._byte_s:
            return 0.0
        return self._received_s - max(self.next_at - now, 0.0) * self._part if self._part else 0.0

    def change(self, rate_per_s: float, rate_bytes_per_s: float, now: float) -> None:
        """Use other ceilings from now on; earlier starts do not count."""
        self._step_s = 1.0 / rate_per_s if rate_per_s else 0.0
        self._byte_s = 1.0 / rate_bytes_per_s if rate_bytes_per_s else 0.0
        self.next_at = min(self.next_at, now) if self._part else math.inf
        self._owed_s = self._received_s = 0.0
        self._observations.clear()

    @property
    def bounded(self) -> bool:
        """Whether starts have to be spread one by one."""
        return self._step_s > 0.0

    def free(self, now: float) -> bool:
        """Whether an exchange may start."""
        return self.next_at <= now

    def started(self, now: float) -> None:
        """Count a start."""
        self._starts, self._started_at = self._starts + 1, now
        if self._step_s and self._part:
            self.next_at = (self.next_at if now - self.next_at <= LATE_S else now) + self._step_s / self._part

    def seconds_of(self, size_bytes: int) -> float:
        """Return how long the part of the ceiling takes to allow some bytes (s); 0 without a ceiling."""
        return size_bytes * self._byte_s / (self._part or 1.0)

    def received(self, now: float, size_bytes: int) -> None:
        """Count received bytes."""
        self._received_s += size_bytes * self._byte_s
        if self._byte_s and self._part:
            self.next_at = max(self.next_at, now) + size_bytes * self._byte_s / self._part
        elif self._byte_s:
            self._owed_s += size_bytes * self._byte_s

    def observed(self, now: float, visits: int) -> None:
        """Record the number of visits so far, for `rate_per_s`, and the use of the ceilings, for `used`."""
        self._seen.append((now, visits))
        self._observations.append((now, self._starts, self._allowed_s(now)))

    def rate_per_s(self, now: float, visits: int) -> float:
        """Return the visits per second over about the last 10 s."""
        at, before = self._seen[0] if self._seen else (now, visits)
        return (visits - before) / (now - at) if now > at else 0.0


STEP_S: Final = 0.008
"""The length after which a step ends at the next possible place; such places are some milliseconds apart."""
WAITED_S: Final = 1e-4
"""A call that takes longer than this is taken to have waited."""


class StepTime:
    """Measures how long the loop has run without giving other tasks their turn.

    Parameters
    ----------
    clock
        The source of time. With a clock on which work takes no time, a step never ends.

    Examples
    --------
    >>> import asyncio
    >>> from evercrawl.clock import SteadyClock
    >>> seconds = iter([0.0, 10.0, 10.001, 10.009, 10.02, 10.021])
    >>> step = StepTime(SteadyClock(lambda: 0.0, lambda: next(seconds)))
    >>> step.long, step.long
    (False, True)
    >>> asyncio.run(step.end())
    >>> step.long
    False
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.now()

    @property
    def long(self) -> bool:
        """Whether the present step has lasted too long."""
        return self._clock.now() - self._since >= STEP_S

    def waited(self, since: float) -> None:
        """Note that a call which began at `since` has returned: if it waited, a new step has begun."""
        now = self._clock.now()
        if now - since >= WAITED_S:
            self._since = now

    async def end(self) -> None:
        """Give other tasks their turn."""
        await asyncio.sleep(0)
        self._since = self._clock.now()

    async def end_if_long(self) -> None:
        """Give other tasks their turn if the present step has lasted too long."""
        if self.long:
            await self.end()
