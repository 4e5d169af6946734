"""Leases of addresses: a leased address is requested by this partition alone, although many sites may share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.posting.landlord import LEASE_S, SHUT_S, Landlord
from evercrawl.store.post.messages import LeaseAsk, LeaseBack, LeaseCensus, LeaseGrant, LeasesHeld

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.post.messages import LeaseMessage, Message

LOOK_S: Final = 0.25  # the interval at which ends of leases are checked
_AGAIN_S: Final = 1.0
MOST_SERIALS: Final = 1 << 16
"""The highest number of addresses for which the number of returned leases is remembered."""


@dataclass(slots=True)
class _Lease:
    """The start and end of a lease, and the time when it was last asked for."""

    since: float = float("inf")
    until: float = float("-inf")
    asked_at: float = float("-inf")

    @property
    def is_held(self) -> bool:
        return self.until > float("-inf")


class IpLeases:
    """The addresses that this partition may request.

    Parameters
    ----------
    cluster, number, parts, incarnation, send
        As for `Landlord`; the landlord of this partition leases the addresses that fall to it.
    under_way
        Key of an address -> number of exchanges under way there.
    exchange_s, rest_s
        As for `Landlord`.
    granted
        Called with the key of an address that may be requested, and from when.
    """

    def __init__(
        self,
        cluster: str,
        number: int,
        parts: int,
        incarnation: int,
        send: Callable[[Message], None],
        under_way: Callable[[int], int],
        *,
        exchange_s: float,
        rest_s: float,
        granted: Callable[[int, float], None] = lambda key, since: None,
    ) -> None:
        self._cluster, self._number, self._parts, self._incarnation = cluster, number, parts, incarnation
        self._carry, self._under_way, self._granted_at = send, under_way, granted
        self._own: list[LeaseMessage] = []  # messages to this partition itself
        self._leases = dict[int, _Lease]()
        self._serials = dict[int, int]()
        self._landlords = dict[int, int]()  # by landlord: its highest known incarnation
        self._first, self._look_at = 1, 0.0
        self._landlord = Landlord(cluster, number, parts, incarnation, self._send, exchange_s=exchange_s, rest_s=rest_s)

    @property
    def held(self) -> int:
        """The number of addresses that this partition may request."""
        return sum(lease.is_held for lease in self._leases.values())

    @property
    def let(self) -> int:
        """The number of addresses that it leases, to itself or to others."""
        return self._landlord.let

    def may(self, key: int, now: float) -> bool:
        """Whether an address may be requested now; if not, ask for a lease."""
        lease = self._leases.get(key)
        if lease is None:
            lease = self._leases[key] = _Lease()
        held = lease.is_held
        again_at = max(lease.asked_at + _AGAIN_S, lease.until - LEASE_S / 2)  # a lease is renewed from its middle on
        if now >= again_at and (not held or now < lease.until):
            lease.asked_at = now
            serial = self._serials.get(key, self._first)
            self._send(
                LeaseAsk(
                    self._cluster, self._number, self._incarnation, key % self._parts, key, serial, now, holds=held
                )
            )
        return lease.since <= now < lease.until

    def shut_until(self, key: int, now: float) -> float:
        """Return when to check again an address that may not be requested, if no message comes before."""
        lease = self._leases.get(key)
        return lease.since if lease is not None and now < lease.since < lease.until else now + SHUT_S

    def next_at(self) -> float:
        """Return the time of the next thing to do, apart from messages."""
        return min(self._look_at, self._landlord.next_at()) if not self._own else 0.0

    def turn(self, now: float) -> None:
        """Give back leases that are over, and run this partition's landlord."""
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            for key, lease in list(self._leases.items()):
                if lease.is_held and now >= lease.until and not self._under_way(key):
                    self._give_back(key)
                elif not lease.is_held and now >= lease.asked_at + 2 * LEASE_S:
                    del self._leases[key]
        self._landlord.turn(now)
        while self._own:
            own, self._own = self._own, []
            for message in own:
                self.hear(message, now)

    def hear(self, message: LeaseMessage, now: float) -> None:
        """Process a message."""
        if isinstance(message, LeaseGrant):
            self._granted(message, now)
        elif isinstance(message, LeaseAsk):
            self._landlord.asked(message, now)
        elif isinstance(message, LeaseBack):
            self._landlord.given_back(message, now)
        elif isinstance(message, LeaseCensus):
            self._count(message)
        else:
            self._landlord.counted(message, now)

    def _granted(self, grant: LeaseGrant, now: float) -> None:
        lease = self._leases.get(grant.key)
        known = self._landlords.get(grant.sender, 0)
        if grant.incarnation < known:
            return  # the landlord has restarted since, and does not know of this lease
        self._landlords[grant.sender] = grant.incarnation
        current = self._serials.get(grant.key, self._first)
        if lease is None or grant.serial != current:
            self._send(LeaseBack(self._cluster, self._number, self._incarnation, grant.sender, grant.key, grant.serial))
            if grant.serial == current:
                self._serials[grant.key] = current + 1
            return
        until = grant.asked_at + grant.lasts_s
        if not lease.is_held:
            lease.since = now + grant.rest_s
        lease.until = max(lease.until, until)
        self._granted_at(grant.key, lease.since)

    def _give_back(self, key: int) -> None:
        serial = self._serials.get(key, self._first)
        del self._leases[key]
        if len(self._serials) >= MOST_SERIALS:  # none of them may ever be used again
            self._first = max(self._serials.values()) + 1
            self._serials.clear()
        self._serials[key] = max(serial, self._first) + 1
        self._send(LeaseBack(self._cluster, self._number, self._incarnation, key % self._parts, key, serial))

    def _count(self, census: LeaseCensus) -> None:
        self._landlords[census.sender] = max(self._landlords.get(census.sender, 0), census.incarnation)
        if census.incarnation < self._landlords[census.sender]:
            return
        held = {
            key: self._serials.get(key, self._first)
            for key, lease in self._leases.items()
            if lease.is_held and key % self._parts == census.sender
        }
        self._send(LeasesHeld(self._cluster, self._number, self._incarnation, census.sender, census.incarnation, held))

    def _send(self, message: Message) -> None:
        if message.to == self._number:
            self._own.append(message)  # type: ignore[arg-type]
        else:
            self._carry(message)
