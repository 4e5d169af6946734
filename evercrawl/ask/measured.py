"""Freshness measured by random probes and by all other visits: a fold over the journal.

Each `Drawn` event is resolved by the next visit of its page, whatever its cause. A visit without a result (trouble,
robots) ends the probe as unanswered. Pages that are gone, or redirect elsewhere now, count as stale.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from typing import Final

import numpy as np

from evercrawl.change.calibration import Calibration
from evercrawl.change.probed import Prediction, ProbedMeasure, ProbeFinding, judged, measure, stale_age_s
from evercrawl.model.stored.reader import Tell, events, recent
from evercrawl.store.journal.events import Drawn, Event, Lost, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.evidence import PredictedFresh

WINDOW: Final = 1000
"""Number of resolved probes of each kind that count, the most recent ones."""
RECENT_BYTES: Final = 32 << 20
"""Length of the journal's end that is read for recent figures: it holds at least `WINDOW` probes."""
BATCH: Final = 1 << 14
"""Number of events counted at a time."""


class MeasuredCopies:
    """A fold of events into measured freshness of the copies.

    Parameters
    ----------
    window
        Number of most recent probes of each kind that count.

    Attributes
    ----------
    unanswered
        Total number of probes without a result, by whether they were drawn by importance.
    visits, probes
        Predicted probability of being fresh and actual result: at all visits of pages with a copy, which are not a
        random sample; and at all probes, by whether they were drawn by importance.
    """

    def __init__(self, window: int = WINDOW) -> None:
        self.unanswered: Counter[bool] = Counter()
        self.visits = Calibration()
        self.probes = {False: Calibration(), True: Calibration()}
        self._waiting: defaultdict[int, list[Drawn]] = defaultdict(list)
        self._judged = {each: deque[tuple[float, ...]](maxlen=window) for each in (False, True)}
        self._told = 0  # visits that resolved a probe
        self._predicted = list[PredictedFresh]()

    def take(self, events: Iterable[Event]) -> MeasuredCopies:
        """Fold events, in order."""
        for event in events:
            if isinstance(event, Visit):
                if event.predicted_fresh:
                    self._predicted.append(PredictedFresh.unpack(event.predicted_fresh))
                if event.slot in self._waiting:
                    self._judge(self._waiting.pop(event.slot), event)
                if len(self._predicted) == BATCH:
                    self._count()
            elif isinstance(event, Drawn):
                self._waiting[event.slot].append(event)
            elif isinstance(event, Lost):
                self._give_up(self._waiting.pop(event.slot, ()))
        self._count()
        return self

    @property
    def waiting(self) -> int:
        """Number of probes that wait for a visit of their page."""
        return sum(len(drawn) for drawn in self._waiting.values())

    def measure(self, *, by_importance: bool) -> ProbedMeasure | None:
        """Return measured and expected freshness and age; None before the first probe is resolved."""
        rows = np.array(self._judged[by_importance], np.float64).reshape(-1, 6)
        fresh, age_s, expected, expected_age_s, stale_age_s, visit = rows.T
        return measure(fresh, age_s, expected, expected_age_s, stale_age_s, visit.astype(np.int64))

    def _judge(self, waiting: list[Drawn], visit: Visit) -> None:
        if not visit.predicted_fresh:
            self._give_up(waiting)
            return
        self._told += 1
        told = PredictedFresh.unpack(visit.predicted_fresh)
        known = 0 < visit.changed_at < visit.at
        for drawn in waiting:
            change_after_s = visit.changed_at - drawn.at if known else math.nan
            of = Prediction(drawn.fresh, drawn.age_s, drawn.alone_s)
            was = judged(of, ProbeFinding(visit.at - drawn.at, told.fresh, told.probability, change_after_s))
            self._judged[drawn.by_importance].append((*was, drawn.fresh, drawn.age_s, stale_age_s(of), self._told))
            self.probes[drawn.by_importance].add(drawn.fresh, was.fresh)

    def _give_up(self, waiting: Iterable[Drawn]) -> None:
        self.unanswered.update(drawn.by_importance for drawn in waiting)

    def _count(self) -> None:
        if self._predicted:
            self.visits.add(*zip(*self._predicted, strict=True))
            self._predicted.clear()


def measured(
    partition: Partition, *, size_bytes: int | None = RECENT_BYTES, tell: Tell | None = None
) -> MeasuredCopies:
    """Return the figures from the end of a crawl's journal; with no size, from the whole journal.

    While the whole journal is read, `tell` is called with the progress.

    Raises
    ------
    StoreError
        The whole journal is read, and it is damaged.
    """
    if size_bytes is None:
        return MeasuredCopies().take(event for _, _, event in events(partition, partition.journal.sequence, tell=tell))
    return MeasuredCopies().take(recent(partition, size_bytes))
