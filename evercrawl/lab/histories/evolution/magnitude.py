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
        Median number of the 64 bits of the words' similarity hash that changed.
    new
        Mean share of new words, estimated from these bits.
    words_kept
        Share of the changes that keep the words (0 bits): changes of markup, or of too few words for the hash.
    slight
        Share of the changes of at most `SLIGHT` bits, including those of 0 bits.
    returned
        Share of the changes that bring the page back to any earlier state.
    """

    bits: float
    new: float
    words_kept: float
    slight: float
    returned: float


def much(changes: RecordedChanges) -> Much:
    """Return statistics of the extent of changes.

    All earlier states of a page are taken into account.
    """
    bits = changes.bits
    if not len(bits):
        return Much(*(math.nan,) * len(Much._fields))
    shares = (float(of.mean()) for of in (bits == 0, bits <= SLIGHT, changes.returned))
    return Much(float(np.median(bits)), float(changes.new.mean()), *shares)


def spread(changes: RecordedChanges) -> NDArray[np.int64]:
    """Return the number of changes by the number of changed bits, shape (65,)."""
    return np.bincount(changes.bits, minlength=65).astype(np.int64)
