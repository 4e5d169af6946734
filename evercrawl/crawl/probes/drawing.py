"""Copies drawn by lot, among all that a crawl holds, spread evenly over them.

Where in the order of first visits a copy is taken from follows a Weyl sequence: a random place, and then each time a
golden part of the whole further on; what is no copy is passed over. So all copies are drawn equally often in the long
run, and those drawn one after the other lie apart: they are of different sites, read at different times, and no page is
drawn again before most others had their turn. A sample drawn so varies less than one of which each draw is by itself,
and hardly ever more.

References
----------
Weyl (1916). Ueber die Gleichverteilung von Zahlen mod. Eins. Cochran (1977). Sampling Techniques, chapter 8: what is
gained by drawing evenly from an order in which neighbours are alike.
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
PIECE: Final = 1024  # records of which the importance is added up at a time: 0.2 ms
TRIES: Final = 64  # records looked at for one that has a copy


class Drawing:
    """Draws copies, each as likely as the other, or as likely as it is important.

    Parameters
    ----------
    state
        Has the records.
    columns
        Slots -> `Pages`, whose importance counts.
    random
        Draws where to begin.

    Notes
    -----
    The sums of importance are made anew piece by piece, one or two at every draw, so that of a piece may be as many
    draws old as there are pieces. Inside of a piece importance is what it is now.
    """

    def __init__(self, state: State, columns: Callable[[Slots], Pages], random: Random) -> None:
        self._state, self._columns = state, columns
        self._place, self._weighed = random.random(), random.random()  # of the last draws, in parts of the whole
        self._sums: Floats = np.zeros(0)
        self._next = 0  # the piece to be added up
        self._added_up = 0  # records there were then

    def any_copy(self) -> int | None:
        """Return the slot of a copy, each being as likely; None where hardly any page has one."""
        count = self._state.records.count
        for _ in range(TRIES if count else 0):
            self._place = (self._place + GOLDEN) % 1.0
            index = int(self._place * count)
            if self._held(slice(index, index + 1))[0]:
                return int(self._state.records.rows["slot"][index])
        return None

    def important_copy(self) -> int | None:
        """Return the slot of a copy, by importance; None where none has any."""
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
        """Add up pieces with new records, and the next of the others; return their weights."""
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
        """Return the importance of the copies in a piece, by place; 0 for what is no copy or leads to another page."""
        part = slice(piece * PIECE, min((piece + 1) * PIECE, self._state.records.count))
        rows: NDArray[Any] = self._state.records.rows[part]
        importance = self._columns(np.ascontiguousarray(rows["slot"])).importance
        return np.where(self._held(part) & (rows["alias"] == NO_SLOT), np.maximum(importance, 0.0), 0.0)

    def _held(self, part: slice) -> NDArray[np.bool_]:
        """Return which pages of some records have a copy; what a broken disk lost has none."""
        rows: NDArray[Any] = self._state.records.rows[part]
        indices: Slots = self._state.table.record.take(rows["slot"])
        present: NDArray[np.bool_] = indices == np.arange(part.start, part.stop, dtype=np.uint32)
        held: NDArray[np.bool_] = (rows["digest"] != 0) & ~np.isin(rows["outcome"], NO_COPY)
        return present & held


def _pick(weights: Floats, part: float) -> tuple[int | None, float]:
    """Return which of some weights, laid end to end, lies at a part of the whole, and which part of it that is.

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
