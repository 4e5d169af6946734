"""How much opportunity to be opened pages had: the openings that are usual at the places where they stood.

References
----------
Good (1953). The population frequencies of species and the estimation of population parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evercrawl.model.worth.weights import click_chances
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats

if TYPE_CHECKING:
    from evercrawl.model.worth.usage_counts import UsageCounts
    from evercrawl.store.state import State


class Exposure(NamedTuple):
    """How much opportunity to be opened pages had, in openings that are usual at the places where they stood.

    Attributes
    ----------
    column
        Of each page that questions name, by its row in the counts.
    mean
        Of a page that could have been shown, which are those that were read: that of one that was not.
    hidden
        Of a page that was read and never shown, though it could have been: all of them together have the part of the
        exposure that Good's estimate leaves to what was not seen yet, and none more than the mean.
    """

    column: Floats
    mean: float
    hidden: float


def exposure_of(counts: UsageCounts, state: State) -> Exposure:
    """Return it, as far as people told, by what the crawl has read until now."""
    shown_at = counts.shown_at
    column = shown_at @ click_chances(counts.clicks_at, shown_at.sum(0, dtype=np.int64))
    known = counts.slots()
    times = counts.of(counts.shown, known)
    known, times = known[times > 0], times[times > 0]
    read = int(np.count_nonzero(state.table.record.take(known) < NO_RECORD))
    total, could = float(counts.of(column, known).sum()), state.records.count + len(known) - read
    mean, unseen = total / max(could, 1), (float(np.count_nonzero(times == 1)) + 1.0) / (float(times.sum()) + 1.0)
    return Exposure(column, mean, min(unseen * total / max(state.records.count - read, 1), mean))
