"""The number of polls available in each tick of a replay."""

import math
from typing import Final

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.discovery import Births
from evercrawl.lab.backtest.setting import DAY_S
from evercrawl.lab.backtest.truth import Truth
from evercrawl.types import Floats, Ints

TICKS: Final = 60
"""Ticks per cycle, the time in which every page could be polled once; the polls of a tick are chosen at once."""
_WHOLE: Final = 1e-9  # tolerance for rounding when polls are counted
_MOST: Final = 2**24  # maximum number of ticks: several hundred MB, and hours
_KEPT: Final = 1.0  # unused polls that are kept


class Spending:
    """A budget that accrues at a constant rate per live page; unused polls but one are lost.

    Parameters
    ----------
    pages, births
        The replayed part of the history, and the number of live pages in it.
    budget
        Polls per live page and day, above 0.

    Attributes
    ----------
    at
        End of each tick, at which polls are made, shape (ticks,).
    cycle_s
        The time in which every page could be polled once.

    Raises
    ------
    ConfigError
        There is no budget, or it needs more ticks than can be replayed.
    """

    def __init__(self, pages: Truth, births: Births, budget: float) -> None:
        if not 0 < budget < math.inf:
            raise ConfigError(f"the budget must be more than 0 polls per page and day, not {budget:g}")
        self.cycle_s = DAY_S / budget
        tick_s = self.cycle_s / TICKS
        ticks = max(math.ceil((pages.end - pages.start) / tick_s), 1)
        if ticks > _MOST:
            days = (pages.end - pages.start) / DAY_S
            raise ConfigError(
                f"{budget:g} polls per page and day are too many to replay {days:,.0f} days; replay a shorter time, or "
                f"at most {_MOST / TICKS / days:,.0f} polls"
            )
        self.at: Floats = np.minimum(pages.start + tick_s * np.arange(1, ticks + 1), pages.end)
        self._given = np.diff(self.at, prepend=pages.start) / self.cycle_s * births.live_at(self.at)
        self._room = 0.0

    def __len__(self) -> int:
        """Return the number of ticks."""
        return len(self.at)

    def polls(self, first: int, last: int) -> Ints:
        """Return the number of polls in each tick from `first` up to, but excluding, `last`."""
        whole = np.floor(self._room + np.cumsum(self._given[first:last]) + _WHOLE)
        return np.diff(whole, prepend=0.0).astype(np.int64)

    def spend(self, first: int, last: int, polls: int) -> None:
        """Deduct the polls made in these ticks."""
        self._room = min(self._room + float(self._given[first:last].sum()) - polls, _KEPT)
