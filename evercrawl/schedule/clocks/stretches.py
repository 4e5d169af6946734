"""Stretches of visits, after each of which clocks measure anew how long a cycle of the crawl is."""

from typing import Final

from evercrawl.schedule.shared.pacing import MeasuredPace

_EARLY: Final = 256  # visits, up to which stretches are short
_SHORT: Final = 16


class Stretches:
    """Counts visits, and tells the cycle by them alone, however they are parted into calls.

    Examples
    --------
    The first stretch tells when the next began, and nothing of the cycle:

    >>> stretches = Stretches()
    >>> stretches.known = 40
    >>> stretches.passed(10, now=10.0), stretches.left(), stretches.passed(6, now=16.0)
    (False, 6, False)
    >>> stretches.passed(16, now=86400.0 + 16.0), round(stretches.cycle_s / 86400, 1)
    (True, 2.4)
    """

    def __init__(self) -> None:
        self._pace = MeasuredPace()
        self._visits = self._paced = 0
        self.known = 0
        """How many pages share the visits."""

    def left(self) -> int:
        """Return how many visits there are until the stretch is whole."""
        return self._every() - self._visits % self._every()

    def passed(self, visits: int, now: float) -> bool:
        """Take note of visits, no more than were left; return whether that made a stretch whole, after the first."""
        self._visits += visits
        if self._visits % self._every():
            return False
        first = self._paced == 0
        self._pace.made(0 if first else self._visits - self._paced, now)
        self._paced = self._visits
        return not first

    @property
    def cycle_s(self) -> float:
        """How long it takes to visit all known pages once."""
        return self._pace.cycle_s(self.known)

    def state(self) -> tuple[float, ...]:
        """Return all there is to it; `restore` takes it."""
        return self._visits, self._paced, self.known, *self._pace.state()

    def restore(self, visits: float, paced: float, known: float, *pace: float) -> None:
        """Go on from what `state` returned."""
        self._visits, self._paced, self.known = int(visits), int(paced), int(known)
        self._pace.restore(*pace)

    def _every(self) -> int:
        return _SHORT if self._visits < _EARLY else _EARLY
