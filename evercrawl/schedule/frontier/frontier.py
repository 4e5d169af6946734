"""The frontier: chooses the next pages among those of hosts that are ready for a request."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from evercrawl.schedule.abilities import Assesses, Follows, Priced, assessed, p_fresh
from evercrawl.schedule.base import Context, Policy, Surroundings
from evercrawl.schedule.frontier.waiting_pages import WaitingPages
from evercrawl.schedule.shared.prospects import Expects
from evercrawl.types import Floats, Ints, Slots

if TYPE_CHECKING:
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.schedule.pages import Pages

_LOOK_S: Final = 1.0  # delay to the next choice if the policy excludes all pages and does not say until when
_LOOK_MOST_S: Final = 60.0  # maximum of this delay, because the policy's answer may become outdated
ESTABLISHED: Final = 16
"""Number of pages read after which a host that no seed names is known at its address: a few more than are needed to
notice that its pages are endless."""
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


class Frontier(WaitingPages):
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
            columns,
            visited_at,
            in_order=policy.in_order and not (weighed and policy.weighs),
            reviews=policy.reviews,
            refresh_after_s=refresh_after_s,
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
        self._expecting = expecting
        self._several = connections_per_host > 1 and not (delay_s or ip_delay_s or self._in_order)
        self._picked, self._picked_values = list[tuple["Host", int, bool]](), list["Floats"]()  # of the last choice
        self._picked_at, self._picked_new = 0.0, 0
        self._returned = set[int]()  # slots of that choice that were put back or given up
        self._spent = self._passed_over = False  # whether the last choice left nothing; skipped hosts of an address
        self.predicted_fresh = dict[int, float]()
        self.locator: Locator | None = None
        self.hurried: Callable[[], bool] = _never

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

    def _one_more(self, number: int, begun: int) -> bool:
        """Whether another page of a host may be chosen at the same instant, after `begun` pages."""
        of, addresses = self._rows, self._addresses
        if not begun or of.delay_s[number] or of.in_flight[number] + begun >= self._per_host:
            return False
        key = of.address[number]
        return not key or (addresses.get(key) or self._address(key)).in_flight + begun < self._per_ip


def _never() -> bool:
    return False
