"""The pages that a cycle of Tianwang visits, and their order."""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.arrays.rows import Rows
from evercrawl.types import Flags, Floats, Ints, Slots

DUE, REMAINED, INDEX = 0, 1, 2
"""Kinds of pages in a cycle: due since the last cycle; left over from before; index-like."""
_ROW: Final = [("cycle", "u4"), ("kind", "u1"), ("place", "f4")]


class Queues(NamedTuple):
    """Rows of pages, in the order in which a cycle visits them.

    Attributes
    ----------
    direct
        Number of due pages that are to be visited at once.
    """

    due: Ints
    remained: Ints
    direct: int


def queues(next_at: Floats, waiting: Flags, direct: Flags, before_at: float, begun_at: float) -> Queues:
    """Return which pages are due in a cycle, and which were left over by earlier cycles.

    Pages that were due when the previous cycle began, and were not visited since, had found no room in it. Pages that
    changed at each recent check are never left over: they are due until they are visited, and come first.

    Parameters
    ----------
    next_at
        NextCrawlTime of each page, shape (n,).
    waiting
        Pages that were not visited in this cycle yet, and are not retired.
    direct
        Pages that changed at each recent check.
    before_at, begun_at
        Start of the previous cycle, and of this one.

    Examples
    --------
    >>> next_at, all_of_them = np.array([5.0, 12.0, 18.0, 30.0, 2.0]), np.ones(5, bool)
    >>> queues(next_at, all_of_them, np.array([0, 0, 1, 0, 0], bool), before_at=10.0, begun_at=20.0)
    Queues(due=array([2, 1]), remained=array([4, 0]), direct=1)
    """
    in_order = np.argsort(next_at, kind="stable")
    ready = waiting & (next_at <= begun_at)
    over = (next_at <= before_at) & ~direct
    remained, due = (in_order[(ready & kind)[in_order]] for kind in (over, ~over))
    at_once = direct[due]
    return Queues(np.concatenate([due[at_once], due[~at_once]]), remained, int(at_once.sum()))


class QueuePlaces:
    """The position of each page in the cycle, between 0 (first of its kind) and 1."""

    def __init__(self) -> None:
        self._kept = Rows(_ROW)
        self._cycle = 0

    def fill(self, taken: list[tuple[int, Slots]]) -> None:
        """Replace the contents with pages of some kinds, each in order."""
        self._cycle += 1
        for kind, slots in taken:
            rows = self._kept.upto(int(slots.max(initial=0)) + 1)
            rows["cycle"][slots], rows["kind"][slots] = self._cycle, kind
            rows["place"][slots] = np.arange(len(slots)) / max(len(slots), 1)

    def of(self, slots: Slots) -> tuple[Flags, Ints, Floats]:
        """Return which pages are in the cycle, their kinds, and their positions; shape (n,) each."""
        rows = self._kept.take(slots)
        taken: Flags = (rows["cycle"] == self._cycle) & (self._cycle > 0)
        return taken, rows["kind"].astype(np.int64), rows["place"].astype(np.float64)
