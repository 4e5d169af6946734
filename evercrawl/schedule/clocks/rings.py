"""The clocks of folders and sites: rings of cells, which grow in number, and whose bins are made wider and narrower."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.clocks._layout import (
    CACHED,
    CELLS,
    CHANGES_SCALE,
    EXPECTED_SCALE,
    FINEST,
    LEVELS,
    MOST_CODE,
)
from evercrawl.types import Floats, Ints

AT_ONCE: Final = 256
"""Rings that are made wider or narrower at a time: some ten milliseconds."""
_REACH: Final = 256  # bins, at most


class ClockRings:
    """Rings of 80 cells, 344 bytes each; `_rings` tells what lies in them. Ring 0 is nobody's.

    Where there are many, not all get wider or narrower bins at once: `go_on` has some of them follow, and whoever is
    about to look at others has these follow first (`settle`).

    Parameters
    ----------
    width_s
        Of a bin, in seconds.

    Examples
    --------
    >>> rings = ClockRings(60.0)
    >>> rings.more(2), len(rings)
    (array([1, 2]), 3)
    """

    def __init__(self, width_s: float) -> None:
        self.width_s = width_s
        self._heads, self._versions, self._units = SavedRows("i8"), Rows("u4"), SavedRows((np.float32, 3))
        self._changes, self._expected = (SavedRows((np.uint16, CELLS)) for _ in range(2))
        self._tags, self._times, self._clock = Rows(("i8", 5)), Rows(("f8", 2)), Rows((np.float32, CELLS))
        for cache in (self._tags, self._times, self._clock):
            cache.upto(CACHED)
        self._swept = self._until = self._doublings = 0
        self._ahead: NDArray[np.bool_] = np.zeros(0, np.bool_)  # those that followed before it was their turn
        self.more(1)

    def __len__(self) -> int:
        """Return how many rings there are, ring 0 included."""
        return len(self._heads)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        each = (*self.tables().values(), self._versions, self._tags, self._times, self._clock)
        return sum(rows.nbytes for rows in each)

    def more(self, count: int) -> Ints:
        """Return the numbers of so many new rings."""
        first = len(self)
        for column in (*self.tables().values(), self._versions):
            column.upto(first + count)
        self._heads.all()[first:] = -1
        self.note(np.arange(first, first + count))
        return np.arange(first, first + count)

    def note(self, rings: Ints) -> None:
        """Note that rings were written to."""
        for table in self.tables().values():
            table.note(rings)

    def fit(self, width_s: float) -> bool:
        """Make bins twice as wide, or half, until they are within a factor of two of what is wanted.

        Returns whether they were changed; they are not while some rings have yet to follow an earlier change.
        """
        if self.stale or self.width_s / 2 < width_s < 2 * self.width_s:
            return False
        ratio = width_s / self.width_s
        self._doublings = int(np.floor(np.log2(ratio)) if ratio > 1 else np.ceil(np.log2(ratio)))
        self.width_s *= 2.0**self._doublings
        self._swept, self._until = 0, len(self)
        self._ahead = np.zeros(self._until, np.bool_)
        self._tags.all()[:] = 0
        self.go_on()
        return True

    @property
    def stale(self) -> bool:
        """Whether some rings still have the bins of before."""
        return self._swept < self._until

    def go_on(self) -> None:
        """Have the next rings follow."""
        if self.stale:
            first, self._swept = self._swept, min(self._swept + AT_ONCE, self._until)
            self._follow(first + np.flatnonzero(~self._ahead[first : self._swept]))

    def settle(self, rings: Ints) -> None:
        """Have rings follow that are about to be looked at."""
        some = np.unique(rings)
        some = some[(some >= self._swept) & (some < self._until)]
        some = some[~self._ahead[some]]
        if len(some):
            self._ahead[some] = True
            self._follow(some)

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return which rings have yet to follow; `resume` takes it."""
        if not self.stale:
            return {}
        ahead = np.flatnonzero(self._ahead[self._swept :]) + self._swept
        return {"following": np.array([self._swept, self._until, self._doublings, *ahead.tolist()], np.int64)}

    def resume(self, rest: dict[str, NDArray[Any]]) -> None:
        """Take note that the tables are others now, and which rings of them have yet to follow."""
        self._versions.restore(np.zeros(len(self._heads), np.uint32))
        self._tags.all()[:] = 0
        numbers: list[int] = rest.get("following", np.zeros(3, np.int64)).tolist()
        self._swept, self._until, self._doublings = numbers[:3]
        self._ahead = np.zeros(self._until, np.bool_)
        self._ahead[numbers[3:]] = True

    def tables(self) -> dict[str, SavedRows]:
        """Return all that they have learned, by name."""
        return {
            "heads": self._heads, "units": self._units, "changes": self._changes, "expected": self._expected,
        }  # fmt: skip

    def in_order(self) -> tuple[Rows, ...]:
        """Return all tables in the order in which kernels know them."""
        learned = self._heads, self._versions, self._units, self._changes, self._expected
        return (*learned, self._tags, self._times, self._clock)

    def bins(self, rings: Ints | None = None) -> tuple[Floats, Floats]:
        """Return the changes and the expected rates of rings bin by bin, the newest first, shape (rings, 256) each.

        By default of all. What a cell of many bins holds is spread over them; where nothing is kept any more there is
        nothing.
        """
        some = slice(None) if rings is None else rings
        heads, units = self._heads.all()[some], self._units.all()[some].astype(np.float64)
        k = heads[:, None] - np.arange(_REACH)
        level, cell = _cells(k, heads[:, None])
        row = np.arange(len(self))[some][:, None]
        kept = (level < LEVELS) & (heads[:, None] >= 0)
        changes = np.where(kept, self._changes.all()[row, cell] / 2.0 ** np.minimum(level, LEVELS - 1), 0.0)
        expected = np.where(kept, self._expected.all()[row, cell].astype(np.float64), 0.0)
        return changes * units[:, CHANGES_SCALE : CHANGES_SCALE + 1], expected * units[:, EXPECTED_SCALE, None]

    def _follow(self, rings: Ints) -> None:
        """Have rings get the bins that all are to have; those that were never used hold nothing."""
        heads = self._heads.all()
        used = rings[heads[rings] >= 0]
        for first in range(0, len(used), AT_ONCE):
            some = used[first : first + AT_ONCE]
            for _ in range(abs(self._doublings)):
                before, columns = heads[some], self.bins(some)
                after = before >> 1 if self._doublings > 0 else 2 * before + 1
                parts = _pairs if self._doublings > 0 else _halves
                self._write(
                    some, after, [_filled(column, kind, before, after, parts) for kind, column in enumerate(columns)]
                )
                heads[some] = after
        self.note(used)
        self._versions.all()[used] += np.uint32(1)

    def _write(self, some: Ints, heads: Ints, columns: list[Floats]) -> None:
        """Write what rings hold bin by bin into their cells, in units as fine as they may be."""
        level, cell = _cells(heads[:, None] - np.arange(_REACH), heads[:, None])
        row, kept = np.arange(len(heads))[:, None], level < LEVELS
        for which, (rows, column) in enumerate(zip((self._changes, self._expected), columns, strict=True)):
            sums = np.zeros((len(heads), CELLS))
            share = 1.0 if which == CHANGES_SCALE else 0.5 ** np.minimum(level, LEVELS - 1)
            np.add.at(sums, (np.broadcast_to(row, cell.shape)[kept], cell[kept]), (column * share)[kept])
            most = sums.max(axis=1)
            unit = np.maximum(most / (MOST_CODE // 2), 1e-18).astype(np.float32) * (most > 0)
            rows.all()[some] = np.rint(sums / np.where(unit > 0, unit, 1.0)[:, None])
            self._units.all()[some, which] = unit


def _cells(k: Ints, head: Ints) -> tuple[Ints, Ints]:
    """Return in which level and cell bins lie, `LEVELS` and 0 where in none; as the kernels have it."""
    level, cell, oldest = np.full(k.shape, LEVELS), np.zeros(k.shape, np.int64), (head - 30) & ~1
    for number, slack in enumerate((29, 57, 128, 0)):
        inside = (level == LEVELS) & (k >= oldest) & (k <= head)
        half = FINEST // 2
        level[inside] = number
        cell[inside] = (k & (FINEST - 1) if number == 0 else half + half * number + ((k >> number) & (half - 1)))[
            inside
        ]
        oldest = (oldest - slack) & ~((4 << number) - 1) if number < LEVELS - 2 else oldest - slack
    return level, cell


def _filled(
    column: Floats, kind: int, heads: Ints, after: Ints, parts: Callable[[Ints], tuple[Ints, Ints, float]]
) -> NDArray[Any]:
    """Return what each new bin holds, the newest first: changes are added up, and who was watched is the mean."""
    heads, row = heads[:, None], np.arange(len(heads))[:, None]
    one, other, share = parts(after[:, None] - np.arange(_REACH))
    both = [
        np.where((k <= heads) & (k > heads - _REACH) & (k >= 0), column[row, np.clip(heads - k, 0, _REACH - 1)], 0.0)
        for k in (one, other)
    ]
    return (share if kind == CHANGES_SCALE else 0.5) * (both[0] + both[1])


def _pairs(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return which two bins make each that is twice as wide, and which part of their changes that gets."""
    return 2 * bins, 2 * bins + 1, 1.0


def _halves(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return which bin holds each that is half as wide, twice, and which part of its changes, so counted, that gets."""
    return bins >> 1, bins >> 1, 0.25
