"""The extent of changes."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.histories.evolution.changed import RecordedChanges

SLIGHT: Final = 3
"""Bits of the similarity hash up to which the content counts as the same."""


class Much(NamedTuple):
    """Statistics of the extent of changes; nan without any.

    Attributes
    ----------
    bits
        Bits of 64 of the words' similarity hash that became others: the median.
    new
        Which part of the words is new, as the bits tell: the mean.
    words_kept
        Share of the changes that leave the words as they were (0 bits): markup, or so few words that the hash missed
        them.
    slight
        Share of the changes of `SLIGHT` bits or fewer, those among them.
    returned
        Share of the changes that bring the page back to an earlier state, any earlier one.
    """

    bits: float
    new: float
    words_kept: float
    slight: float
    returned: float


def much(changes: RecordedChanges) -> Much:
    """Return statistics of the extent of some changes.

    The states that a page has been in are all remembered here.
    """
    bits = changes.bits
    if not len(bits):
        return Much(*(math.nan,) * len(Much._fields))
    shares = (float(of.mean()) for of in (bits == 0, bits <= SLIGHT, changes.returned))
    return Much(float(np.median(bits)), float(changes.new.mean()), *shares)


def spread(changes: RecordedChanges) -> NDArray[np.int64]:
    """Return how many changes there are of each number of bits, shape (65,)."""
    return np.bincount(changes.bits, minlength=65).astype(np.int64)
