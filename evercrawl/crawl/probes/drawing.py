"""Samples copies at random, spread evenly over all copies of a crawl.

The positions of the samples, in the order of first visits, follow a Weyl sequence: the first is random, and each next
one lies the golden ratio of the total further on. Positions without a copy are skipped. So in the long run all copies
are sampled equally often. Consecutive samples lie far apart: they are of different sites and were read at different
times, and no page is sampled again before most others were. Such a sample has a lower variance than independent
draws, and hardly ever a higher one.

References
----------
Weyl (1916). Ueber die Gleichverteilung von Zahlen mod. Eins. Cochran (1977). Sampling Techniques, chapter 8: the gain
of systematic sampling from an order in which neighbours are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.rates import NO_COPY
from evercrawl.types import NO_SLOT, Floats, Slots

if TYPE_CHECKING:
    from random import Random

    from evercrawl.schedule.pages import Pages
    from evercrawl.store.state import State

GOLDEN: Final = (5**0.5 - 1) / 2
PIECE: Final = 1024  # records whose importance is summed at a time: 0.2 ms
TRIES: Final = 64  # records tried to find one with a copy


class Drawing:
    """Samples copies, uniformly or in proportion to their importance.

    Parameters
    ----------
    state
        Has the records.
    columns
        Slots -> `Pages`, whose importance is used.
    random
        Draws the first positions.

    Notes
    -----
    The sums of importance are refreshed piece by piece, one or two at every draw. So the sum of a piece may be as
    many draws old as there are pieces. Within a piece, importance is up to date.
    """

    def __init__(self, state: State, columns: Callable[[Slots], Pages], random: Random) -> None:
        self._state, self._columns = state, columns
        self._place, self._weighed = random.random(), random.random()  # positions of the last draws, from 0 to 1
        self._sums: Floats = np.zeros(0)
        self._next = 0  # the next piece to sum
        self._added_up = 0  # the number of records at the last sum

    def any_copy(self) -> int | None:
        """Return the slot of a copy sampled uniformly; None if hardly any page has one."""
        count = self._state.records.count
        for _ in range(TRIES if count else 0):
            self._place = (self._place + GOLDEN) % 1.0
            index = int(self._place * count)
            if self._held(slice(index, index + 1))[0]:
                return int(self._state.records.rows["slot"][index])
        return None

    def important_copy(self) -> int | None:
        """Return the slot of a copy sampled by importance; None if no copy has any."""
        added = self._add_up()
        self._weighed = (self._weighed + GOLDEN) % 1.0
        piece, part = _pick(self._sums, self._weighed)
        if piece is None:
            return None
        place, _ = _pick(added[piece] if piece in added else self._weights(piece), part)
        if place is None:
            return None
        return int(self._state.records.rows["slot"][piece * PIECE + place])

    def _add_up(self) -> dict[int, Floats]:
        """Sum the pieces with new records, and the next of the others; return their weights."""
        count = self._state.records.count
        pieces = -(-count // PIECE)
        self._sums = np.append(self._sums, np.zeros(pieces - len(self._sums)))
        due = {*range(self._added_up // PIECE, pieces)} if count > self._added_up else set[int]()
        due |= {self._next % pieces} if pieces else set[int]()
        self._next, self._added_up = self._next + 1, count
        added = {piece: self._weights(piece) for piece in due}
        for piece, weights in added.items():
            self._sums[piece] = weights.sum()
        return added

    def _weights(self, piece: int) -> Floats:
        """Return the importance of the copies in a piece, by position; 0 without a copy and for aliases."""
        part = slice(piece * PIECE, min((piece + 1) * PIECE, self._state.records.count))
        rows: NDArray[Any] = self._state.records.rows[part]
        importance = self._columns(np.ascontiguousarray(rows["slot"])).importance
        return np.where(self._held(part) & (rows["alias"] == NO_SLOT), np.maximum(importance, 0.0), 0.0)

    def _held(self, part: slice) -> NDArray[np.bool_]:
        """Return which records have a copy; a record lost to a broken disk has none."""
        rows: NDArray[Any] = self._state.records.rows[part]
        indices: Slots = self._state.table.record.take(rows["slot"])
        present: NDArray[np.bool_] = indices == np.arange(part.start, part.stop, dtype=np.uint32)
        held: NDArray[np.bool_] = (rows["digest"] != 0) & ~np.isin(rows["outcome"], NO_COPY)
        return present & held


def _pick(weights: Floats, part: float) -> tuple[int | None, float]:
    """Return the weight that contains a part of the total, with all weights laid end to end, and the part within it.

    Examples
    --------
    >>> _pick(np.array([1.0, 0.0, 3.0]), 0.5)
    (2, 0.3333333333333333)
    """
    upto = np.cumsum(weights)
    if not len(upto) or not upto[-1] > 0:
        return None, 0.0
    at = part * float(upto[-1])
    place = min(int(np.searchsorted(upto, at, side="right")), int(np.flatnonzero(weights)[-1]))
    weight = float(weights[place])
    return place, (at - float(upto[place]) + weight) / weight
