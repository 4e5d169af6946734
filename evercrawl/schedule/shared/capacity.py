"""How many visits a crawl can make, for policies that do not always make them all."""

import math
from typing import Final

import numpy as np

from evercrawl.types import Floats

_ENOUGH: Final = 64  # visits of this run that tell more than an earlier run did
_MEMORY_S: Final = 86_400.0  # the pace is that of the last day,
_MEMORY_VISITS: Final = 256.0  # and of so many visits at least
_TOLD: Final = 4096  # visits of earlier runs that are minded
_PAUSE_S, _PAUSE_GAPS = 60.0, 64.0  # nobody crawled in a gap that long, and so many times longer than usual


class Capacity:
    """The pace of a crawl while it had something to do, on a clock that stands still while it had not.

    A policy that leaves part of the budget unspent cannot tell the budget from what is spent: it would take its own
    idleness for the limit, plan for less, and be idler still. So visits count only with the time since those before
    them, and only once others followed: the first after a rest say nothing of the pace, and the last before one need
    not have been all that were possible.

    Examples
    --------
    Ten visits a second for a minute, then an hour of nothing, then a visit that nobody had planned:

    >>> capacity = Capacity()
    >>> capacity.begin(0.0)
    >>> for now in range(60):
    ...     capacity.made(10, float(now))
    >>> capacity.rest(60.0)
    >>> capacity.made(1, 3600.0)
    >>> round(capacity.per_s)
    10

    Ten could be made every other day, but there were twelve to make:

    >>> capacity = Capacity()
    >>> for day in range(0, 60, 6):
    ...     capacity.begin(day * 86400.0)
    ...     capacity.made(10, day * 86400.0)
    ...     capacity.made(10, (day + 2) * 86400.0)
    ...     capacity.made(2, (day + 4) * 86400.0)
    ...     capacity.rest((day + 4) * 86400.0)
    >>> round(86400 * capacity.per_s, 6)
    5.0
    """

    def __init__(self) -> None:
        self._sum_visits = self._sum_s = 0.0
        self._last_visits = self._last_s = 0.0  # those made last, and the time since those before them
        self._at = math.nan  # when they were made; nan for none since the clock began to run
        self._before_per_s, self._visits = 0.0, 0
        self._told_at: Floats = np.zeros(0)
        self._runs = False

    def begin(self, now: float) -> None:
        """Let the clock run: from now on there is something to do."""
        self._runs = True

    def rest(self, now: float) -> None:
        """Let the clock stand: all is done that was to do."""
        self._runs = False
        self._last_visits = self._last_s = 0.0
        self._at = math.nan

    def made(self, visits: int, now: float) -> None:
        """Take note of visits that begin at `now`; those made while the clock stands do not count."""
        if not self._runs:
            return
        self._visits += visits
        if now > self._at or math.isnan(self._at):
            self._count()
            self._last_visits, self._last_s = 0.0, 0.0 if math.isnan(self._at) else now - self._at
            self._at = now
        self._last_visits += visits

    def resume(self, per_s: float) -> None:
        """Go on from what an earlier run found, until the visits of this one say more."""
        self._before_per_s = per_s

    def told(self, at: Floats) -> None:
        """Take note of when visits were made, shape (n,), before this run made any: in earlier ones, by any policy."""
        if not self._visits:
            self._told_at = np.concatenate([self._told_at, at])[-_TOLD:]

    @property
    def known(self) -> bool:
        """Whether anything is known of how many visits there can be."""
        return self._measured_per_s > 0

    @property
    def per_s(self) -> float:
        """Visits a second; one, as long as nothing is known."""
        return self._measured_per_s or 1.0

    @property
    def _measured_per_s(self) -> float:
        before_per_s = self._before_per_s or pace_of(self._told_at)
        if before_per_s and self._visits < _ENOUGH:
            return before_per_s
        known = self._sum_s > 0
        visits, passed_s = (self._sum_visits, self._sum_s) if known else (self._last_visits, self._last_s)
        return visits / passed_s if visits and passed_s else before_per_s

    def _count(self) -> None:
        """Count the visits made last, now that others followed."""
        if not self._last_s:
            return
        memory_s = max(_MEMORY_S, _MEMORY_VISITS * self._sum_s / self._sum_visits if self._sum_visits else 0.0)
        kept = math.exp(-self._last_s / memory_s)
        self._sum_visits = self._sum_visits * kept + self._last_visits
        self._sum_s = self._sum_s * kept + self._last_s


def pace_of(at: Floats) -> float:
    """Return how many visits a second were made while somebody crawled; 0 where their instants do not tell.

    Whoever idled in between tells too little of what could be made, which visits to come will show.

    Parameters
    ----------
    at
        When each was made, in seconds since the epoch, shape (n,).

    Examples
    --------
    Two runs, a week apart, with two visits every ten seconds:

    >>> run = np.repeat(np.arange(0.0, 1000.0, 10.0), 2)
    >>> round(pace_of(np.concatenate([run, 604_800.0 + run])), 3)
    0.2
    """
    passed_s = np.diff(np.sort(at))
    gaps = passed_s[passed_s > 0]
    if not len(gaps):
        return 0.0
    crawled = gaps[gaps <= max(_PAUSE_S, _PAUSE_GAPS * float(np.median(gaps)))]
    pauses = len(gaps) - len(crawled)
    return (len(passed_s) - pauses) / float(crawled.sum())
