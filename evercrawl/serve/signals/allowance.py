"""Rate limit on announcements: as many pages as the site could be visited in the same time."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

HOSTS: Final = 10_000
"""That are remembered; one that was forgotten begins anew."""
BURST_S: Final = 3600.0
"""Visits of so much time may be announced at once."""
LEAST_BURST: Final = 100.0


class Allowance:
    """A token bucket for each host or other key.

    Parameters
    ----------
    per_s, burst
        Long-run rate and burst of each bucket.

    Examples
    --------
    >>> allowed = Allowance(per_s=0.5, burst=100.0)
    >>> allowed.take("a.example", 150, 0.0), allowed.take("a.example", 9, 0.0), allowed.take("b.example", 9, 0.0)
    (100, 0, 9)
    >>> allowed.take("a.example", 9, 10.0)
    5
    """

    def __init__(self, per_s: float, burst: float) -> None:
        self._per_s, self._most = per_s, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, host: str, count: int, now: float) -> int:
        """Return how many of the given number of pages a host may announce now, and count these."""
        left, at = self._left.pop(host, (self._most, now))
        left = min(left + max(now - at, 0.0) * self._per_s, self._most)
        taken = min(count, int(left))
        self._left[host] = (left - taken, now)
        if len(self._left) > HOSTS:
            self._left.popitem(last=False)
        return taken


def of_visits(delay_s: float) -> Allowance:
    """Return the allowance of hosts visited at most once per given time: no more than could be visited."""
    per_s = 1.0 / max(delay_s, 1e-3)
    return Allowance(per_s, max(BURST_S * per_s, LEAST_BURST))
