"""Known pages in a replay, and the selection of those to poll.

All known pages are valued only at intervals; in between, the candidates are the most promising pages and those
discovered since.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.polling.polled import HeldColumns
from evercrawl.schedule.abilities import Follows, Plans
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats, Ints, Slots


class Choice(NamedTuple):
    """Pages to poll, best first, their values, and whether they were never polled; shape (n,) each."""

    rows: Ints
    values: Floats
    new: NDArray[np.bool_]


class Candidates:
    """The known pages.

    Parameters
    ----------
    policy, held
        The policy, and its inputs.
    plans
        Whether the policy may plan.

    Attributes
    ----------
    known, unread
        Number of known pages, and of those never polled.
    """

    def __init__(self, policy: Policy, held: HeldColumns, *, plans: bool = True) -> None:
        self._policy, self._held = policy, held
        self._known = np.zeros(len(held.visited_at), np.bool_)
        self._plan_at = -math.inf if isinstance(policy, Plans) and plans else math.inf
        self._pool: Ints = np.zeros(0, np.int64)
        self.unread = 0
        self.known = 0

    def add(self, rows: Ints) -> None:
        """Add known pages as candidates."""
        rows = np.unique(rows[~self._known[rows]])
        if len(rows):
            self._known[rows] = True
            self.unread += len(rows)
            self.known += len(rows)
            self._pool = np.insert(self._pool, np.searchsorted(self._pool, rows), rows)

    def stir(self, rows: Ints, group: Slots) -> None:
        """Make all pages in the groups of changed pages candidates until the next valuation of all pages.

        Parameters
        ----------
        rows
            Pages that changed.
        group
            Number of each page's group, shape (pages,).
        """
        stirred = np.zeros(int(group.max()) + 1, np.bool_)
        stirred[group[rows]] = True
        chosen = stirred[group] & self._known
        chosen[self._pool] = True
        self._pool = np.flatnonzero(chosen)

    def drop(self, rows: Ints) -> None:
        """Remove pages that a poll found gone."""
        self._held.drop(rows)
        self._known[rows] = False
        self.known -= len(rows)
        self._pool = self._pool[self._known[self._pool]]

    def look(self, now: float, until: float, enough: int) -> None:
        """Value all pages, and keep the most promising for the time up to `until`.

        Parameters
        ----------
        now, until
            Instants.
        enough
            Number of pages of each kind, new and polled before, that are kept: more than will be polled by then. If it
            covers all pages, they are not valued.
        """
        rows = np.flatnonzero(self._known)
        if 2 * enough < len(rows):
            columns = self._columns(rows)
            values, new = self._policy.value(columns, self._context(until)), np.isnan(columns.visited_at)
            kinds = (np.flatnonzero(kind) for kind in (new, ~new))
            rows = rows[np.sort(np.concatenate([kind[best(values[kind], enough)] for kind in kinds]))]
        self._pool = rows

    def plan(self, now: float) -> None:
        """Let the policy plan over all pages, if it asks to."""
        if isinstance(self._policy, Plans) and now >= self._plan_at and self.known > self.unread:
            seen = np.flatnonzero(self._known & ~np.isnan(self._held.visited_at))
            self._plan_at = self._policy.plan(self._columns(seen), self.unread, self._context(now))

    def choose(self, now: float, most: int) -> Choice:
        """Return up to `most` pages to poll, none below the policy's minimum value."""
        columns = self._columns(self._pool)
        values = self._policy.value(columns, self._context(now))
        places = best(values, most)
        places = places[values[places] >= self._policy.min_value]
        return Choice(self._pool[places], values[places], np.isnan(columns.visited_at[places]))

    def took(self, choice: Choice, at: Floats) -> None:
        """Tell the policy which pages are polled, each at its instant, grouped by instant."""
        ends = np.flatnonzero(np.r_[at[1:] != at[:-1], True]) + 1
        first = 0
        for last in ends.tolist():
            new = int(choice.new[first:last].sum())
            self.unread -= new
            if isinstance(self._policy, Follows):
                self._policy.chosen(choice.values[first:last], self._context(float(at[first])), new)
            first = last

    def _context(self, now: float) -> Context:
        return self._held.surroundings(now, self.known - self.unread)

    def _columns(self, rows: Ints) -> Pages:
        return self._held.columns(None if len(rows) == len(self._known) else rows)


def best(values: Floats, most: int) -> Ints:
    """Return the positions of the highest values, highest first; ties by position, whatever `most` is.

    >>> best(np.array([1.0, 3.0, 3.0, 3.0]), 2).tolist()
    [1, 2]
    """
    if most >= len(values):
        return np.argsort(-values, kind="stable")
    if most <= 0:
        return np.zeros(0, np.int64)
    least = np.partition(values, len(values) - most)[len(values) - most]
    above = np.flatnonzero(values > least)
    rows = np.concatenate([above, np.flatnonzero(values == least)[: most - len(above)]])
    return rows[np.argsort(-values[rows], kind="stable")]
