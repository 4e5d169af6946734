"""Sites whose visits cost far more than those of other sites rest, so that the others keep most of what is scarce.

Two things may be scarce: the time of the crawl's own process, and bytes if there is a ceiling on them. Hosts take turns
whatever their pages cost, so a site whose pages are large, or full of links, could take most of either from all others.
A visit is *costly* if it costs more than `COSTLY` times as much as the visits of the median site. Time and bytes are
compared separately. After a costly visit, if another site was visited just before, the site rests:

* Time: so long that the site takes at most `PART` of the time of the crawl's process.
* Bytes: four times as long as the ceiling takes to allow the bytes. Nothing is requested for the first quarter of the
  rest, because all bytes count against the ceiling at once; the other three quarters are left to the other sites.

No rest ends later than `MOST_REST_S` from now. Sites are compared, not visits, so many visits do not make the cost of
a site usual. A crawl of one site has no costly visits.

References
----------
Demers, Keshav, Shenker (1989). Analysis and Simulation of a Fair Queueing Algorithm. SIGCOMM '89: sources that send
larger packets get no larger share. Here most sources are not limited at all.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.crawl.pace import Leisure, Pace
    from evercrawl.model.stored.remembered import Remembered
    from evercrawl.types import Slots

PART: Final = 0.25
"""The part of the busy time, or of the ceiling on bytes, that a site with costly visits gets while others wait."""
COSTLY: Final = 8.0
"""A visit is costly if it costs more than this many times as much as a visit of the median site."""
MOST_REST_S: Final = 30.0
"""The longest rest of a site."""
LINKS: Final = 100.0
"""Number of links that take about as long as everything else about a small page (1 ms)."""
BYTES: Final = 40_000.0
"""Number of bytes that take as long to parse and index."""
_COMPARED: Final = 1_024  # sites: those visited last
_LEARNING: Final = 0.2  # weight of a visit in the mean cost of its site
_LATELY_S: Final = 2.0  # a site rests only if another was visited within this time
_TIME_S: Final = 5.0  # time constant of the average time of a unit of cost
_USUAL_S: Final = 1.0  # how old the usual cost may be


class _Usual:
    """The usual cost of a visit: the lower median of the mean costs of sites."""

    def __init__(self) -> None:
        self._means: OrderedDict[int, float] = OrderedDict()  # by site, last visited last
        self._usual, self._known_at = math.inf, -math.inf

    def costly(self, site: int, cost: float, now: float) -> bool:
        """Take note of the cost of a visit; return whether it is costly."""
        mean = self._means.pop(site, cost)
        self._means[site] = mean + _LEARNING * (cost - mean)
        if len(self._means) > _COMPARED:
            self._means.popitem(last=False)
        if not 0.0 <= now - self._known_at < _USUAL_S:
            self._known_at = now
            means = np.fromiter(self._means.values(), np.float64, len(self._means))
            self._usual = float(np.partition(means, (len(means) - 1) // 2)[(len(means) - 1) // 2])
        return len(self._means) > 1 and cost > COSTLY * self._usual


class SiteCosts:
    """Has sites rest after costly visits.

    Parameters
    ----------
    site_of
        Site of each host, by number.
    clock, pace, leisure
        The time; the ceiling on bytes; the time for which the crawl's process was busy.
    """

    def __init__(self, site_of: Slots, clock: Clock, pace: Pace, leisure: Leisure) -> None:
        self._site_of, self._clock, self._pace, self._leisure = site_of, clock, pace, leisure
        self._time, self._bytes = _Usual(), _Usual()
        self._until = dict[int, float]()  # of resting sites
        self._spent_s, self._units, self._spent_at = 0.0, 0.0, -math.inf  # sums of busy time and of costs, decayed
        self._spent_before_s = 0.0
        self._latest, self._latest_at, self._other_at = -1, -math.inf, -math.inf  # site visited last; another before it

    def until(self, host: int, now: float) -> float:
        """Return until when the site of a host rests; -infinity if it does not."""
        if not self._until:
            return -math.inf
        site = self._site_of.item(host)
        until = self._until.get(site, -math.inf)
        if until <= now:
            self._until.pop(site, None)
            return -math.inf
        return until

    def learned(self, visit: Remembered) -> None:
        """Count the time that a visit took."""
        reading = visit.reading
        self.took(visit.event.host, 1.0 + len(reading.page.targets) / LINKS + reading.size_bytes / BYTES)

    def took(self, host: int, cost: float) -> None:
        """Count the time of a visit, as a multiple of a small page's."""
        now, spent_s = self._clock.now(), self._leisure.spent_s
        kept = math.exp(-max(now - self._spent_at, 0.0) / _TIME_S)
        self._spent_s = kept * self._spent_s + spent_s - self._spent_before_s
        self._units = kept * self._units + cost
        self._spent_at, self._spent_before_s = now, spent_s
        site = self._site_of.item(host)
        if site != self._latest:
            self._latest, self._other_at = site, self._latest_at
        self._latest_at = now
        if self._time.costly(site, cost, now) and self._other_at > now - _LATELY_S:
            rest_s = cost * self._spent_s / self._units * (1.0 / PART - 1.0)
            self._rest(site, min(max(self._until.get(site, now), now) + rest_s, now + MOST_REST_S))

    def received(self, host: int, size_bytes: int, now: float) -> None:
        """Count the bytes of a visit against the ceiling, and have its site rest if they are many."""
        taken_s = self._pace.seconds_of(size_bytes)
        if not taken_s:
            return
        self._pace.received(now, size_bytes)
        site = self._site_of.item(host)
        other_at = self._other_at if site == self._latest else self._latest_at
        if self._bytes.costly(site, size_bytes, now) and other_at > now - _LATELY_S - taken_s:
            self._rest(site, min(max(self._until.get(site, now), now) + taken_s / PART, now + MOST_REST_S))

    def change(self) -> None:
        """End all rests, because the ceiling has changed."""
        self._until.clear()

    def _rest(self, site: int, until: float) -> None:
        self._until[site] = until
        if len(self._until) > 2 * _COMPARED:
            now = self._clock.now()
            self._until = {other: at for other, at in self._until.items() if at > now}
