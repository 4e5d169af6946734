"""Announcements of visits, held against the visits that came: how far off they are, and what interval to tell."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from typing import Final, NamedTuple

import numpy as np

WANTED: Final = 0.8
"""Part of the visits that are to come within the interval that was told."""
LEADS_S: Final = (5.0, 20.0, 60.0, 300.0, 1800.0)
"""Announcements that are so long before the visit are judged among themselves."""
LEAST: Final = 20
"""Visits that have to be held against announcements before an interval is told."""
KEPT: Final = 400  # errors for each lead
OPEN: Final = 2_000  # announcements that wait for their visit
_STEP: Final = 0.02
_WIDEST: Final = 0.995
_NARROWEST: Final = 0.4


class AnnouncedVisit(NamedTuple):
    """What was told of a visit to come.

    Attributes
    ----------
    at, due_at
        When it was told, and for when.
    low_at, high_at
        The interval that was told with it; nan where none was.
    """

    at: float
    due_at: float
    low_at: float
    high_at: float


class AppointmentBook:
    """Announcements and what became of them.

    Errors of the last announcements tell how wide an interval has to be; how wide it is among them is moved after each
    visit, so that the part that is told holds also where errors grow or shrink (adaptive conformal inference).

    Attributes
    ----------
    kept, missed
        Visits that came within the interval that was told of them, and those that did not.

    Examples
    --------
    >>> book = AppointmentBook()
    >>> for page in range(40):
    ...     _ = book.announce(page, 0.0, 10.0)
    ...     book.came(page, 10.0 + page % 5)
    >>> book.interval(0.0, 10.0)[1:]
    (10.0, 14.0)

    References
    ----------
    Gibbs, Candes (2021). Adaptive conformal inference under distribution shift.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[int, AnnouncedVisit] = OrderedDict()
        self._errors: list[deque[float]] = [deque(maxlen=KEPT) for _ in range(len(LEADS_S) + 1)]
        self._part = [WANTED] * (len(LEADS_S) + 1)
        self.kept = self.missed = 0

    def interval(self, now: float, due_at: float) -> tuple[float, float, float]:
        """Return an announcement made now with its interval, s since the epoch: due, low, high; nan where none is told.

        What is overdue is announced for now.
        """
        due_at = max(due_at, now)
        lead = bisect_right(LEADS_S, due_at - now)
        errors = self._errors[lead]
        if len(errors) < LEAST:
            return due_at, np.nan, np.nan
        tail = (1.0 - self._part[lead]) / 2.0
        low, high = np.quantile(np.array(errors), [tail, 1.0 - tail])
        return due_at, max(due_at + float(low), now), max(due_at + float(high), now)

    def announce(self, page: int, now: float, due_at: float) -> AnnouncedVisit:
        """Note what is told of the next visit of a page; what was told of it first is what it is held against."""
        told = AnnouncedVisit(now, *self.interval(now, due_at))
        first = self._open.setdefault(page, told)
        if len(self._open) > OPEN:
            self._open.popitem(last=False)
        return told if first is not told else first

    def came(self, page: int, at: float) -> None:
        """Hold a visit against what was told of it; one of which nothing was told is left aside."""
        told = self._open.pop(page, None)
        if told is None or at < told.at:
            return
        lead = bisect_right(LEADS_S, told.due_at - told.at)
        if not np.isnan(told.low_at):
            kept = told.low_at <= at <= told.high_at
            self.kept, self.missed = self.kept + kept, self.missed + (not kept)
            part = self._part[lead] + _STEP * ((not kept) - (1.0 - WANTED))
            self._part[lead] = min(max(part, _NARROWEST), _WIDEST)
        self._errors[lead].append(at - told.due_at)

    def waiting(self, page: int) -> bool:
        """Whether something was told of a page's next visit."""
        return page in self._open

    def shown(self) -> dict[str, float | int | None]:
        """Return how many visits were judged, and which part of them came within the interval that was told."""
        judged = self.kept + self.missed
        return {"judged": judged, "kept": self.kept / judged if judged else None, "wanted": WANTED}
