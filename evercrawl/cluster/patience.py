"""How long the process of a partition may say nothing before it counts as hung, and before it is ended."""

from __future__ import annotations

import time
from typing import Final

from evercrawl.ask.parts_line import ENDED_S

HUNG_S: Final = 15.0
"""After so long without a word a process counts as hung; its leave is over by then. It reports twice a second."""
_PAUSE_S: Final = 2.0


class Patience:
    """How long one process has said nothing.

    Attributes
    ----------
    opening
        Whether it may still be reading a large directory, or restoring it: it has not reported yet.

    Examples
    --------
    >>> patience = Patience(now=0.0)
    >>> patience.silent_s(99.0), patience.opening, patience.is_over(9999.0)
    (99.0, True, False)
    >>> patience.heard(100.0)
    >>> patience.silent_s(110.0), patience.silent_s(130.0), patience.is_over(700.0)
    (0.0, 30.0, True)
    """

    def __init__(self, now: float) -> None:
        self._heard_at, self.opening = now, True

    def heard(self, now: float, *, opening: bool = False) -> None:
        """Take note that it said something."""
        self._heard_at, self.opening = now, opening

    def missed(self, seconds: float, now: float) -> None:
        """Do not count seconds in which nobody listened."""
        self._heard_at = min(self._heard_at + seconds, now)

    def silent_s(self, now: float) -> float:
        """Return for how long it has said nothing; 0 as long as that is nothing unusual."""
        silent_s = now - self._heard_at
        return silent_s if silent_s >= HUNG_S else 0.0

    def is_over(self, now: float) -> bool:
        """Whether it is to be ended, so that another one takes its place."""
        return not self.opening and self.silent_s(now) >= ENDED_S


class Listening:
    """Tells for how long the coordinator itself did not listen: it was stopped, or had too little of the processor."""

    def __init__(self) -> None:
        self._turned_at = time.monotonic()

    def paused_s(self, now: float) -> float:
        """Return how long that was since the last call; 0 for a moment."""
        passed_s, self._turned_at = now - self._turned_at, now
        return passed_s if passed_s > _PAUSE_S else 0.0
