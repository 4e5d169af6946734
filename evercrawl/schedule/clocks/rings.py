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

_CHUNK: Final = 1024  # rings that are made wider or narrower at once
_REACH: Final = 256  # bins, at most


class ClockRings:
    """Rings of 80 cells, 344 bytes each; `_rings` tells what lies in them. Ring 0 is nobody's.

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

        Returns whether they were changed.
        """
        before = self.width_s
        while width_s >= 2 * self.width_s:
            self._rebin(lambda head: head >> 1, _pairs)
            self.width_s *= 2.0
        while width_s <= 0.5 * self.width_s:
            self._rebin(lambda head: np.where(head < 0, -1, 2 * head + 1), _halves)
            self.width_s *= 0.5
        return self.width_s != before

    def tables(self) -> dict[str, SavedRows]:
        """Return all that they have learned, by name."""
        return {
            "heads": self._heads, "units": self._units, "changes": self._changes, "expected": self._expected,
        }  # fmt: skip

    def restored(self) -> None:
        """Take note that the tables are others now."""
        self._versions.restore(np.zeros(len(self._heads), np.uint32))
        self._tags.all()[:] = 0

    def in_order(self) -> tuple[Rows, ...]:
        """Return all tables in the order in which kernels know them."""
        learned = self._heads, self._versions, self._units, self._changes, self._expected
        return (*learned, self._tags, self._times, self._clock)

    def bins(self, first: int = 0, last: int | None = None) -> tuple[Floats, Floats]:
        """Return the changes and the expected rates of rings bin by bin, the newest first, shape (rings, 256) each.

        What a cell of many bins holds is spread over them; where nothing is kept any more there is nothing.
        """
        some = slice(first, last)
        heads, units = self._heads.all()[some], self._units.all()[some].astype(np.float64)
        k = heads[:, None] - np.arange(_REACH)
        level, cell = _cells(k, heads[:, None])
        row, kept = np.arange(len(heads))[:, None], (level < LEVELS) & (heads[:, None] >= 0)
        changes = np.where(kept, self._changes.all()[some][row, cell] / 2.0 ** np.minimum(level, LEVELS - 1), 0.0)
        expected = np.where(kept, self._expected.all()[some][row, cell].astype(np.float64), 0.0)
        return changes * units[:, CHANGES_SCALE : CHANGES_SCALE + 1], expected * units[:, EXPECTED_SCALE, None]

    def _rebin(self, moved: Callable[[Ints], Ints], parts: Callable[[Ints], tuple[Ints, Ints, float]]) -> None:
        """Make new bins, each of two old ones, or of the half of one."""
        heads = self._heads.all()
        for first in range(0, len(heads), _CHUNK):
            some = slice(first, first + _CHUNK)
            columns = self.bins(first, first + _CHUNK)
            after = moved(heads[some])
            self._write(
                some, after, [_filled(*of, heads[some], after, parts) for of in zip(columns, (0, 1), strict=True)]
            )
        heads[:] = moved(heads)
        self.note(np.arange(len(heads)))
        self._versions.all()[:] += np.uint32(1)
        self._tags.all()[:] = 0

    def _write(self, some: slice, heads: Ints, columns: list[Floats]) -> None:
        """Write what rings hold bin by bin into their cells, in units as fine as they may be."""
        level, cell = _cells(heads[:, None] - np.arange(_REACH), heads[:, None])
        row, kept = np.arange(len(heads))[:, None], (level < LEVELS) & (heads[:, None] >= 0)
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
