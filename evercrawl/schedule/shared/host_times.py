"""Utilisation of hosts, and the duration of visits to them, measured by the visits made."""

from __future__ import annotations

from struct import Struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.saved import SavedRows
from evercrawl.types import Floats, Ints, Slots

_STEP: Final = 0.1  # learning rate per visit
_SLOW: Final = 4.0  # pages that take more than this multiple of the usual time are remembered
_SLOW_S: Final = 0.5  # if they also take longer than this
_MOST_SLOW: Final = 1 << 16  # maximum number of remembered pages
_HOST: Final = np.dtype([("ended_at", "<f8"), ("usual_s", "<f4"), ("busy", "<f4"), ("visits", "<u4")])
_CELLS: Final = Struct("=dffI")  # the same layout for a single row; ten times faster than access by field name
_SLOW_PAGE: Final = np.dtype([("slot", "<u4"), ("took_s", "<f4")])


class HostTimes:
    """Visits, utilisation and usual visit duration of each host, and the pages that take longer.

    A host is busy if the pause from the end of its rest to the next visit is no longer than a usual visit and a rest.

    Examples
    --------
    A host that is visited without a pause, with one slow page:

    >>> times = HostTimes()
    >>> for at, slot, took_s in ((0.0, 1, 0.1), (0.2, 2, 0.1), (0.4, 3, 8.0)):
    ...     times.visited(0, slot, at, took_s, rest_s=0.1)
    >>> busy, ratio = times.of(np.array([0, 0]), np.array([2, 3]), rest_s=0.1)
    >>> busy.round(2).tolist(), ratio.round(1).tolist()
    ([0.19, 0.19], [1.0, 40.5])
    """

    def __init__(self) -> None:
        self._hosts = SavedRows(_HOST)
        self._slow: dict[int, float] = {}

    def visited(self, host: int, slot: int, at: float, took_s: float, rest_s: float) -> None:
        """Record a visit: its start, its duration, and the rest of the host after each visit."""
        cells, place = self._hosts.upto(host + 1).data, host * _CELLS.size
        self._hosts.changed.note(host)
        ended_at, usual_s, busy, visits = _CELLS.unpack_from(cells, place)
        if visits:
            busy += _STEP * ((at - ended_at <= 2.0 * rest_s + usual_s) - busy)
            step = max(_STEP, 1.0 / (visits + 1.0))
            if took_s > _SLOW * usual_s and took_s > _SLOW_S and len(self._slow) < _MOST_SLOW:
                self._slow[slot] = took_s
            else:
                self._slow.pop(slot, None)
                usual_s += step * (took_s - usual_s)
        else:
            usual_s = took_s
        _CELLS.pack_into(cells, place, max(at + took_s, ended_at), usual_s, busy, min(visits + 1, 0xFFFFFFFF))

    def visits(self, host: int) -> int:
        """Return the number of visits of a host."""
        return int(self._hosts.upto(0)["visits"][host]) if host < len(self._hosts) else 0

    def visits_of(self, hosts: NDArray[np.integer]) -> Ints:
        """Return the numbers of visits of hosts, shape (n,)."""
        return self._hosts.take(hosts.astype(np.uint32))["visits"].astype(np.int64)

    def of(self, hosts: Slots, slots: Slots, rest_s: float) -> tuple[Floats, Floats]:
        """Return the utilisation of pages' hosts, and the ratio of a visit's duration to the usual one, shape (n,).

        Both include the rest of a host after a visit.
        """
        rows = self._hosts.take(hosts)
        usual_s = rows["usual_s"].astype(np.float64)
        took_s = usual_s.copy()
        if self._slow:
            for i, slot in enumerate(slots.tolist()):
                if slot in self._slow:
                    took_s[i] = self._slow[slot]
        whole = usual_s + rest_s
        ratio = np.divide(took_s + rest_s, whole, out=np.ones(len(slots)), where=whole > 0)
        return rows["busy"].astype(np.float64), ratio

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the whole state, as arrays that can be stored on disk."""
        return {name: rows.upto(0).copy() for name, rows in self.saved_rows().items()} | self.rest()

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return the part of the state that is saved block by block."""
        return {"hosts": self._hosts}

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return the rest of the state; `resume` takes it."""
        slow = np.zeros(len(self._slow), _SLOW_PAGE)
        slow["slot"] = np.fromiter(self._slow, np.uint32, len(slow))
        slow["took_s"] = np.fromiter(self._slow.values(), np.float32, len(slow))
        return {"slow": slow}

    def resume(self, rest: dict[str, NDArray[Any]]) -> None:
        """Resume from `rest`, after the saved rows have been restored.

        Raises
        ------
        ValueError, KeyError
            The state is of another kind; nothing was restored.
        """
        slow = rest["slow"]
        if slow.dtype != _SLOW_PAGE:
            raise ValueError("the state does not hold the slow pages of hosts")
        self._slow = dict(zip(slow["slot"].tolist(), slow["took_s"].tolist(), strict=True))

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Resume from the result of `state`.

        Raises
        ------
        ValueError, KeyError
            The state is not valid; nothing was restored.
        """
        hosts = state["hosts"]
        if hosts.dtype != _HOST:
            raise ValueError("the state does not hold the times of hosts")
        self.resume(state)
        self._hosts.restore(hosts)

    def size_bytes(self) -> int:
        """Return the memory use in bytes."""
        return len(self._hosts) * _HOST.itemsize + 100 * len(self._slow)
