"""Politeness: which hosts may be asked, and from when on; no host and no machine is asked too often."""

import heapq
import itertools
from array import array
from typing import Final

from evercrawl.schedule.frontier.hosts import Address, Host

AT_ONCE: Final = 16  # hosts that wait for one address and are offered again together
LOOK_S: Final = 0.1  # how soon, at the soonest, to look again whether a busy host can be asked
GATE_S: Final = 1.0  # after which the next of them are


class PoliteHosts:
    """The hosts and the addresses behind them; takes note of what begins and ends, and of who has rested.

    Parameters
    ----------
    delay_s, connections_per_host, connections_per_ip, ip_delay_s
        Least time between two requests to a host, and between two to an address; how many may be under way at once.

    Attributes
    ----------
    hosts
        By number.
    addresses
        By their text.
    rests_until
        Hosts that are added rest until then (s since the epoch): who was asked before this run is not known for sure.
    """

    def __init__(
        self, *, delay_s: float, connections_per_host: int, connections_per_ip: int, ip_delay_s: float
    ) -> None:
        self._delay_s = delay_s
        self._per_host = connections_per_host
        self._per_ip = connections_per_ip
        self._ip_delay_s = ip_delay_s
        self._order = itertools.count()
        self._gates: list[tuple[float, int, Address]] = []
        self._rested, self._rested_at = array("I"), array("d")  # hosts to be looked at, each from an instant on
        self.rests_until = 0.0
        self.hosts: list[Host] = []
        self.addresses: dict[str, Address] = {}

    def add_host(self, name: str) -> Host:
        """Add the host with the next number."""
        host = Host(len(self.hosts), name, delay_s=self._delay_s, ready_at=self.rests_until)
        self.hosts.append(host)
        return host

    def locate(self, host: Host, addresses: tuple[str, ...], now: float) -> None:
        """Take note of where the host's name leads; while it is being asked, it stays where it is."""
        if host.in_flight == 0 or host.address is None:
            name = addresses[0] if addresses else host.name
            host.addresses, host.address = addresses, self.addresses.setdefault(name, Address())
        host.resolved_at = now
        self._rest(host)

    def stranger(self, name: str, addresses: tuple[str, ...]) -> Host:
        """Return a host that has no page and no number, to be asked by the same manners as the others."""
        host = Host(-1, name, delay_s=self._delay_s, ready_at=self.rests_until, held="it has no pages")
        host.addresses = addresses
        host.address = self.addresses.setdefault(addresses[0] if addresses else name, Address())
        return host

    def keep_place(self, host: Host) -> Address | None:
        """Let nobody who comes later be admitted to the address of a host before this one was asked; return it."""
        if host.address is not None:
            host.address.in_flight += 1
            host.address.kept += 1
        return host.address

    def give_place(self, address: Address | None) -> None:
        """Give up the place that was kept: the request begins now, or never will."""
        if address is not None:
            address.in_flight -= 1
            address.kept -= 1

    def rested(self, host: Host, now: float) -> bool:
        """Whether a host for which a place is kept may be asked: it has rested, and so has its address."""
        address = host.address
        free = address is None or (address.in_flight - address.kept < self._per_ip and address.ready_at <= now)
        return free and not host.in_flight and host.ready_at <= now

    def release(self, host: Host) -> None:
        """Let a host offer pages again, whose chosen page was not asked for or whose rest was changed."""
        self._rest(host)

    def began(self, host: Host, now: float) -> None:
        """Take note of a request to `host` that starts now."""
        host.in_flight += 1
        ready_at = now + host.delay_s
        if ready_at > host.ready_at:
            host.ready_at = ready_at
        address = host.address
        if address is not None:
            address.in_flight += 1
            ready_at = now + self._ip_delay_s
            if ready_at > address.ready_at:
                address.ready_at = ready_at
        if self._per_host > 1:
            self._rest(host)

    def ended(self, host: Host, now: float) -> None:
        """Take note of its end; with one connection a host the rest is counted from here: gaps hold at the server."""
        host.in_flight -= 1
        ready_at = now + host.delay_s
        if ready_at > host.ready_at and self._per_host == 1:
            host.ready_at = ready_at
        address = host.address
        if address is not None:
            address.in_flight -= 1
            if address.waiting:
                self._admit(address, now)
        if not host.held and host.in_flight < self._per_host:  # `_rest`, without a call
            self._rested.append(host.number)
            self._rested_at.append(host.ready_at)

    def wait_s(self, host: Host, now: float) -> float:
        """Return how long to wait before looking whether a host may be asked for what is no page; 0 if it may be now.

        What waits on a host takes part in its turns; this is for whoever asks beside them.
        """
        address = host.address
        ready_at = max(host.ready_at, address.ready_at if address else 0.0)
        if ready_at > now:
            return ready_at - now
        busy = host.held or host.in_flight >= self._per_host
        if busy or (address is not None and address.in_flight >= self._per_ip):
            return max(LOOK_S, host.delay_s / 2)  # its next rest is longer than that, so it is not missed
        return 0.0

    def _rest(self, host: Host) -> None:
        """Let a host be looked at when it has rested, from the next choice on; unless it is busy or held."""
        if not host.held and host.in_flight < self._per_host:
            self._rested.append(host.number)
            self._rested_at.append(host.ready_at)

    def _gate(self, address: Address, now: float) -> None:
        """See to it that hosts that wait for an address are looked at again."""
        if not address.gated:
            address.gated = True
            when = address.ready_at if address.ready_at > now else now + GATE_S
            heapq.heappush(self._gates, (when, next(self._order), address))

    def _open_gates(self, now: float) -> None:
        while self._gates and self._gates[0][0] <= now:
            _, _, address = heapq.heappop(self._gates)
            address.gated = False
            self._admit(address, now)

    def _admit(self, address: Address, now: float) -> None:
        """Let some of the hosts that wait for an address be offered again, if it may be asked; the others later."""
        if address.in_flight < self._per_ip and address.ready_at <= now:
            for _ in range(min(AT_ONCE, len(address.waiting))):
                self._rest(address.waiting.popleft())
        if address.waiting:
            self._gate(address, now)
