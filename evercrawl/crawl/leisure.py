"""Whether the crawl has time to spare, or each page that it reads keeps another waiting."""

import math
from typing import Final

LATELY_S: Final = 0.1  # what was longer ago counts for little
SPARE: Final = 0.5  # of the time: with less to spare, what is worth much less than others waits
LESS: Final = 0.3  # of what visits were worth of late; the pages of an endless calendar are worth a tenth and less


class Leisure:
    """How much of the time there was nothing to do, of late.

    A crawl whose hosts have to rest has time for every page that it may ask for. One that is held up by its own work
    has not: a page of little worth then takes the place of a better one, of another host that has rested by then. So
    as long as the crawl is that busy, pages wait that are worth much less than what it visits.

    Attributes
    ----------
    share
        Of the time, from 0 to 1.

    Examples
    --------
    >>> leisure = Leisure(now=10.0, idle_s=0.0)
    >>> leisure.busy
    False
    >>> leisure.observe(now=11.0, idle_s=0.1)
    >>> round(leisure.share, 2), leisure.busy
    (0.1, True)
    """

    def __init__(self, now: float, idle_s: float) -> None:
        self._at, self._idle_s = now, idle_s
        self.share = 1.0

    @property
    def busy(self) -> bool:
        """Whether there is no time to spare."""
        return self.share < SPARE

    def observe(self, now: float, idle_s: float) -> None:
        """Hear how long there was nothing to do so far, in all (s)."""
        passed_s, idle = now - self._at, idle_s - self._idle_s
        if passed_s <= 0.0:  # the clock was set back
            return
        kept = math.exp(-passed_s / LATELY_S)
        self.share = kept * self.share + (1.0 - kept) * min(max(idle / passed_s, 0.0), 1.0)
        self._at, self._idle_s = now, idle_s

    def least(self, usual: float) -> float:
        """Return what a visit has to be worth now, where `usual` is what they have been worth (nan: nobody knows)."""
        return LESS * usual if self.busy and usual > 0.0 else -math.inf
