"""Divides the crawl's ceiling among partitions by use: what one partition cannot use goes to others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

EVERY_S: Final = 12.0
"""Time between two looks at the use, which is measured over the last 10 s."""
FULL: Final = 0.85
"""A partition that uses at least this fraction of its part may need more."""
ROOM: Final = 1.25
"""A partition that uses less than `FULL` of its part keeps what it uses, times this factor."""
SOON_S: Final = 2.0
"""Minimum time between looks if a partition has become idle or active again, which shows at once."""
LEAST: Final = 0.1
"""Minimum part, in even parts: with less, an idle partition could not start again at once."""
_STEP: Final = 0.05  # smaller changes are not worth a message


def wanted(parts: Sequence[float], used: Sequence[float]) -> list[float]:
    """Return the part of the ceiling that each partition should have, in even parts.

    Parameters
    ----------
    parts, used
        The present part of each partition, and how much it uses.

    Examples
    --------
    Two of four partitions are idle; then one of them becomes active; then all have enough:

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
    """The part of the ceiling that each partition may use: some parts are lowered, and then others are raised.

    A part is raised only after the lowered partitions have confirmed. A partition whose leave has expired may request
    nothing, so it uses nothing and need not confirm: it receives its latest part before it gets leave again.

    Parameters
    ----------
    parts
        Number of partitions.

    Attributes
    ----------
    told
        The part last sent to each partition.
    """

    def __init__(self, parts: int) -> None:
        self.told = [1.0] * parts
        self._held = [1.0] * parts  # the maximum that each may still be using
        self._raised = dict[int, float]()  # parts to be raised once the others are lowered
        self._looked_at, self._look_at, self._rest = float("-inf"), float("-inf"), frozenset[int]()

    def heard(self, number: int, part: float) -> None:
        """Take note of the part that a partition uses as its limit."""
        if part == self.told[number]:
            self._held[number] = part

    def turn(self, used: Sequence[float], now: float, shut: Collection[int] = ()) -> dict[int, float]:
        """Return the parts to send now: number -> part.

        Parameters
        ----------
        used
            The use of each partition, in even parts.
        now
            The time, by any clock that is never set back.
        shut
            Partitions that may request nothing until they receive something sent after the parts returned now.
        """
        for number in shut:
            self._held[number] = self.told[number]
        used = [0.0 if number in shut else use for number, use in enumerate(used)]
        idle = frozenset(number for number, use in enumerate(used) if not use)
        if idle != self._rest:
            self._look_at = min(self._look_at, self._looked_at + SOON_S)
        if self._held != self.told:  # a lowered partition has not confirmed yet
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
            else:  # no partition would take what the others release
                news = {}
        else:
            return {}
        for number, part in news.items():
            self._held[number] = max(self._held[number], part)
            self.told[number] = part
        return news
