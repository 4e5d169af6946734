"""The base of policies with an interval per page that grows after unchanged visits and shrinks after changes."""

import math
from abc import abstractmethod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.abilities import Learns, Tabulates
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Switch, bounded, duration, seconds
from evercrawl.types import Flags, Floats

CYCLE: Final = "cycle"
"""Value of `start` for an interval as long as one visit to all pages takes, measured up to the latest new page."""
_PAGE: Final = np.dtype([("interval_s", "f8"), ("due_at", "f8"), ("modified_at", "f8"), ("failures", "u1")])
LEAST_S: Final = 1.0


class Adaptive(Learns, Tabulates, Policy):
    """Visit pages that are due by their own intervals; visit no others, unless configured to conserve work.

    Parameters
    ----------
    start
        Interval of a page that was visited once: a duration, or `cycle`.
    work_conserving
        1 to continue, if nothing is due, with the page with the smallest fraction of its interval left; 0 to leave the
        budget unused then, as published.
    """

    @bounded
    def __init__(self, start: Annotated[str, duration(LEAST_S, CYCLE)], work_conserving: Switch) -> None:
        self._fixed_s = math.nan if start == CYCLE else seconds(start)
        self.min_value = -math.inf if work_conserving else 0.0
        self._kept = Rows(_PAGE, (math.nan, math.nan, math.nan, 0))
        self._rounds = _Rounds()

    @abstractmethod
    def worth(self, pages: Pages, late_s: Floats) -> Floats:
        """Return the worth of due and new pages, shape (n,), never negative; `late_s` is 0 for new pages."""

    @abstractmethod
    def after(self, held: NDArray[Any], visits: Visits, start_s: Floats) -> NDArray[Any]:
        """Return the state of pages after visits: interval_s, due_at, modified_at and failures, shape (n,).

        A `due_at` of nan means the start interval after the visit, with its value at that time; `start_s` is its
        current value.
        """

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the worth of due or new pages, and for all others minus the remaining fraction of their interval.

        Thus spare visits shorten all intervals in proportion. If the remaining seconds decided, frequently changing
        pages would get all spare visits.
        """
        new = np.isnan(pages.visited_at)
        due_at = np.where(new, context.now, self.due(pages, context))
        late_s, wait_s = (
            context.now - due_at,
            np.maximum(due_at - np.where(new, context.now, pages.visited_at), LEAST_S),
        )
        return np.where(late_s < 0, late_s / wait_s, self.worth(pages, np.maximum(late_s, 0.0)))

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when each page falls due by its interval (s since the epoch)."""
        due_at: Floats = self._kept.take(pages.slot)["due_at"]
        return np.where(np.isnan(due_at), pages.visited_at + self._start_s, due_at)

    def learn(self, visits: Visits) -> None:
        """Lengthen or shorten the intervals of pages."""
        rows = self._kept.upto(int(visits.slot.max(initial=0)) + 1)
        held = rows[visits.slot]
        first = np.isnan(held["modified_at"]) & visits.read
        cycle_s = self._rounds.learn(visits.at, first)
        start_s = cycle_s if math.isnan(self._fixed_s) else np.full(len(visits), self._fixed_s)
        after = self.after(held, visits, start_s)
        after["modified_at"] = np.where(first, visits.at, after["modified_at"])
        rows[visits.slot] = after

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the interval of each read page, and when the page is due.

        Returns
        -------
        intervals
            The pages that were read.

            slot : page
                The page.
            interval_s : seconds
                Interval from the page's last visit to its next.
            due_at : instant
                When the page is due.
        """
        slot = np.flatnonzero(~np.isnan(self._kept.upto(0)["modified_at"])).astype(np.uint32)
        rows = self._kept.take(slot)
        interval_s = np.where(np.isnan(rows["interval_s"]), self._start_s, rows["interval_s"])
        due_at = np.where(np.isnan(rows["due_at"]), rows["modified_at"] + self._start_s, rows["due_at"])
        return {"intervals": {"slot": slot, "interval_s": interval_s, "due_at": due_at}}

    @property
    def _start_s(self) -> float:
        return self._rounds.cycle_s if math.isnan(self._fixed_s) else self._fixed_s


class _Rounds:
    """The time needed to visit all pages once, measured by the visits up to the latest first visit.

    Later the budget may be idle because nothing is due, so later visits do not show the pace.
    """

    def __init__(self) -> None:
        self._began_at = math.nan
        self._visits = self._pages = 0
        self.cycle_s = LEAST_S

    def learn(self, at: Floats, first: Flags) -> Floats:
        """Count visits, in order, with flags for first visits; return the cycle after each of them, shape (n,)."""
        if not len(at):
            return np.zeros(0)
        self._began_at = float(at[0]) if math.isnan(self._began_at) else self._began_at
        visits, pages = self._visits + np.arange(1, len(at) + 1), self._pages + first.cumsum()
        cycles_s = np.maximum(pages * (at - self._began_at) / visits, LEAST_S)
        latest = np.maximum.accumulate(np.where(first, np.arange(len(at)), -1))
        cycles_s = np.where(latest < 0, self.cycle_s, cycles_s[latest])
        self._visits, self._pages, self.cycle_s = int(visits[-1]), int(pages[-1]), float(cycles_s[-1])
        return cycles_s
