"""How long a partition's process may be silent before it counts as hung, and before it is ended."""

from __future__ import annotations

import time
from typing import Final

from evercrawl.ask.parts_line import ENDED_S

HUNG_S: Final = 15.0
"""After this time of silence a process counts as hung; its leave has expired by then. It reports twice a second."""
_PAUSE_S: Final = 2.0


class Patience:
    """How long one process has been silent.

    Attributes
    ----------
    opening
        Whether it has not reported yet, and so may still be reading or restoring a large directory.

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
        """Take note that the process sent something."""
        self._heard_at, self.opening = now, opening

    def missed(self, seconds: float, now: float) -> None:
        """Exclude seconds in which the coordinator was not listening."""
        self._heard_at = min(self._heard_at + seconds, now)

    def silent_s(self, now: float) -> float:
        """Return how long the process has been silent; 0 if that is not unusual."""
        silent_s = now - self._heard_at
        return silent_s if silent_s >= HUNG_S else 0.0

    def is_over(self, now: float) -> bool:
        """Return whether the process must be ended and replaced."""
        return not self.opening and self.silent_s(now) >= ENDED_S


class Listening:
    """Measures how long the coordinator itself was not listening, because it was stopped or short of CPU time."""

    def __init__(self) -> None:
        self._turned_at = time.monotonic()

    def paused_s(self, now: float) -> float:
        """Return the length of such a pause since the last call; 0 if it was short."""
        passed_s, self._turned_at = now - self._turned_at, now
        return passed_s if passed_s > _PAUSE_S else 0.0
