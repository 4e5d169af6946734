"""Politeness: which hosts may be requested, and from when on; limits per host and per machine."""

from __future__ import annotations

import heapq
import itertools
import math
import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evercrawl.arrays.hasher import SECRET_BYTES, Hasher
from evercrawl.arrays.names import NumberedNames
from evercrawl.schedule.frontier.address_line import PAGES_BETWEEN, AddressLine
from evercrawl.schedule.frontier.host_rows import HostRows
from evercrawl.schedule.frontier.hosts import Host, Hosts
from evercrawl.schedule.frontier.machines import machine_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.types import Ints

LOOK_S: Final = 0.1  # minimum delay before a busy host is checked again
GATE_S: Final = 1.0  # delay before others are offered if none of the offered hosts takes the turn
_ADDRESSES: Final = 1 << 12  # number of addresses that are kept in any state


@dataclass(slots=True, eq=False)
class Address:
    """One IP address: one machine, whatever the number of names. After its rest, it equals an address never requested.

    Attributes
    ----------
    in_flight
        Exchanges under way, and places reserved for those about to begin.
    kept
        Number of reserved places.
    ready_at
        Earliest instant of the next request, in seconds since the epoch.
    shut, rested_at
        Whether another partition has the address, and `ready_at` before that.
    waiting
        Numbers of rested hosts that wait for the address; they are offered again turn by turn.
    gate_at
        When the waiting hosts are checked next; infinity if no check is scheduled.
    chosen
        Last choice that included one of its hosts.
    offered, offered_in
        The hosts whose turn it is, and the choice for which it is theirs alone.
    """

    in_flight: int = 0
    kept: int = 0
    ready_at: float = 0.0
    shut: bool = False
    rested_at: float = 0.0
    waiting: AddressLine | None = None
    gate_at: float = math.inf
    chosen: int = 0
    offered: Sequence[int] = ()
    offered_in: int = 0


class PoliteHosts:
    """The hosts and their addresses; records the start and end of exchanges, and which hosts have rested.

    Parameters
    ----------
    delay_s, connections_per_host, connections_per_ip, ip_delay_s
        Minimum time between two requests to a host, and between two to an address; maximum number of exchanges under
        way.
    names
        Host names by number, if the caller stores them; otherwise they are stored here.
    own_delay
        Host name -> its own minimum time between two requests (s), None for the default.

    Attributes
    ----------
    hosts
        The hosts by number.
    rests_until
        Added hosts rest until this instant (s since the epoch), because requests before this run may be unknown.
    unproven
        Numbers of hosts with requests under way that did not answer the last time, or were not requested in this run.
    """

    def __init__(
        self,
        *,
        delay_s: float,
        connections_per_host: int,
        connections_per_ip: int,
        ip_delay_s: float,
        names: Sequence[str] | None = None,
        own_delay: Callable[[str], float | None] | None = None,
    ) -> None:
        self._delay_s, self._own_delay = delay_s, own_delay
        self._own_delays: dict[int, float] = {}  # by host number
        self._per_host = connections_per_host
        self._per_ip = connections_per_ip
        self._ip_delay_s = ip_delay_s
        self._order = itertools.count()
        self._choices = 0
        self._gates: list[tuple[float, int, Address]] = []
        self._rested, self._rested_at = array("I"), array("d")  # hosts to consider, each from an instant on
        self._rows = HostRows(names)
        self._hasher = names.hasher if isinstance(names, NumberedNames) else Hasher(os.urandom(SECRET_BYTES))
        self._addresses: dict[int, Address] = {}  # addresses in use or at rest, by key
        self._addresses_most = _ADDRESSES
        self.rests_until = 0.0
        self.unproven = set[int]()
        self.hosts = Hosts(self._rows)

    def add_host(self, name: str) -> Host:
        """Add the host with the next number."""
        self.add_hosts((name,))
        return self.hosts[len(self.hosts) - 1]

    def add_hosts(self, names: Sequence[str], pages: Ints | None = None) -> None:
        """Add hosts with the next numbers, with their numbers of known pages."""
        first = self._rows.count
        self._rows.add(names, self._delay_s, self.rests_until, pages)
        if self._own_delay is not None:
            for number, name in enumerate(names, first):
                if (delay_s := self._own_delay(name)) is not None:
                    self._rows.delay_s[number] = self._own_delays[number] = delay_s

    def count_pages(self, numbers: Sequence[int]) -> None:
        """Count newly known pages, given by their hosts."""
        pages = self._rows.pages
        for number in numbers:
            pages[number] += 1

    def pages_of(self, number: int) -> int:
        """Return the number of known pages of a host."""
        return self._rows.pages[number]

    def locate(self, host: Host, addresses: tuple[str, ...], until: float) -> None:
        """Set the addresses of a host and their expiry; during an exchange the current address is kept."""
        rows, row = host.rows, host.row
        if rows.in_flight[row] == 0 or not rows.address[row]:
            rows.address[row] = self._key(machine_of(addresses[0]) if addresses else host.name)
            rows.locate(row, addresses, until)
        else:
            rows.locate(row, host.addresses or addresses, until)
        self._rest(host)

    def pageless_host(self, name: str, addresses: tuple[str, ...]) -> Host:
        """Return a host without pages and number, which is requested under the same politeness limits."""
        host = Host(-1, name)
        own_s = self._own_delay(name) if self._own_delay is not None else None
        host.delay_s = self._delay_s if own_s is None else own_s
        host.ready_at, host.held = self.rests_until, "it has no pages"
        host.rows.locate(0, addresses, host.located_until)
        host.rows.address[0] = self._key(machine_of(addresses[0]) if addresses else name)
        return host

    def keep_place(self, host: Host) -> Address | None:
        """Reserve a place at a host's address, so that later hosts are not admitted before it; return the address."""
        address = self._address_of(host)
        if address is not None:
            address.in_flight += 1
            address.kept += 1
        return address

    def give_place(self, address: Address | None) -> None:
        """Release a reserved place: the request begins now, or will not be made."""
        if address is not None:
            address.in_flight -= 1
            address.kept -= 1

    def rested(self, host: Host, now: float) -> bool:
        """Whether a host with a reserved place may be requested: it has rested, and so has its address."""
        address = self._address_of(host)
        free = address is None or (address.in_flight - address.kept < self._per_ip and address.ready_at <= now)
        return free and not host.in_flight and host.ready_at <= now

    def release(self, host: Host) -> None:
        """Let a host offer pages again if its chosen page was not requested or its rest was changed."""
        self._rest(host)

    def began(self, host: Host, now: float) -> None:
        """Record a request to `host` that starts now."""
        rows, row = host.rows, host.row
        rows.in_flight[row] += 1
        if not rows.answers[row]:
            self.unproven.add(host.number)
        ready_at = now + rows.delay_s[row]
        if ready_at > rows.ready_at[row]:
            rows.ready_at[row] = ready_at
        key = rows.address[row]
        if key:
            address = self._addresses.get(key) or self._address(key)
            address.in_flight += 1
            ready_at = now + self._ip_delay_s
            if self._own_delays and host.number in self._own_delays:
                ready_at = min(ready_at, now + rows.delay_s[row] / self._per_ip)
            if ready_at > address.ready_at:
                address.ready_at = ready_at
            if address.waiting is not None:
                address.waiting.began(now, aside=address.chosen != self._choices)
                address.chosen = 0
        if self._per_host > 1:
            self._rest(host)

    def ended(self, host: Host, now: float) -> None:
        """Record the end of an exchange; with one connection per host, the rest begins here: gaps hold at servers."""
        rows, row = host.rows, host.row
        in_flight = rows.in_flight[row] - 1
        rows.in_flight[row] = in_flight
        if self.unproven:
            self.unproven.discard(host.number)
        rested_at, ready_at = rows.ready_at[row], now + rows.delay_s[row]
        if ready_at > rested_at and self._per_host == 1:
            rows.ready_at[row] = rested_at = ready_at
        key = rows.address[row]
        if key:
            address = self._addresses.get(key) or self._address(key)
            address.in_flight -= 1
            if address.waiting:
                self._admit(address, now)
        if not rows.held[row] and in_flight < self._per_host:  # `_rest`, inlined
            self._rested.append(host.number)
            self._rested_at.append(rested_at)

    def began_beside(self, host: Host, address: str, now: float, may: Callable[[int], bool]) -> int:
        """Count an exchange with a second address of a host from now on; return the key, 0 if it is not allowed.

        It is not allowed if the address is busy, rests, is another notation of the host's own, or if `may` rejects its
        key.
        """
        key = self._key(machine_of(address))
        if key == host.rows.address[host.row] or not may(key):
            return 0
        second = self._address(key)
        if second.in_flight >= self._per_ip or second.ready_at > now:
            return 0
        second.in_flight += 1
        second.ready_at = now + self._ip_delay_s
        return key

    def ended_beside(self, key: int, now: float) -> None:
        """Record the end of an exchange with a second address."""
        second = self._address(key)
        second.in_flight -= 1
        if second.waiting:
            self._admit(second, now)

    def wait_s(self, host: Host, now: float) -> float:
        """Return how long to wait before checking again whether a host may be requested for a file; 0 if it may now.

        Waiting pages take part in the host's turns; this is for requests other than pages.
        """
        address = self._address_of(host)
        ready_at = max(host.ready_at, address.ready_at if address else 0.0)
        if ready_at > now:
            return ready_at - now
        busy = host.held or host.in_flight >= self._per_host
        if busy or (address is not None and address.in_flight >= self._per_ip):
            return max(LOOK_S, host.delay_s / 2)  # the next rest is longer, so the check does not miss it
        return max(LOOK_S, self._ip_delay_s) if address is not None and self._crowded(address, now) else 0.0

    def ready_at(self, host: Host) -> float:
        """Return when a host and its address will have rested."""
        address = self._address_of(host)
        return max(host.ready_at, address.ready_at if address else 0.0)

    def may_keep(self, host: Host, now: float) -> bool:
        """Whether a place may be reserved at a host's address: one at a time, and while hosts wait, not each turn."""
        address = self._address_of(host)
        return address is None or not (address.kept or self._crowded(address, now))

    def _crowded(self, address: Address, now: float) -> bool:
        """Whether pages of waiting hosts come before requests for anything else, which get one turn of four."""
        line = address.waiting
        if not line or address.chosen == self._choices or line.pages_since >= PAGES_BETWEEN:
            return False
        return now < line.began_at + GATE_S + self._ip_delay_s

    def shut(self, key: int, until: float) -> None:
        """Forbid requests to an address before an instant, or before `open_address`: another partition has it."""
        address = self._addresses.get(key) or self._address(key)
        if not address.shut:
            address.shut, address.rested_at = True, address.ready_at
        address.ready_at = max(address.ready_at, until)

    def open_address(self, key: int, at: float) -> None:
        """Allow requests to a shut address from an instant on."""
        address = self._addresses.get(key)
        if address is not None and address.shut:
            address.shut, address.ready_at = False, max(address.rested_at, at)
            if address.waiting:
                self._gate(address, address.ready_at)

    @staticmethod
    def address_key(host: Host) -> int:
        """Return the key of the address of a host; 0 if it has none yet."""
        return host.rows.address[host.row]

    def under_way(self, key: int) -> int:
        """Return the number of exchanges under way at an address, plus reserved places."""
        address = self._addresses.get(key)
        return address.in_flight if address is not None else 0

    def _rest(self, host: Host) -> None:
        """Have a host considered when it has rested, from the next choice on, unless it is busy or held."""
        rows, row = host.rows, host.row
        if not rows.held[row] and rows.in_flight[row] < self._per_host:
            self._rested.append(host.number)
            self._rested_at.append(rows.ready_at[row])

    def _address_of(self, host: Host) -> Address | None:
        key = host.rows.address[host.row]
        return self._address(key) if key else None

    def _address(self, key: int) -> Address:
        address = self._addresses.get(key)
        if address is None:
            address = self._addresses[key] = Address()
        return address

    def _forget_addresses(self, now: float) -> None:
        """If there are many addresses, keep those that are busy, waited for, or at rest."""
        if len(self._addresses) > self._addresses_most:
            self._addresses = {
                key: address
                for key, address in self._addresses.items()
                if address.in_flight or address.ready_at > now or address.waiting
            }
            self._addresses_most = max(_ADDRESSES, 2 * len(self._addresses))

    def _await(self, address: Address, number: int, worth: float, now: float, *, known: bool) -> None:
        """Let a host wait for an address that may not be requested now, or that another host may request first."""
        if address.waiting is None:
            address.waiting = AddressLine()
        address.waiting.add(number, worth, known=known)
        free = address.in_flight < self._per_ip
        self._gate(address, max(address.ready_at, now + (LOOK_S if free else GATE_S)))

    def _known_first(self, address: Address) -> bool:
        """Whether newcomers may request an address in this choice only if no known host does."""
        return address.offered_in == self._choices and address.waiting is not None and address.waiting.due

    def _keeps(self, line: AddressLine, now: float) -> float:
        """Return until when an address is kept for a known host whose turn it is; `now` if it is not.

        It is kept if the others lose less time than this host would lose by another's request before its own.
        """
        if line.lacks_known and self._ip_delay_s:
            rows = self._rows
            ends = [rows.ready_at[host] for host in line.served if not rows.in_flight[host]]
            line.kept_until = min((at for at in ends if now < at < now + self._ip_delay_s / 2), default=0.0)
        return max(line.kept_until, now)

    def _takes(self, address: Address, number: int, now: float, *, known: bool) -> bool:
        """Return whether a host may request an address that others wait for, or have waited for; if so, it does.

        For one choice, the address is left to those to whom it was offered.
        """
        line = address.waiting
        assert line is not None, "nobody has waited"
        if address.offered_in == self._choices and number not in address.offered and not (known and line.due):
            return False
        if line.kept_until > now and not known:
            return False
        line.serve(number, known=known)
        return True

    def _unused(self, host: Host, now: float) -> None:
        """Offer an address to others soon, if the host whose turn it is was chosen and makes no request."""
        address = self._addresses.get(host.rows.address[host.row])
        if address is not None and address.waiting and address.in_flight < self._per_ip:
            self._gate(address, max(address.ready_at, now + LOOK_S))

    def _gate(self, address: Address, at: float) -> None:
        """Have the hosts that wait for an address checked at an instant, or earlier."""
        if at < address.gate_at:
            address.gate_at = at
            heapq.heappush(self._gates, (at, next(self._order), address))

    def _open_gates(self, now: float) -> None:
        while self._gates and self._gates[0][0] <= now:
            at, _, address = heapq.heappop(self._gates)
            if at == address.gate_at:  # otherwise an earlier check has replaced it
                address.gate_at = math.inf
                self._admit(address, now)

    def _admit(self, address: Address, now: float) -> None:
        """Offer an address to those whose turn it is, if it may be requested; the others wait."""
        waiting = address.waiting
        if not waiting:
            return
        if address.in_flight >= self._per_ip or address.ready_at > now:
            self._gate(address, address.ready_at if address.ready_at > now else now + GATE_S)
            return
        if (until := self._keeps(waiting, now)) > now:
            self._gate(address, until)
            return
        if address.offered_in <= self._choices:
            address.offered, address.offered_in = waiting.offer(), self._choices + 1
            for number in address.offered:
                self._rest(self.hosts[number])
        if waiting:
            self._gate(address, now + GATE_S)

    def _key(self, address: str) -> int:
        return self._hasher.key(address) or 1
