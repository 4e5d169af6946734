"""Copies drawn by lot, among all that a crawl holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.crawl.changes import NO_COPY
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from numpy.typing import NDArray

    from evercrawl.schedule.base import Pages
    from evercrawl.store.state import State
    from evercrawl.types import Floats, Slots

PIECE: Final = 4096  # records of which the importance is added up at a time: 1 ms
AT_ONCE: Final = 4  # pieces that are added up anew for a draw
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
        Draws.

    Notes
    -----
    The sums of importance are made anew piece by piece, some at every draw, so those of a crawl of more than 16,000
    pages may be a few draws old. Inside of a piece importance is what it is now.
    """

    def __init__(self, state: State, columns: Callable[[Slots], Pages], random: Random) -> None:
        self._state, self._columns, self._random = state, columns, random
        self._sums: Floats = np.zeros(0)
        self._next = 0  # the piece to be added up

    def any_copy(self) -> int | None:
        """Return the slot of a copy, each being as likely; None where hardly any page has one."""
        count = self._state.records.count
        for _ in range(TRIES if count else 0):
            index = self._random.randrange(count)
            if self._held(slice(index, index + 1))[0]:
                return int(self._state.records.rows["slot"][index])
        return None

    def important_copy(self) -> int | None:
        """Return the slot of a copy, by importance; None where none has any."""
        self._add_up()
        piece = self._pick(self._sums)
        first = 0 if piece is None else piece * PIECE
        place = None if piece is None else self._pick(self._weights(piece))
        return None if place is None else int(self._state.records.rows["slot"][first + place])

    def _pick(self, weights: Floats) -> int | None:
        upto = np.cumsum(weights)
        if not len(upto) or not upto[-1] > 0:
            return None
        return int(np.searchsorted(upto, self._random.random() * upto[-1], side="right"))

    def _add_up(self) -> None:
        """Add up new pieces, the last one, which grows, and the next few of the others."""
        pieces, had = -(-self._state.records.count // PIECE), len(self._sums)
        self._sums = np.append(self._sums, np.zeros(pieces - had))
        due = {*range(max(had - 1, 0), pieces)} | {(self._next + i) % pieces for i in range(min(AT_ONCE, pieces))}
        self._next += AT_ONCE
        for piece in due:
            self._sums[piece] = self._weights(piece).sum()

    def _weights(self, piece: int) -> Floats:
        """Return the importance of the copies in a piece, by place; 0 for what is no copy or leads to another page."""
        part = slice(piece * PIECE, min((piece + 1) * PIECE, self._state.records.count))
        rows: NDArray[Any] = self._state.records.rows[part]
        importance = self._columns(np.ascontiguousarray(rows["slot"])).importance
        return np.where(self._held(part) & (rows["alias"] == NO_SLOT), np.maximum(importance, 0.0), 0.0)

    def _held(self, part: slice) -> NDArray[np.bool_]:
        """Return which pages of some records have a copy; what a broken disk lost has none."""
        rows: NDArray[Any] = self._state.records.rows[part]
        present = self._state.table.record[rows["slot"]] == np.arange(part.start, part.stop)
        held: NDArray[np.bool_] = present & (rows["digest"] != 0) & ~np.isin(rows["outcome"], NO_COPY)
        return held
