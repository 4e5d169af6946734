"""Stretches of visits, after each of which clocks measure the crawl's cycle again."""

from typing import Final

from evercrawl.schedule.shared.pacing import MeasuredPace

_EARLY: Final = 256  # number of visits up to which stretches are short
_SHORT: Final = 16


class Stretches:
    """Counts visits, and measures the cycle from them alone, however they are split into calls.

    Examples
    --------
    The first stretch gives the start of the next, and no information about the cycle:

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
        """Number of pages that share the visits."""

    def left(self) -> int:
        """Return the number of visits left in the stretch."""
        return self._every() - self._visits % self._every()

    def passed(self, visits: int, now: float) -> bool:
        """Count visits, at most those left; return whether they completed a stretch, other than the first."""
        self._visits += visits
        if self._visits % self._every():
            return False
        first = self._paced == 0
        self._pace.made(0 if first else self._visits - self._paced, now)
        self._paced = self._visits
        return not first

    @property
    def cycle_s(self) -> float:
        """The time needed to visit all known pages once."""
        return self._pace.cycle_s(self.known)

    def state(self) -> tuple[float, ...]:
        """Return the whole state; `restore` takes it."""
        return self._visits, self._paced, self.known, *self._pace.state()

    def restore(self, visits: float, paced: float, known: float, *pace: float) -> None:
        """Resume from the result of `state`."""
        self._visits, self._paced, self.known = int(visits), int(paced), int(known)
        self._pace.restore(*pace)

    def _every(self) -> int:
        return _SHORT if self._visits < _EARLY else _EARLY
