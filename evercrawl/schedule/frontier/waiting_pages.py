"""The waiting pages: queues of new pages and of pages to refresh, by host, and the pages that came since a choice."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.frontier.held_pages import HeldPages
from evercrawl.schedule.frontier.host_queues import HostQueues
from evercrawl.schedule.frontier.host_rows import HOST
from evercrawl.schedule.frontier.hosts import AWAY_S
from evercrawl.schedule.frontier.looking_round import HostReasons, NewcomersAway
from evercrawl.schedule.frontier.politeness import PoliteHosts
from evercrawl.types import Floats, Ints, Slots

if TYPE_CHECKING:
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.schedule.pages import Pages

_VALUED_MOST: Final = 1 << 14  # maximum number of new pages valued at once on arrival; others are ranked later
_FILL: Final = 1 << 20  # number of pages whose columns are requested at once
_FREED: Final = 4
"""Least number of held pages of a host that are released together if no other new pages wait there."""


class WaitingPages(PoliteHosts):
    """The hosts with their waiting pages; pages that came since the last choice are queued in the next.

    Parameters
    ----------
    columns
        Slots -> their columns.
    visited_at
        Slot -> the instant of its last visit.
    in_order
        Whether new pages of a host are taken in the order in which they came, whatever their value.
    reviews
        Number of pages to value again for each chosen one; see `Policy.reviews`.
    refresh_after_s
        Minimum time between two visits of a page.
    delay_s, connections_per_host, connections_per_ip, ip_delay_s, names, own_delay
        As in `Frontier`.

    Attributes
    ----------
    hosts
        The hosts by number.
    held
        New pages that wait behind the others of their hosts.
    """

    def __init__(
        self,
        columns: Callable[[Slots], Pages],
        visited_at: Callable[[int], float],
        *,
        in_order: bool,
        reviews: int,
        refresh_after_s: float,
        delay_s: float,
        connections_per_host: int,
        connections_per_ip: int,
        ip_delay_s: float,
        names: Sequence[str] | None,
        own_delay: Callable[[str], float | None] | None,
    ) -> None:
        super().__init__(
            delay_s=delay_s,
            connections_per_host=connections_per_host,
            connections_per_ip=connections_per_ip,
            ip_delay_s=ip_delay_s,
            names=names,
            own_delay=own_delay,
        )
        self._columns, self._visited_at, self._refresh_after_s = columns, visited_at, refresh_after_s
        self._in_order = in_order
        self._queues = HostQueues(in_order=in_order, reviews=reviews)
        self._reasons = HostReasons(self._rows, self._queues)
        self._newcomers_away = NewcomersAway(self._rows, self._queues)
        self._chose_at = 0.0
        self._left_alone_until = 0.0  # the policy excludes all pages until this instant
        self._freed = max(_FREED, 2 * connections_per_host)
        self._new_hosts, self._new = array("I"), array("I")  # arrivals since the last choice: new and visited pages
        self._newly, self._newly_up_to = set[int](), 0  # the hosts of the first so many new arrivals
        self._seen_hosts, self._seen, self._seen_until = array("I"), array("I"), array("d")
        self._queued_new, self._queued_seen = 0, 0  # number of pages in the queues
        self.held = HeldPages()

    def add_hosts(self, names: Sequence[str], pages: Ints | None = None) -> None:
        """Add hosts with the next numbers, with their numbers of known pages."""
        self._queues.add_hosts(len(names))
        super().add_hosts(names, pages)

    def note_seeds(self, numbers: Iterable[int]) -> None:
        """Note that seeds name these hosts: at an address that others wait for, they are known from the start."""
        named = self._rows.named
        for number in numbers:
            named[number] = 1

    def add_new(self, number: int, slots: Iterable[int]) -> None:
        """Add pages of a host that were never fetched, or are to be fetched again."""
        before = len(self._new)
        self._new.extend(slots)
        self._new_hosts.extend([number] * (len(self._new) - before))

    def add_found(self, numbers: Sequence[int], first: int) -> None:
        """Add newly found pages, with slots from `first` on: slot `first + i` on host `numbers[i]`."""
        new, new_hosts = self._new, self._new_hosts
        for number in numbers:  # usually few
            new.append(first)
            new_hosts.append(number)
            first += 1

    def add_seen(self, number: int, slot: int, not_before: float = 0.0, *, visited_at: float | None = None) -> None:
        """Add a visited page for its refresh, `refresh_after_s` after the visit at the earliest.

        Callers that know the time of the visit pass it, which saves a look-up.
        """
        at = self._visited_at(slot) if visited_at is None else visited_at
        until = at + self._refresh_after_s
        self._seen_hosts.append(number)
        self._seen.append(slot)
        self._seen_until.append(until if until > not_before else not_before)

    def fill(self, numbers: NDArray[np.uint32], slots: Slots, *, new: bool, not_before: Floats | None = None) -> None:
        """Add many pages at once: slot i to host `numbers[i]`, in this order.

        Visited pages wait until `not_before`, by default until `refresh_after_s` after their visits.
        """
        numbers, slots = np.ascontiguousarray(numbers, np.uint32), np.ascontiguousarray(slots, np.uint32)
        self._flush()
        self._count(len(slots), new=new)
        if new:
            self._queues.append(numbers, slots)
            self._newcomers_away = NewcomersAway(self._rows, self._queues)
        else:
            for first in range(0, len(slots), _FILL):
                part = slice(first, first + _FILL)
                if not_before is None:
                    until = self._columns(slots[part]).visited_at + self._refresh_after_s
                else:
                    until = not_before[part]
                self._queues.sleep(numbers[part], slots[part], np.ascontiguousarray(until))
        filled: Slots = np.flatnonzero(np.bincount(numbers, minlength=len(self.hosts))).astype(np.uint32)
        rows = self._rows.rows[: len(self.hosts)]
        filled = filled[(rows["held"][filled] == 0) & (rows["in_flight"][filled] < self._per_host)]
        self._queues.rest(filled, rows["ready_at"].take(filled))

    def take_first(self, host: Host) -> tuple[int, bool] | None:
        """Take the next page of a host, ready or not, and whether it is new; None if it has none."""
        self._flush(valued=False)
        taken = self._queues.take(host.number)
        if taken is not None:
            self._count(-1, new=taken[1])
            self._turned(host.number)
        return taken

    def take_page(self, host: Host, slot: int) -> bool:
        """Take a page that waits for its refresh out of order, host ready or not; return whether it waited.

        As with `choose`, the caller begins a visit, puts it back with `put_first`, or gives it up with `give_up`.
        """
        self._flush()
        taken = self._queues.remove(host.number, slot)
        self._count(-int(taken), new=False)
        return taken

    def drop(self, first: int, last: int, unwanted: NDArray[np.uint8], dropped: NDArray[np.uint8], most: int) -> int:
        """Remove waiting pages of some hosts; return how many. See `HostQueues.drop`.

        Pages added since the last choice may still be chosen; the code that makes visits gives them up.
        """
        self._flush()
        new, seen = self._queues.drop(first, last, unwanted, dropped, most)
        self._count(-new, new=True)
        self._count(-seen, new=False)
        self._left_alone_until = 0.0
        if not self.held:
            return new + seen
        held = self.held.drop(range(first, last), unwanted, dropped)
        for number in range(first, last):
            self._free_if_dry(number)
        return new + seen + held

    def take_waiting(self, host: Host, slot: int, known: int) -> tuple[bool, bool]:
        """Take a page out of order, read or not; return whether it waited, and whether as a new page.

        See `take_page`; `known` is the number of known pages.
        """
        if self.held.remove(host.number, slot):
            return True, True
        self._flush(valued=False)
        wanted = np.zeros(known // 8 + 1, np.uint8)
        wanted[slot >> 3] = 1 << (slot & 7)
        new, seen = self._queues.drop(host.number, host.number + 1, wanted, np.zeros_like(wanted), 1 << 62)
        self._count(-new, new=True)
        self._count(-seen, new=False)
        self._free_if_dry(host.number)
        return new + seen > 0, new > 0

    # Held pages

    def take_among(self, number: int, unwanted: NDArray[np.uint8], known: int, *, but: Collection[int]) -> list[int]:
        """Take the new pages of a host whose bits are set in `unwanted`, except some; return their slots, in order.

        `known` is the number of known pages.
        """
        self._flush(valued=False)
        slots = self._queues.take_new(number, unwanted[: known // 8 + 1])
        self._count(-len(slots), new=True)
        kept = {slot for slot in slots if slot in but}
        self.add_new(number, kept)
        return [slot for slot in slots if slot not in kept]

    def hold_back(self, number: int, slots: Iterable[int], naming: Callable[[int], int]) -> None:
        """Let new pages of a host wait behind its others; `naming` maps each to the site that names it.

        Where no other new page waits, some of them are queued at once.
        """
        for slot in slots:
            self.held.hold(number, slot, naming(slot))
        self._free_if_dry(number)

    def release_held(self, number: int) -> None:
        """Queue all held pages of a host."""
        self._free(number, self.held.of(number))

    def claim(self, number: int, slot: int) -> None:
        """Let a page of a host wait behind others no longer; its own pages name it."""
        if self.held.remove(number, slot):
            self.add_new(number, (slot,))

    # What waits

    def queued_on(self, first: int, last: int) -> tuple[Ints, Ints]:
        """Return the numbers of new and of visited pages that wait on each host from `first` to before `last`."""
        self._flush()
        return self._queues.waiting(first, last)

    def next_at(self) -> float:
        """Return the instant at which the next host becomes ready; infinity if none waits for an instant."""
        self._flush()
        added = [self._rows.ready_at[number] for number in set(self._new_hosts)]
        gates = [self._gates[0][0]] if self._gates else []
        return min([self._queues.next_at(self._left_alone_until), *gates, *added])

    def first_due(self) -> tuple[int, float] | None:
        """Return one of the first pages to fall due, and when; None if a new page waits, or nothing falls due.

        This takes microseconds: a resting host's pages count as due when its rest ends.
        """
        self._flush()
        return None if self._new else self._queues.first_due()

    def near(self, now: float, within_s: float, most: int) -> list[int]:
        """Return the numbers of hosts whose turn is near, so that callers can prepare; this takes microseconds.

        These are up to `most` ready hosts with the best new pages, as many with the first due pages, and as many whose
        rest ends within `within_s`. Excluded are busy and held hosts, hosts that wait for an address, and hosts that
        had nothing to offer before pages were added since the last choice.
        """
        self._flush()
        return self._queues.near(now + within_s, most)

    @property
    def new_count(self) -> int:
        """The number of waiting pages that were never fetched, or are to be fetched again."""
        return self._queued_new + len(self._new) + self.held.count

    @property
    def seen_count(self) -> int:
        """The number of pages that wait for a refresh."""
        return self._queued_seen + len(self._seen)

    def size_bytes(self) -> int:
        """Return the memory use of the queues and hosts in bytes."""
        return self._queues.size_bytes() + len(self.hosts) * HOST.itemsize + self.held.size_bytes()

    def waiting_on(self) -> tuple[Ints, Ints]:
        """Return the numbers of new pages, and of pages to refresh, that wait on each host, by host number."""
        (new, seen), hosts = self._queues.waiting(), len(self.hosts)
        new += np.bincount(np.array(self._new_hosts, np.int64), minlength=hosts)
        seen += np.bincount(np.array(self._seen_hosts, np.int64), minlength=hosts)
        return new, seen

    def away(self, host: int, now: float) -> bool:
        """Whether a host is unavailable for so long that callers should not wait for it."""
        return self._rows.away_until[host] - now > AWAY_S

    def idle(self, now: float) -> bool:
        """Whether no unfetched pages are left, except on hosts that are away."""
        if self._queued_new + len(self._new) == 0:
            return True
        away_until = self._rows.away_until
        if any(away_until[number] - now <= AWAY_S for number in self._new_hosts):
            return False
        return self._newcomers_away.all(now)

    def waiting(self, now: float) -> dict[str, int]:
        """Return the number of waiting hosts with new pages by reason; for many hosts, partly as of a moment ago."""
        return self._reasons.count(now, self._new_hosts)

    # Passing on

    def _turned(self, number: int) -> None:
        """Count a turn of a host; release held pages if one has its turn, or if no other new page waits."""
        if number in self.held and (self.held.turn(number) or not self._new_waits(number)):
            self._free(number, 1 if self._new_waits(number) else self._freed)

    def _free_if_dry(self, number: int) -> None:
        if number in self.held and not self._new_waits(number):
            self._free(number, self._freed)

    def _free(self, number: int, most: int) -> None:
        """Queue up to `most` held pages of a host."""
        for _ in range(most):
            slot = self.held.release(number)
            if slot is None:
                return
            self.add_new(number, (slot,))

    def _new_waits(self, number: int) -> bool:
        """Whether new pages of a host are in its queue, or about to be."""
        if self._queues.new(number) > 0:
            return True
        if self._newly_up_to < len(self._new_hosts):
            self._newly.update(self._new_hosts[self._newly_up_to :])
            self._newly_up_to = len(self._new_hosts)
        return number in self._newly

    def _count(self, by: int, *, new: bool) -> None:
        if new:
            self._queued_new += by
        else:
            self._queued_seen += by

    def _flush(self, *, valued: bool = True) -> None:
        """Pass changes to the queues; new pages only if they need no valuing first, or if there are too many."""
        if self._rested:
            self._queues.rest(self._rested, self._rested_at)
            del self._rested[:], self._rested_at[:]
        if self._seen:
            self._queues.sleep(self._seen_hosts, self._seen, self._seen_until)
            self._queued_seen += len(self._seen)
            del self._seen_hosts[:], self._seen[:], self._seen_until[:]
        if self._new and (self._in_order or not valued or len(self._new) > _VALUED_MOST):
            self._newcomers_away.added(self._new_hosts, self._chose_at)
            self._queues.append(self._new_hosts, self._new)
            self._queued_new += len(self._new)
            self._clear_new()

    def _clear_new(self) -> None:
        del self._new_hosts[:], self._new[:]
        self._newly.clear()
        self._newly_up_to = 0
