"""Results of a replay."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.calibration import Calibration
from evercrawl.lab.backtest.calibrations import Calibrations
from evercrawl.types import Floats, Ints

_PER_PAGE: Final = (
    "weight", "alive_s", "fresh_s", "content_fresh_s", "stale_s2", "polls", "unchanged", "first_sight_s", "unseen",
)  # fmt: skip


class Replayed(NamedTuple):
    """Results of one policy on one history, over the measured part, page by page.

    Attributes
    ----------
    site, policy, budget
        Name of the history, name of the policy, and polls per live page and day.
    weight
        Importance of each page, shape (pages,), like all columns up to `first_sight_s`.
    alive_s, fresh_s, content_fresh_s
        Time in which the page existed, in which the copy equalled it, and in which their words were equal up to 3 bits
        of simhash.
    stale_s2
        Integral of the age over time; the age is the time since the page first differed from the copy, or without a
        copy since its birth.
    polls, unchanged
        Number of polls, and of those that found no change.
    first_sight_s
        Time from birth to the first poll that saw the page; nan for pages not born in that part, or never seen.
    unseen
        Which pages were born in that part and never seen, shape (pages,).
    elapsed_s
        CPU time of the replay.
    calibration
        Calibration of the policy's P(fresh) of copies about to be replaced; empty for policies without estimates.
    calibrations
        The same, site by site.
    """

    site: str
    policy: str
    budget: float
    weight: Floats
    alive_s: Floats
    fresh_s: Floats
    content_fresh_s: Floats
    stale_s2: Floats
    polls: Ints
    unchanged: Ints
    first_sight_s: Floats
    unseen: NDArray[np.bool_]
    elapsed_s: float
    calibration: Calibration
    calibrations: Calibrations

    @property
    def freshness(self) -> float:
        """The weighted share of time in which copies equalled their pages, from 0 to 1."""
        return float(np.dot(self.weight, self.fresh_s) / np.dot(self.weight, self.alive_s))

    def of(self, site: int, pages: Ints, name: str) -> Replayed:
        """Return the results for a site: its number, its pages, and its name."""
        columns = {column: getattr(self, column)[pages] for column in _PER_PAGE}
        return self._replace(site=name, calibration=self.calibrations.of(site), **columns)
