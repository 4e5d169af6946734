"""The queues of pages of all hosts, and the orders of the hosts, in memory that kernels work on.

A host's pages are *new* (never fetched, or to be fetched again), *asleep* (visited, and not to be visited again before
an instant) or *awake* (visited, and free to be visited again). Awake pages are ordered by due time. The best quarter of
the new pages is in a short list ordered by value, the others are in a bag. Both are ranked again when the list is
exhausted, when the host has grown to several times its size, and in a rotation over all hosts, at a rate of one page
per chosen page. If a policy wants new pages in the order of discovery, nothing is ranked.

Each host has a price of its own, at which its pages fall due. It lies between the value of the visit chosen and that of
the best one that had to wait, as close to the crawl's price as possible. For a host that allows all visits worth the
crawl's price, the two prices are equal. If a host allows fewer, its price rises, so that there too only few pages are
overdue, and the best of them is found. If a host has no visit worth the crawl's price, its price falls.

A host that is *out* (chosen, busy, held) offers nothing. Any other host is considered when its rest ends; from then on
it is in two orders of rested hosts, by its first due page and by its best new page, until it is chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve_together, too_many
from evercrawl.errors import CeilingError
from evercrawl.kernels import Library, pointer
from evercrawl.schedule.frontier._layout import (
    ADDED,
    CONTROL,
    DUES,
    ENTRY,
    HOSTS,
    LOT,
    MEMORY,
    MOST_HOSTS,
    MOST_ROWS,
    NEWS,
    PLACES,
    RANKED,
    RESTING,
    SHORT,
    TABLED,
    TOP,
    WORDS_OF_TABLES,
)  # fmt: skip
from evercrawl.types import Floats, Ints, Slots

if TYPE_CHECKING:
    from array import array


_KERNELS: Final = Library("evercrawl.schedule.frontier._entries")
_STALE: Final = 16  # minimum number of pages taken from a host before its others are ranked again
_WIDE_LEAST: Final = 16  # minimum number of rested hosts of each order that are compared
_WIDE_MOST: Final = 512
_OWED_AT_ONCE: Final = 1 << 14
_FULL: Final = 0.75  # usable fraction of the address space, because the next call may need much at once
_POOL: Final = 3  # approximate number of rows compared per page to choose


class HostQueues:
    """The waiting pages by host, and the orders of the hosts.

    Parameters
    ----------
    in_order
        Whether new pages are offered in the order of discovery, and visited ones strictly by due time, without
        comparing values.
    reviews
        Number of pages reviewed per chosen page.
    capacity
        Capacity in hosts, and in eighths of visited pages; memory is used as needed.

    Attributes
    ----------
    everyone
        Whether all rested hosts with pages that may be visited take part in the last choice; pages that awoke in it
        may not.
    """

    def __init__(self, *, in_order: bool = False, reviews: int = 1, capacity: int = 1 << 27) -> None:
        self._in_order, self._reviews = int(in_order), reviews
        self.everyone, self._woken = False, 0
        kinds = LOT, (ENTRY, 3), (ENTRY, PLACES), (np.uint32, WORDS_OF_TABLES)
        columns = reserve_together(kinds, capacity, large_pages=True)
        self._lots, self._lines, self._entries, self._tables = (column.reshape(-1) for column in columns)
        self._size = len(self._lots)
        self._again = 0  # number of pages to review: proportional to the pages chosen last, plus part of a new plan
        self._owed = 0
        self._control: Ints = np.zeros(CONTROL, np.int64)
        self._slots, self._of, self._places = (np.zeros(MOST_ROWS, np.uint32) for _ in range(3))
        self._kinds = np.zeros(MOST_ROWS, np.uint8)
        self._hosts, self._best = np.zeros(MOST_HOSTS, np.uint32), np.zeros(MOST_HOSTS)
        self._row, self._counts = np.zeros(MOST_HOSTS, np.int64), np.zeros(4, np.int64)
        self._lined: Ints = np.zeros((4, MOST_HOSTS), np.int64)  # hosts ordered by their best values
        self._keys, self._spots = np.zeros(MOST_HOSTS), np.zeros(MOST_HOSTS, np.uint32)
        self._next, self._dear = np.zeros(MOST_HOSTS), np.zeros(MOST_ROWS)
        arrays = (
            self._lots, self._lines, self._entries, self._tables, self._control, self._slots, self._of, self._places,
            self._kinds, self._hosts, self._best, self._row, self._counts, self._keys, self._spots,
            self._lined, self._next, self._dear,
        )  # fmt: skip
        self._addresses: Ints = np.array([*(array.ctypes.data for array in arrays), self._size], np.int64)
        assert len(self._addresses) == MEMORY, "the layout is that of the kernels"
        self._memory = self._addresses.ctypes.data  # an integer address, which is faster to pass than a pointer

    def add_hosts(self, count: int = 1) -> None:
        """Make room for the hosts with the next numbers; they are ready.

        Raises
        ------
        CeilingError
            There are as many as address space was reserved for.
        """
        if self._control[HOSTS] + count >= self._size:
            raise CeilingError(too_many("hosts", self._size - 1))
        self._control[HOSTS] += count

    def rest(self, hosts: array[int] | Slots, until: array[float] | Floats) -> None:
        """Let hosts offer their pages (again) from the given instants on."""
        _KERNELS["rest"](self._memory, pointer(hosts), pointer(until), len(hosts))

    def sleep(self, hosts: array[int] | Slots, slots: array[int] | Slots, until: array[float] | Floats) -> None:
        """Add visited pages that are not to be visited before the given instants."""
        _KERNELS["sleep"](self._memory, pointer(hosts), pointer(slots), pointer(until), len(hosts))
        self._check()

    def append(self, hosts: array[int] | Slots, slots: array[int] | Slots) -> None:
        """Append new pages to the queues of their hosts without valuing them."""
        _KERNELS["append"](self._memory, pointer(hosts), pointer(slots), len(hosts))
        self._check()

    def put_back(self, host: int, slot: int, *, new: bool) -> None:
        """Put a page at the front of its host's queue."""
        _KERNELS["put_back"](self._memory, host, slot, int(new))

    def take(self, host: int) -> tuple[int, bool] | None:
        """Take a host's first page, and whether it is new; new pages come first. None if no page waits."""
        answer = _KERNELS["take"](self._memory, host)
        return (answer >> 1, bool(answer & 1)) if answer >= 0 else None

    def remove(self, host: int, slot: int) -> bool:
        """Take a visited page of a host out of order; return whether it waited there. Takes linear time."""
        return bool(_KERNELS["remove_page"](self._memory, host, slot))

    def drop(
        self, first: int, last: int, unwanted: NDArray[np.uint8], dropped: NDArray[np.uint8], most: int
    ) -> tuple[int, int]:
        """Remove the pages of hosts from `first` to before `last` whose bits are set in `unwanted`.

        Their bits are set in `dropped`. In each bag up to `most` pages are examined; the next call examines those after
        them.

        Returns
        -------
        tuple
            Number of new pages removed, and number of visited pages removed.
        """
        gone: Ints = np.zeros(2, np.int64)
        _KERNELS["drop"](
            self._memory, first, last, pointer(unwanted), pointer(dropped), len(unwanted), most, pointer(gone)
        )
        return int(gone[0]), int(gone[1])

    def take_new(self, host: int, wanted: NDArray[np.uint8]) -> list[int]:
        """Take the new pages of a host whose bits are set in `wanted`; return their slots in ascending order.

        The time it takes is linear in the new pages of the host.
        """
        taken: Slots = np.zeros(self.new(host), np.uint32)
        count = _KERNELS["take_new"](self._memory, host, pointer(wanted), len(wanted), pointer(taken), len(taken))
        return sorted(taken[:count].tolist())

    def next_at(self, rested_at: float = 0.0) -> float:
        """Return when the next host becomes ready: `rested_at` if one is ready already; infinity if there is none."""
        resting_until = float(self._lines["key"][0]) if self._control[RESTING] else float("inf")
        return min(rested_at, resting_until) if self._control[DUES] or self._control[NEWS] else resting_until

    def due_at(self) -> float:
        """Return when the first page of ready hosts falls due; 0 (unknown) if one of them has new pages."""
        if self._control[NEWS]:
            return 0.0
        return float(self._lines["key"][self._size]) if self._control[DUES] else float("inf")

    def first_due(self) -> tuple[int, float] | None:
        """Return the first page to fall due and its due time, without examining all hosts.

        It is the page of the first host in the order of ready hosts, or else in that of resting hosts; None if new
        pages wait, or if nothing falls due.
        """
        rested, resting = (bool(self._control[order]) for order in (DUES, RESTING))
        if self._control[NEWS] or not (rested or resting):
            return None
        line = self._lines[self._size if rested else 0]
        lot = self._lots[int(line["slot"])]
        tops = [
            self._entries[4 * int(lot[f"{heap}_block"]) + 1]
            for heap in ("awake", "asleep")
            if lot[heap] and not lot["short"]
        ]
        if not tops:
            return None
        top = min(tops, key=lambda entry: float(entry["key"]))
        return int(top["slot"]), max(float(top["key"]), float(line["key"]))

    def near(self, until: float, most: int) -> list[int]:
        """Return hosts that are considered next: up to `most` that rest until `until` at the latest.

        Also return as many ready hosts with the best new pages, and as many with the first due pages.
        """
        found = np.zeros(3 * most, np.uint32)
        count = _KERNELS["near"](self._memory, until, most, pointer(found))
        return list(dict.fromkeys(found[:count].tolist()))

    def waiting(self, first: int = 0, last: int | None = None) -> tuple[Ints, Ints]:
        """Return the numbers of new and of visited pages that wait on each host from `first` to before `last`."""
        lots = self._lots[first : self._control[HOSTS] if last is None else last]
        new, seen = (lots[heap].astype(np.int64) + lots[rest] for heap, rest in (("short", "bag"), ("awake", "asleep")))
        return new, seen

    def new(self, host: int) -> int:
        """Return the number of new pages of a host that wait."""
        lot = self._lots[host]
        return int(lot["short"]) + int(lot["bag"])

    def seen(self, host: int) -> int:
        """Return the number of visited pages of a host that wait."""
        lot = self._lots[host]
        return int(lot["awake"]) + int(lot["asleep"])

    def size_bytes(self) -> int:
        """Return the memory use for pages and hosts in bytes."""
        fours, tabled, hosts = (int(self._control[i]) for i in (TOP, TABLED, HOSTS))
        pages = fours * 4 * ENTRY.itemsize + tabled * self._tables.itemsize
        return pages + hosts * (LOT.itemsize + 3 * ENTRY.itemsize)

    def collect(
        self, now: float, most: int, hosts: array[int], added: array[int], *, several: bool = False
    ) -> tuple[Slots, int, int, Floats]:
        """Begin a choice of up to `most` pages at `now`; the new pages `added` to `hosts` take part.

        If `several` pages of a host may be chosen, each host offers more of them.

        Returns
        -------
        tuple
            The slots of all rows; the number of rows, from the first on, to value; the first of the rows, up to the
            last, whose due times are needed; and for each row the relative price of visits to its host.
        """
        wide, at_once = min(max(3 * most // 4, _WIDE_LEAST), _WIDE_MOST), min(max(2 * most, 64), MOST_HOSTS // 4)
        n = _KERNELS["collect"](
            self._memory, now, at_once, wide, _POOL * most,
            self._again, self._in_order, int(several), pointer(hosts), pointer(added), len(added),
        )  # fmt: skip
        _, valued, woken, arrived = self._counts.tolist()
        self._woken = woken
        self.everyone = bool(arrived < at_once and max(self._control[DUES], self._control[NEWS]) <= wide)
        return self._slots[:n], valued, valued - woken, self._dear[:n]

    def hosts_of(self, rows: int) -> Slots:
        """Return the hosts of the first rows of the last choice, shape (rows,)."""
        return self._of[:rows]

    def look_again(self, pages: int) -> None:
        """Review this many pages in the next choices, some thousands in each."""
        self._owed = 2 * pages  # every second one is a visited page
        self._again += min(self._owed, _OWED_AT_ONCE)

    def rank_again(self, hosts: Collection[int]) -> None:
        """Value all new pages of hosts again when the hosts are next considered."""
        lots = self._lots[list(hosts)]
        lots["taken"] = np.maximum(lots["short"].astype(np.int64) + lots["bag"], _STALE)
        self._lots[list(hosts)] = lots

    @property
    def owing(self) -> bool:
        """Whether there are pages left to review."""
        return self._owed > 0

    @property
    def arrived(self) -> bool:
        """Whether a host became ready, or pages awoke, in the last choice."""
        return bool(self._counts[3])

    def roused(self, values: Floats, least: float) -> bool:
        """Whether a page that awoke in the last choice has a value of at least `least`, given all rows' values."""
        return bool(self._woken and (values[-self._woken :] >= least).any())

    def best(self, values: Floats, least: float, *, several: bool = False) -> Iterator[tuple[int, int, int, int]]:
        """Yield the hosts that take part, from the best value down to `least`: number, best row, its slot, 1 if new.

        If `several` pages of a host may be chosen, the host is yielded once for each of them.
        """
        n = _KERNELS["rank"](self._memory, pointer(values), len(values), least, int(several))
        return zip(*self._lined[:, :n].tolist(), strict=True)

    def settle(
        self, values: Floats, keys: Floats, chosen: array[int], busy: array[int], out: array[int], price: float
    ) -> None:
        """End a choice: take the chosen rows, their hosts and those in `out`; put all other rows in their places.

        The prices of the hosts are updated by what was chosen, relative to `price`, the crawl's (nan if there is none).
        `busy` is 1 for chosen rows whose hosts get about as many visits as they allow, else 0.
        """
        _KERNELS["settle"](
            self._memory, pointer(values), len(values), pointer(keys), len(keys), pointer(chosen), pointer(busy),
            len(chosen), pointer(out), len(out), price, self._in_order,
        )  # fmt: skip
        self._owed = max(self._owed - _OWED_AT_ONCE, 0)
        self._again = self._reviews * len(chosen) + min(self._owed, _OWED_AT_ONCE)
        self._check()

    def _check(self) -> None:
        parts = 4 * self._control[TOP] / len(self._entries), self._control[TABLED] / len(self._tables)
        if max(parts) >= _FULL:
            raise CeilingError(too_many("queued pages", int(self._control[TOP]) * 4))


assert (ADDED, RANKED) == (SHORT + 1, SHORT + 2), "the kinds of new pages have consecutive numbers"
