"""The frontier: chooses the next pages among those of hosts that are ready for a request."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.abilities import Assesses, Follows, Priced, assessed, p_fresh
from evercrawl.schedule.base import Context, Policy, Surroundings
from evercrawl.schedule.frontier.held_pages import HeldPages
from evercrawl.schedule.frontier.host_queues import HostQueues
from evercrawl.schedule.frontier.host_rows import HOST
from evercrawl.schedule.frontier.hosts import AWAY_S
from evercrawl.schedule.frontier.looking_round import HostReasons, NewcomersAway
from evercrawl.schedule.frontier.politeness import PoliteHosts
from evercrawl.schedule.shared.prospects import Expects
from evercrawl.types import Floats, Ints, Slots

if TYPE_CHECKING:
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.schedule.pages import Pages

_VALUED_MOST: Final = 1 << 14  # maximum number of new pages valued at once on arrival; others are ranked later
_FILL: Final = 1 << 20  # number of pages whose columns are requested at once
_LOOK_S: Final = 1.0  # delay to the next choice if the policy excludes all pages and does not say until when
_LOOK_MOST_S: Final = 60.0  # maximum of this delay, because the policy's answer may become outdated
ESTABLISHED: Final = 16
"""Number of pages read after which a host that no seed names is known at its address: a few more than are needed to
notice that its pages are endless."""
_FREED: Final = 4
"""Least number of held pages of a host that are released together if no other new pages wait there."""
_FREED_HOSTS: Final = 64  # hosts of which one held page each is released if the policy excludes all pages
_HOSTS_OWN: Final = 0.8  # fraction of a visit's log worth above the crawl's price that counts as its host's price
_NOTHING: Final = np.zeros(0)
_LATER: Final = -1


class Locator(Protocol):
    """Tells which hosts must wait because their names cannot be looked up now."""

    def choosing(self) -> None:
        """Restart the count of admitted hosts: those of the last choice were looked up, or put back."""
        ...

    def crowded(self, now: float) -> bool:
        """Return whether so many hosts were deferred at this instant that choosing more of them is useless."""
        ...

    def waits(self, host: Host, now: float) -> bool:
        """Return whether a host must wait; if so, it rests until it may be tried again. Otherwise it is admitted."""
        ...


class Frontier(PoliteHosts):
    """The hosts with their waiting pages; offers only pages of hosts that are ready for a request.

    Parameters
    ----------
    policy
        Policy that values the candidates: the first due pages and the best new pages of each host.
    columns
        Slots -> their columns, for the policy.
    visited_at
        Slot -> the instant of its last visit.
    delay_s, connections_per_host, connections_per_ip, ip_delay_s
        Politeness limits.
    refresh_after_s
        Minimum time between two visits of a page.
    weighed
        Whether pages are weighed by something other than importance; see `Policy.weighs`.
    surroundings
        Source of the context that the policy receives with the columns.
    names
        Host names by number, if the caller stores them; otherwise they are stored here.
    own_delay
        Host name -> its own delay (s), None for the default.
    expecting
        Columns of pages and the numbers of their hosts -> columns with predictions about unread pages.

    Attributes
    ----------
    hosts
        The hosts by number.
    predicted_fresh
        For each chosen page, the probability that its copy is fresh; the code that makes the visit removes the entry.
    locator
        Tells which hosts must wait for a name look-up; None if no names are looked up.
    hurried
        Whether a choice that has found a page should end early, because others wait.
    held
        New pages that wait behind the others of their hosts.
    """

    def __init__(
        self,
        policy: Policy,
        columns: Callable[[Slots], Pages],
        visited_at: Callable[[int], float],
        *,
        delay_s: float = 1.0,
        connections_per_host: int = 1,
        connections_per_ip: int = 4,
        ip_delay_s: float = 0.0,
        refresh_after_s: float = 3600.0,
        weighed: bool = False,
        surroundings: Surroundings | None = None,
        names: Sequence[str] | None = None,
        own_delay: Callable[[str], float | None] | None = None,
        expecting: Expects | None = None,
    ) -> None:
        super().__init__(
            delay_s=delay_s,
            connections_per_host=connections_per_host,
            connections_per_ip=connections_per_ip,
            ip_delay_s=ip_delay_s,
            names=names,
            own_delay=own_delay,
        )
        self._policy, self._surroundings = policy, surroundings or Surroundings()
        self._assess = policy.assess if isinstance(policy, Assesses) else partial(assessed, policy)
        self._follows = policy if isinstance(policy, Follows) else None
        self._priced = policy if isinstance(policy, Priced) else None
        self._columns, self._expecting = columns, expecting
        self._visited_at = visited_at
        self._refresh_after_s = refresh_after_s
        self._in_order = policy.in_order and not (weighed and policy.weighs)
        self._several = connections_per_host > 1 and not (delay_s or ip_delay_s or self._in_order)
        self._queues = HostQueues(in_order=self._in_order, reviews=policy.reviews)
        self._chose_at = 0.0
        self._reasons = HostReasons(self._rows, self._queues)
        self._newcomers_away = NewcomersAway(self._rows, self._queues)
        self._picked, self._picked_values = list[tuple["Host", int, bool]](), list["Floats"]()  # of the last choice
        self._picked_at, self._picked_new = 0.0, 0
        self._returned = set[int]()  # slots of that choice that were put back or given up
        self._spent = self._passed_over = False  # whether the last choice left nothing; skipped hosts of an address
        self._left_alone_until = 0.0  # the policy excludes all pages until this instant
        self._freed = max(_FREED, 2 * connections_per_host)
        self._new_hosts, self._new = array("I"), array("I")  # arrivals since the last choice: new and visited pages
        self._newly, self._newly_up_to = set[int](), 0  # the hosts of the first so many new arrivals
        self._seen_hosts, self._seen, self._seen_until = array("I"), array("I"), array("d")
        self._queued_new, self._queued_seen = 0, 0  # number of pages in the queues
        self.predicted_fresh = dict[int, float]()
        self.locator: Locator | None = None
        self.hurried: Callable[[], bool] = _never
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

    def take_among(self, number: int, unwanted: NDArray[np.uint8], known: int, *, but: Collection[int]) -> list[int]:
        """Take the new pages of a host whose bits are set in `unwanted`, except some; return their slots, in order.

        Only bits of new pages may be set; `known` is the number of known pages.
        """
        self._flush(valued=False)
        dropped = np.zeros(known // 64 + 1, np.uint64)
        new, _ = self._queues.drop(number, number + 1, unwanted[: known // 8 + 1], dropped.view(np.uint8), 1 << 62)
        self._count(-new, new=True)
        words: Ints = np.flatnonzero(dropped)
        bits = np.unpackbits(dropped[words].view(np.uint8), bitorder="little").reshape(-1, 64)
        of_words, places = np.nonzero(bits)
        slots: list[int] = (64 * words[of_words] + places).tolist()
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

    def choose(self, now: float, most: int, least: float = -math.inf) -> list[tuple[Host, int, bool]]:
        """Return up to `most` pages to visit now, the most valuable first, at most one per host.

        A host without a delay may have as many pages as it may receive requests at once.

        No page has a value below `least`, or below the policy's own minimum.

        Each entry is (host, slot, whether the page is new), and leaves the queues: the caller begins a visit, puts the
        page back with `put_first`, or gives it up with `give_up`. The policy is informed at the next choice.
        """
        chosen = list[tuple["Host", int, bool]]()
        self._tell()
        least = max(least, self._policy.min_value)
        self._forget_addresses(now)
        self._open_gates(now)
        if self._expecting is not None and (turned := self._expecting.turned()):
            self._queues.rank_again(turned)
        self._choices, self._chose_at = self._choices + 1, now
        going, owing = most > 0, self._queues.owing
        self._spent = self._passed_over = False
        if self.locator is not None:
            self.locator.choosing()
        while going and len(chosen) < most:
            added = len(self._new)
            self._flush()
            if not added and self._queues.next_at(self._left_alone_until) > now:
                break
            self._left_alone_until = 0.0
            going = self._round(now, most - len(chosen), least, chosen)
            if self.locator is not None and self.locator.crowded(now):
                return chosen
            if chosen and going and self.hurried():
                break
        if self.held:
            for host, _, _ in chosen:
                self._turned(host.number)
        self._spent = not going and not self._passed_over
        if self._left_alone_until == 0.0 and not chosen and most > 0 and self._policy.min_value > -math.inf:
            due_at = self._queues.due_at()
            self._left_alone_until = min(due_at, now + _LOOK_MOST_S) if due_at > now else now + _LOOK_S
            if owing:  # pages that were reviewed may be wanted
                self._left_alone_until = now
            for number in self.held.hosts()[:_FREED_HOSTS]:
                self._free(number, 1)
        return chosen

    @property
    def spent(self) -> bool:
        """Whether the last choice left no page to choose at its instant, and none of its pages was put back."""
        return self._spent and not self._returned

    def planned(self) -> None:
        """Recompute when pages fall due, after a plan of the policy."""
        self._queues.look_again(self.seen_count)
        self._left_alone_until = 0.0

    def put_first(self, host: Host, slot: int, *, new: bool) -> None:
        """Put a chosen page back at the front of its host, because something else must come first."""
        self._returned.add(slot)
        self.predicted_fresh.pop(slot, None)
        self._count(1, new=new)
        self._queues.put_back(host.number, slot, new=new)
        if new:
            self._newcomers_away.added((host.number,), self._chose_at)
        self._unused(host, self._chose_at)
        self._rest(host)

    def give_up(self, host: Host, slot: int) -> None:
        """Drop a chosen page without a visit; it leaves the queues."""
        self._returned.add(slot)
        self.predicted_fresh.pop(slot, None)
        self._unused(host, self._chose_at)
        self.release(host)

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

    def change_delay(
        self, delay_s: float, ip_delay_s: float, own_delay: Callable[[str], float | None] | None = None
    ) -> None:
        """Set the delays of hosts from now on; a host whose robots.txt requests a longer delay keeps it.

        With `own_delay`, host name -> delay or None, the hosts with delays of their own change.
        """
        rows = self._rows.rows[: len(self.hosts)]
        usual = rows["delay_s"] <= max(self._delay_s, delay_s)
        for number, own_s in self._own_delays.items():
            usual[number] = rows["delay_s"][number] <= own_s
        if own_delay is not None:
            self._own_delay = own_delay
            found = ((number, own_delay(self._rows.names[number])) for number in range(len(self.hosts)))
            self._own_delays = {number: own_s for number, own_s in found if own_s is not None}
        rows["delay_s"][usual] = delay_s
        for number, own_s in self._own_delays.items():
            if usual[number]:
                rows["delay_s"][number] = own_s
            else:
                rows["delay_s"][number] = max(rows["delay_s"][number], own_s)
        self._delay_s, self._ip_delay_s = delay_s, ip_delay_s
        self._several = self._per_host > 1 and not (delay_s or ip_delay_s or self._in_order)

    def reopen(self, reason: str, now: float) -> None:
        """Allow requests again to hosts that were closed for a reason, after their rest."""
        rows = self._rows
        for number in np.flatnonzero(rows.rows["reason"][: rows.count] == rows.code(reason)).tolist():
            host = self.hosts[number]
            host.away_until, host.ready_at = now, min(host.ready_at, now + host.delay_s)
            self._rest(host)

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

    # One round of choosing

    def _round(self, now: float, most: int, least: float, chosen: list[tuple[Host, int, bool]]) -> bool:
        """Collect candidates, have them valued, and choose; return whether another round may find more."""
        added = len(self._new)
        self._newcomers_away.added(self._new_hosts, now)
        slots, valued, due_from, ratio = self._queues.collect(
            now, most, self._new_hosts, self._new, several=self._several
        )
        self._queued_new += added
        self._clear_new()
        values, keys, fresh, pages = _NOTHING, _NOTHING, None, None
        context = self._surroundings(now, self.seen_count)
        if len(slots):
            pages = replace(self._columns(slots), host_price_ratio=ratio)
            if self._expecting is not None:
                pages = self._expecting(pages, self._queues.hosts_of(len(slots)))
            values, keys, fresh = self._assess(pages, context, valued, due_from)
        assert len(values) == valued, "the policy returns a value for every page"
        rows, out, busy = self._pick(values, now, most, least, chosen)
        price = self._priced.price if self._priced is not None else math.nan
        self._queues.settle(values, keys, rows, busy, out, price)
        if rows and pages is not None:
            self._picked += chosen[-len(rows) :]
            taken = np.frombuffer(rows, np.int64)
            self._picked_values.append(values.take(taken) / np.maximum(ratio.take(taken), 1.0) ** _HOSTS_OWN)
            self._picked_at = now
            self._note_fresh(pages, taken, fresh, context)
        if rows and self._queues.everyone and not self._queues.roused(values, least):  # the others are worth too little
            return False
        return bool(rows or out or added or self._queues.arrived)

    def _note_fresh(self, pages: Pages, rows: Ints, fresh: Floats | None, context: Context) -> None:
        """Record the freshness of the copies of chosen pages; query the policy where it was not returned."""
        rows = rows[pages.visited_at.take(rows) <= context.now]
        if len(rows):
            likely = p_fresh(self._policy, pages.take(rows), context) if fresh is None else fresh.take(rows)
            self.predicted_fresh.update(zip(pages.slot.take(rows).tolist(), likely.tolist(), strict=True))

    def _tell(self) -> None:
        """Inform the policy which pages of its last choice were not put back."""
        if self._picked:
            rounds = self._picked_values
            values, new = rounds[0] if len(rounds) == 1 else np.concatenate(rounds), self._picked_new
            if self._returned:
                kept = [i for i, (_, slot, _) in enumerate(self._picked) if slot not in self._returned]
                values, new = values[kept], sum(self._picked[i][2] for i in kept)
            self._picked.clear()
            rounds.clear()
            self._picked_new = 0
            if len(values) and self._follows is not None:
                self._follows.chosen(values, self._surroundings(self._picked_at, self.seen_count), new)
        self._returned.clear()

    def _pick(
        self, values: Floats, now: float, most: int, least: float, chosen: list[tuple[Host, int, bool]]
    ) -> tuple[array[int], array[int], array[int]]:
        """Choose the best pages; return their rows, the hosts that cannot be requested now, and the busy flags.

        A row is busy if its host is visited again before it has rested for twice its delay. The first exchange with an
        address determines when its next host may be requested, so each address is chosen once; without delays, a host
        of an address is chosen as often as there are connections.
        """
        choices, recent, per_host, addresses = self._choices, self.hosts.recent, self._per_host, self._addresses
        rows, out, busy, fresh, of = array("q"), array("I"), array("B"), 0, self._rows
        rested_at, delay_s, held, in_flight, keys = of.ready_at, of.delay_s, of.held, of.in_flight, of.address
        locator, located = self.locator, of.located
        begun = dict[int, int]()  # chosen pages by host number; 0: it cannot be requested; _LATER: others go first
        later = list[tuple[int, int, int, int]]()  # newcomers, because a known host of their address would go first
        for number, row, slot, new in chain(self._queues.best(values, least, several=self._several), later):
            if len(rows) == most:
                break
            if begun.get(number, _LATER) != _LATER:
                if self._one_more(number, begun[number]):
                    begun[number] += 1
                    busy.append(False)
                    chosen.append((recent.get(number) or self.hosts[number], slot, new == 1))
                    rows.append(row)
                    fresh += new
                continue
            again, begun[number] = number in begun, 0
            ready_at = rested_at[number]
            if ready_at > now or held[number] or in_flight[number] >= per_host:
                out.append(number)
                self._rest(self.hosts[number])
                continue
            if locator is not None and located(number)[1] <= now and locator.waits(host := self.hosts[number], now):
                out.append(number)
                self._rest(host)
                continue
            key = keys[number]
            if key:
                address = addresses.get(key) or self._address(key)
                if address.chosen == choices:
                    self._passed_over = True
                    continue
                busy_there = address.in_flight >= self._per_ip or address.ready_at > now
                if busy_there or address.waiting is not None:
                    known = not new or self._queues.seen(number) >= (1 if of.named[number] else ESTABLISHED)
                    if not (again or busy_there or known) and self._known_first(address):
                        begun[number] = _LATER
                        later.append((number, row, slot, new))
                        continue
                    if busy_there or not self._takes(address, number, now, known=known):
                        out.append(number)
                        self._await(address, number, float(values[row]), now, known=known)
                        continue
                address.chosen = choices
                ready_at = max(ready_at, address.ready_at)
            begun[number] = 1
            busy.append(now - ready_at < delay_s[number])
            chosen.append((recent.get(number) or self.hosts[number], slot, new == 1))
            rows.append(row)
            fresh += new
        self._picked_new += fresh
        self._queued_new -= fresh
        self._queued_seen -= len(rows) - fresh
        return rows, out, busy

    # Held pages

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

    def _one_more(self, number: int, begun: int) -> bool:
        """Whether another page of a host may be chosen at the same instant, after `begun` pages."""
        of, addresses = self._rows, self._addresses
        if not begun or of.delay_s[number] or of.in_flight[number] + begun >= self._per_host:
            return False
        key = of.address[number]
        return not key or (addresses.get(key) or self._address(key)).in_flight + begun < self._per_ip

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


def _never() -> bool:
    return False
