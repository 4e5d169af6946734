"""How many visits a crawl can make, for policies that do not always make them all."""

from __future__ import annotations

from typing import Final

from evercrawl.schedule.pacing import Pace

_ENOUGH: Final = 64  # visits of this run that tell more than an earlier run did


class Capacity:
    """The pace of a crawl while it had something to do, on a clock that stands still while it had not.

    A policy that leaves part of the budget unspent cannot tell the budget from what is spent: it would take its own
    idleness for the limit, plan for less, and be idler still.

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
    """

    def __init__(self) -> None:
        self._pace = Pace()
        self._before_per_s, self._visits = 0.0, 0
        self._stood_s = 0.0
        self._since: float | None = 0.0  # since when the clock has been standing; None while it runs

    def begin(self, now: float) -> None:
        """Let the clock run: from now on there is something to do."""
        if self._since is not None:
            self._stood_s += now - self._since
            self._since = None

    def rest(self, now: float) -> None:
        """Let the clock stand: all is done that was to do."""
        if self._since is None:
            self._since = now

    def made(self, visits: int, now: float) -> None:
        """Take note of visits that begin at `now`; those made while the clock stands do not count."""
        if self._since is None:
            self._visits += visits
            self._pace.made(visits, now - self._stood_s)

    def resume(self, per_s: float) -> None:
        """Go on from what an earlier run found, until the visits of this one say more."""
        self._before_per_s = per_s

    @property
    def per_s(self) -> float:
        """Visits a second."""
        return self._before_per_s if self._before_per_s and self._visits < _ENOUGH else self._pace.per_s
