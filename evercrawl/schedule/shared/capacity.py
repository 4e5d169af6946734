"""The number of visits that a crawl can make, for policies that do not always use all of them."""

import math
from typing import Final

import numpy as np

from evercrawl.types import Floats

_ENOUGH: Final = 64  # visits of this run after which they replace the pace of an earlier run
_MEMORY_S: Final = 86_400.0  # the pace is measured over the last day,
_MEMORY_VISITS: Final = 256.0  # and over at least this many visits
_TOLD: Final = 4096  # maximum number of visits of earlier runs that are used
_PAUSE_S, _PAUSE_GAPS = 60.0, 64.0  # a gap this long, and this many times the usual gap, is a pause of the crawl


class Capacity:
    """The pace of a crawl while it had work, measured by a clock that stops while it had none.

    A policy that leaves part of the budget unused cannot infer the budget from the visits made: it would mistake its
    own idleness for the limit, plan less, and be even more idle. So each group of visits is counted only with the time
    since the previous group, and only once another group follows: the first visits after a rest do not show the pace,
    and the last visits before a rest need not be all that were possible.

    Examples
    --------
    Ten visits per second for a minute, then an hour of rest, then an unplanned visit:

    >>> capacity = Capacity()
    >>> capacity.begin(0.0)
    >>> for now in range(60):
    ...     capacity.made(10, float(now))
    >>> capacity.rest(60.0)
    >>> capacity.made(1, 3600.0)
    >>> round(capacity.per_s)
    10

    Ten visits were possible every other day, and in each period twelve were to be made:

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
        self._last_visits = self._last_s = 0.0  # the last group of visits, and the time since the previous group
        self._at = math.nan  # time of the last group; nan if there was none since the clock was started
        self._before_per_s, self._visits = 0.0, 0
        self._told_at: Floats = np.zeros(0)
        self._runs = False

    def begin(self, now: float) -> None:
        """Start the clock: from now on there is work."""
        self._runs = True

    def rest(self, now: float) -> None:
        """Stop the clock: all work is done."""
        self._runs = False
        self._last_visits = self._last_s = 0.0
        self._at = math.nan

    def made(self, visits: int, now: float) -> None:
        """Count visits that begin at `now`; visits made while the clock is stopped do not count."""
        if not self._runs:
            return
        self._visits += visits
        if now > self._at or math.isnan(self._at):
            self._count()
            self._last_visits, self._last_s = 0.0, 0.0 if math.isnan(self._at) else now - self._at
            self._at = now
        self._last_visits += visits

    def resume(self, per_s: float) -> None:
        """Resume from the result of an earlier run, until the visits of this run replace it."""
        self._before_per_s = per_s

    def told(self, at: Floats) -> None:
        """Learn from the times of visits made in earlier runs, by any policy, shape (n,), before any of this run."""
        if not self._visits:
            self._told_at = np.concatenate([self._told_at, at])[-_TOLD:]

    @property
    def known(self) -> bool:
        """Whether there is any information about the possible number of visits."""
        return self._measured_per_s > 0

    @property
    def per_s(self) -> float:
        """Visits per second; one if unknown."""
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
        """Count the last group of visits, because another group followed."""
        if not self._last_s:
            return
        memory_s = max(_MEMORY_S, _MEMORY_VISITS * self._sum_s / self._sum_visits if self._sum_visits else 0.0)
        kept = math.exp(-self._last_s / memory_s)
        self._sum_visits = self._sum_visits * kept + self._last_visits
        self._sum_s = self._sum_s * kept + self._last_s


def pace_of(at: Floats) -> float:
    """Return the visits per second made while the crawl was running; 0 if their times do not show it.

    If the crawl was idle in between, the result is below the possible pace, which later visits will show.

    Parameters
    ----------
    at
        Time of each visit, in seconds since the epoch, shape (n,).

    Examples
    --------
    Two runs a week apart, with two visits every ten seconds:

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
