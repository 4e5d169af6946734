"""Announcements of visits compared with the actual visits, and prediction intervals calibrated from their errors."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from typing import Final, NamedTuple

import numpy as np

WANTED: Final = 0.8
"""Intended part of the visits that come within the announced interval."""
LEADS_S: Final = (5.0, 20.0, 60.0, 300.0, 1800.0)
"""Lead times by which announcements are grouped."""
LEAST: Final = 20
"""Least number of visits compared with announcements before an interval is announced."""
KEPT: Final = 400  # errors kept for each lead time
OPEN: Final = 2_000  # announcements that wait for their visit
_STEP: Final = 0.02
_WIDEST: Final = 0.995
_NARROWEST: Final = 0.4


class AnnouncedVisit(NamedTuple):
    """An announcement of a visit.

    Attributes
    ----------
    at, due_at
        Instant of the announcement, and the announced instant of the visit.
    low_at, high_at
        The announced interval; nan if there was none.
    """

    at: float
    due_at: float
    low_at: float
    high_at: float


class AppointmentBook:
    """Announcements of visits and their errors.

    The width of an interval is a quantile of the errors of recent announcements. The quantile is adjusted after each
    visit, so that the intended coverage also holds while errors grow or shrink (adaptive conformal inference).

    Attributes
    ----------
    kept, missed
        Number of visits within their announced interval, and outside it.

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
        """Return due, low and high of an announcement made now, in s since the epoch; nan if there is no interval.

        An overdue visit is announced for now.
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
        """Return the announcement of a page's next visit; the first one before a visit is compared with it."""
        told = AnnouncedVisit(now, *self.interval(now, due_at))
        first = self._open.setdefault(page, told)
        if len(self._open) > OPEN:
            self._open.popitem(last=False)
        return told if first is not told else first

    def came(self, page: int, at: float) -> None:
        """Compare a visit with its announcement; a visit that was not announced is ignored."""
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
        """Return whether a page's next visit was announced."""
        return page in self._open

    def shown(self) -> dict[str, float | int | None]:
        """Return the number of visits compared, and the part of them within the announced interval."""
        judged = self.kept + self.missed
        return {"judged": judged, "kept": self.kept / judged if judged else None, "wanted": WANTED}
