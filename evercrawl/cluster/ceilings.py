"""The ceiling of a crawl, shared out to its partitions by what they use: what one cannot use is left to others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

EVERY_S: Final = 12.0
"""Between two looks at what is used: that is measured over the last 10 s."""
FULL: Final = 0.85
"""Who uses so much of its part may want more."""
ROOM: Final = 1.25
"""Who does not keeps what it uses, and a quarter more."""
SOON_S: Final = 2.0
"""The same where one has come to rest, or crawls again: that shows at once."""
LEAST: Final = 0.1
"""Of an even part: with less nobody could begin again at once."""
_STEP: Final = 0.05  # smaller changes are not worth a message


def wanted(parts: Sequence[float], used: Sequence[float]) -> list[float]:
    """Return the parts of the ceiling that partitions are to have; the even part of each is 1.

    Parameters
    ----------
    parts, used
        What each may use, and uses.

    Examples
    --------
    Two of four are at rest; then one of them is not any more, and then all have enough:

    >>> wanted([1.0, 1.0, 1.0, 1.0], [1.0, 0.95, 0.0, 0.0])
    [1.9, 1.9, 0.1, 0.1]
    >>> wanted([1.9, 1.9, 0.1, 0.1], [1.8, 0.4, 0.0, 0.1])
    [1.7, 0.5, 0.1, 1.7]
    >>> wanted([1.7, 0.5, 0.1, 1.7], [1.0, 0.4, 0.0, 1.0])
    [1.7, 0.5, 0.1, 1.7]
    """
    full = [use >= FULL * part for part, use in zip(parts, used, strict=True)]
    if not any(full):
        return list(parts)
    kept = [
        0.0 if more else max(min(ROOM * use, part), LEAST)
        for part, use, more in zip(parts, used, full, strict=True)
    ]  # fmt: skip
    rest = (len(parts) - sum(kept)) / sum(full)
    return [rest if more else own for own, more in zip(kept, full, strict=True)]


class SharedCeiling:
    """Which part of the ceiling each partition may use: some are lowered, and once they say so, others are raised.

    Who may request nothing at present, because its leave is over, uses nothing and need not say so: it hears what it
    was told last before it has leave again.

    Parameters
    ----------
    parts
        How many partitions there are.

    Attributes
    ----------
    told
        What each was told last.
    """

    def __init__(self, parts: int) -> None:
        self.told = [1.0] * parts
        self._held = [1.0] * parts  # the most that each may still be using
        self._raised = dict[int, float]()  # who is raised once the others are lowered, and to what
        self._looked_at, self._look_at, self._rest = float("-inf"), float("-inf"), frozenset[int]()

    def heard(self, number: int, part: float) -> None:
        """Hear which part a partition goes by."""
        if part == self.told[number]:
            self._held[number] = part

    def turn(self, used: Sequence[float], now: float, shut: Collection[int] = ()) -> dict[int, float]:
        """Return what partitions are to be told now: number -> part.

        Parameters
        ----------
        used
            How much of its even part each uses.
        now
            The time, by any clock that is not set back.
        shut
            Partitions that may request nothing until they have been told something later than what is returned now.
        """
        for number in shut:
            self._held[number] = self.told[number]
        used = [0.0 if number in shut else use for number, use in enumerate(used)]
        idle = frozenset(number for number, use in enumerate(used) if not use)
        if idle != self._rest:
            self._look_at = min(self._look_at, self._looked_at + SOON_S)
        if self._held != self.told:  # one has yet to say that it goes by less
            return {}
        if self._raised:
            news, self._raised = self._raised, {}
            self._looked_at, self._look_at = now, now + EVERY_S
        elif now >= self._look_at:
            self._looked_at, self._look_at, self._rest = now, now + EVERY_S, idle
            goal = wanted(self.told, used)
            news = {number: part for number, part in enumerate(goal) if part < self.told[number] - _STEP}
            kept = [news.get(number, part) for number, part in enumerate(self.told)]
            short = {
                number: part - kept[number]
                for number, part in enumerate(goal)
                if part > kept[number] + _STEP and number not in shut
            }
            if short:
                share = min((len(goal) - sum(kept)) / sum(short.values()), 1.0)
                self._raised = {number: kept[number] + more * share for number, more in short.items()}
            else:  # nobody would have what they leave
                news = {}
        else:
            return {}
        for number, part in news.items():
            self._held[number] = max(self._held[number], part)
            self.told[number] = part
        return news
