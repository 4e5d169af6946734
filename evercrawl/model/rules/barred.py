"""Known pages that the scope's rules keep out: two bits per page, judged in batches."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve
from evercrawl.model.rules.scope import Scope
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Slots

JUDGED: Final = 1 << 10
"""Pages that are judged by their text at a time: two or three milliseconds."""
_BY_HOST: Final = 1 << 16  # by host and depth alone: one millisecond


class Barred:
    """Pages that must not be requested, and those of them that were removed from the queues.

    Parameters
    ----------
    state, scope
        The known pages, and the scope.

    Attributes
    ----------
    bits, dropped
        One bit per page each, by slot, low bits of a byte first: whether the rules keep it out, as far as judged; and
        whether it was removed from the queues for that.
    count
        Number of pages kept out, as far as judged.
    """

    def __init__(self, state: State, scope: Scope) -> None:
        self._state, self._scope = state, scope
        size = (len(state.table.cash) + 7) // 8
        self.bits: NDArray[np.uint8] = reserve(np.uint8, size)
        self.dropped: NDArray[np.uint8] = reserve(np.uint8, size)
        self.count = 0

    def judge(self, start: int) -> int:
        """Judge pages from slot `start` on, a multiple of eight; return the slot after the last one judged."""
        stop = min(start + (JUDGED if self._scope.by_text else _BY_HOST), self._state.known.count)
        out = self._judged(start, stop)
        part = self.bits[start // 8 : (stop + 7) // 8]
        self.count += int(np.count_nonzero(out)) - int(np.bitwise_count(part).sum())
        part[:] = np.packbits(out, bitorder="little")
        return stop

    def drop(self, slot: int) -> None:
        """Record that a page's turn came and it was kept out."""
        bit = np.uint8(1 << (slot & 7))
        if not self.bits[slot >> 3] & bit:
            self.bits[slot >> 3] |= bit
            self.count += 1
        self.dropped[slot >> 3] |= bit

    def lifted(self, start: int, most: int) -> tuple[Slots, int]:
        """Return up to about `most` pages from slot `start` on that are let in again, and the slot to resume at.

        From then on they count as queued again.
        """
        stop = min(start + most, self._state.known.count)
        part = slice(start // 8, (stop + 7) // 8)
        free = self.dropped[part] & ~self.bits[part]
        self.dropped[part] &= ~free
        slots: Slots = (np.flatnonzero(np.unpackbits(free, bitorder="little")) + start).astype(np.uint32)
        return slots, stop

    def rule(self, slot: int, url: str) -> str:
        """Return the rule that keeps a page out now; "" if none does."""
        if not self._scope.by_depth:
            rule = self._scope.keeps_out(url, 0, seed=False)
            if not rule or not self._scope.by_page:  # seeds are exempt from some rules only
                return rule
        row = self._state.known.row(slot)
        depth = int(row["depth"])
        return self._scope.keeps_out(url, depth, seed=not depth and int(row["source"]) == NO_SLOT)

    def _judged(self, start: int, stop: int) -> NDArray[np.bool_]:
        rows, scope = self._state.known.rows(start, stop), self._scope
        out: NDArray[np.bool_] = np.zeros(stop - start, np.bool_)
        if scope.most_depth:
            out |= rows["depth"] > scope.most_depth
        numbers: list[int] = np.unique(rows["host"]).tolist()
        strange = [number for number in numbers if not scope.holds(self._state.hosts[number])]
        if strange:
            out |= np.isin(rows["host"], strange)
        if scope.by_text:
            left = np.flatnonzero(~out)
            seeds = (rows["depth"] == 0) & (rows["source"] == NO_SLOT)
            for place, url in zip(left.tolist(), self._state.urls.get_many(left + start), strict=True):
                depth = int(rows["depth"][place])
                out[place] = bool(scope.keeps_out(url, depth, seed=bool(seeds[place])))
        return out
