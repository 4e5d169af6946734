"""The clocks of folders and sites: a growing number of rings of cells with adjustable bin widths."""

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
"""Number of rings converted at a time to another bin width: some ten milliseconds."""
_REACH: Final = 256  # maximum number of bins


class ClockRings:
    """Rings of 80 cells, 344 bytes each; `_rings` documents their contents. Ring 0 belongs to no owner.

    If there are many, they are converted to another bin width in steps: `go_on` converts some of them, and callers
    convert the rings that they are about to use first (`settle`).

    Parameters
    ----------
    width_s
        Width of a bin, in seconds.

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
        self._ahead: NDArray[np.bool_] = np.zeros(0, np.bool_)  # rings that were converted before their turn
        self.more(1)

    def __len__(self) -> int:
        """Return the number of rings, including ring 0."""
        return len(self._heads)

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        each = (*self.tables().values(), self._versions, self._tags, self._times, self._clock)
        return sum(rows.nbytes for rows in each)

    def more(self, count: int) -> Ints:
        """Return the numbers of new rings."""
        first = len(self)
        for column in (*self.tables().values(), self._versions):
            column.upto(first + count)
        self._heads.all()[first:] = -1
        self.note(np.arange(first, first + count))
        return np.arange(first, first + count)

    def note(self, rings: Ints) -> None:
        """Record that rings were written to."""
        for table in self.tables().values():
            table.note(rings)

    def fit(self, width_s: float) -> bool:
        """Double or halve the width of bins until it is within a factor of two of the given one.

        Returns whether the width was changed; it is not as long as some rings still have an earlier width.
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
        """Whether some rings still have the previous width."""
        return self._swept < self._until

    def go_on(self) -> None:
        """Convert the next rings."""
        if self.stale:
            first, self._swept = self._swept, min(self._swept + AT_ONCE, self._until)
            self._follow(first + np.flatnonzero(~self._ahead[first : self._swept]))

    def settle(self, rings: Ints) -> None:
        """Convert rings that are about to be used."""
        some = np.unique(rings)
        some = some[(some >= self._swept) & (some < self._until)]
        some = some[~self._ahead[some]]
        if len(some):
            self._ahead[some] = True
            self._follow(some)

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return which rings still have to be converted; `resume` takes it."""
        if not self.stale:
            return {}
        ahead = np.flatnonzero(self._ahead[self._swept :]) + self._swept
        return {"following": np.array([self._swept, self._until, self._doublings, *ahead.tolist()], np.int64)}

    def resume(self, rest: dict[str, NDArray[Any]]) -> None:
        """Resume after the tables were restored, with the rings that still have to be converted."""
        self._versions.restore(np.zeros(len(self._heads), np.uint32))
        self._tags.all()[:] = 0
        numbers: list[int] = rest.get("following", np.zeros(3, np.int64)).tolist()
        self._swept, self._until, self._doublings = numbers[:3]
        self._ahead = np.zeros(self._until, np.bool_)
        self._ahead[numbers[3:]] = True

    def tables(self) -> dict[str, SavedRows]:
        """Return the whole state, by name."""
        return {
            "heads": self._heads, "units": self._units, "changes": self._changes, "expected": self._expected,
        }  # fmt: skip

    def in_order(self) -> tuple[Rows, ...]:
        """Return all tables in the order in which kernels expect them."""
        learned = self._heads, self._versions, self._units, self._changes, self._expected
        return (*learned, self._tags, self._times, self._clock)

    def bins(self, rings: Ints | None = None) -> tuple[Floats, Floats]:
        """Return the changes and the expected rates of rings by bin, the newest first, shape (rings, 256) each.

        The default is all rings. The contents of a cell with several bins are spread over them; bins beyond the reach
        of a ring are 0.
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
        """Convert rings to the current width; rings that were never used are empty."""
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
        """Write the contents of bins into the cells of rings, in the finest possible units."""
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
    """Return the level and cell of each bin, `LEVELS` and 0 if it is beyond reach; equals the kernels' version."""
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
    """Return the contents of each new bin, the newest first: changes are summed, and observed rates averaged."""
    heads, row = heads[:, None], np.arange(len(heads))[:, None]
    one, other, share = parts(after[:, None] - np.arange(_REACH))
    both = [
        np.where((k <= heads) & (k > heads - _REACH) & (k >= 0), column[row, np.clip(heads - k, 0, _REACH - 1)], 0.0)
        for k in (one, other)
    ]
    return (share if kind == CHANGES_SCALE else 0.5) * (both[0] + both[1])


def _pairs(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return the two bins that form each bin of twice the width, and the fraction of their changes in it."""
    return 2 * bins, 2 * bins + 1, 1.0


def _halves(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return the bin that contains each bin of half the width, twice, and the fraction of its changes in it."""
    return bins >> 1, bins >> 1, 0.25
