"""The clocks of folders and sites: rings of bins, which grow in number, and are made wider and narrower."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.clocks._layout import BINS
from evercrawl.types import Ints

_CHUNK: Final = 1024  # rings that are made wider or narrower at once


class ClockRings:
    """Rings of 256 bins, 3,096 bytes each; `_clock_rings` tells what lies in them. Ring 0 is nobody's.

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
        self._heads, self._done, self._at = Rows("i8"), Rows("i8"), Rows("f8")
        self._changes, self._expected, self._clock = (Rows((np.float32, BINS)) for _ in range(3))
        self.more(1)

    def __len__(self) -> int:
        """Return how many rings there are, ring 0 included."""
        return len(self._heads)

    def more(self, count: int) -> Ints:
        """Return the numbers of so many new rings."""
        first = len(self)
        for column in self.tables().values():
            column.upto(first + count)
        for column in (self._heads, self._done):
            column.all()[first:] = -1
        return np.arange(first, first + count)

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

    def tables(self) -> dict[str, Rows]:
        """Return all there is to them, by name, as kernels know them."""
        return {
            "heads": self._heads, "done": self._done, "at": self._at,
            "changes": self._changes, "expected": self._expected, "clock": self._clock,
        }  # fmt: skip

    def _rebin(self, moved: Callable[[Ints], Ints], parts: Callable[[Ints], tuple[Ints, Ints, float]]) -> None:
        """Make new bins, each of two old ones, or of the half of one."""
        heads = self._heads.all()
        for first in range(0, len(heads), _CHUNK):
            some = slice(first, first + _CHUNK)
            _fill(self._changes.all()[some], self._expected.all()[some], heads[some], moved(heads[some]), parts)
        heads[:] = moved(heads)
        self._done.all()[:] = -1


def _fill(
    changes: NDArray[Any],
    expected: NDArray[Any],
    heads: Ints,
    after: Ints,
    parts: Callable[[Ints], tuple[Ints, Ints, float]],
) -> None:
    """Write what each new bin holds: changes are added up, and who was watched is the mean."""
    heads, row = heads[:, None], np.arange(len(heads))[:, None]
    bins = after[:, None] - np.arange(BINS)
    one, other, share = parts(bins)
    for column, times in ((changes, share), (expected, 0.5)):
        both = [
            np.where((k <= heads) & (k > heads - BINS) & (k >= 0), column[row, k % BINS], 0.0) for k in (one, other)
        ]
        column[row, bins % BINS] = times * (both[0] + both[1])


def _pairs(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return which two bins make each that is twice as wide, and which part of their changes that gets."""
    return 2 * bins, 2 * bins + 1, 1.0


def _halves(bins: Ints) -> tuple[Ints, Ints, float]:
    """Return which bin holds each that is half as wide, twice, and which part of its changes, so counted, that gets."""
    return bins >> 1, bins >> 1, 0.25
