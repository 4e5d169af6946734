"""Addresses that this partition alone may request for a while: names of many sites lead to one machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.posting.landlord import LEASE_S, SHUT_S, Landlord
from evercrawl.store.post.messages import LeaseAsk, LeaseBack, LeaseCensus, LeaseGrant, LeasesHeld

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.post.messages import LeaseMessage, Message

LOOK_S: Final = 0.25  # how often is looked whether a lease is over
_AGAIN_S: Final = 1.0
_MOST: Final = 1 << 16
"""Addresses of which is remembered how often they were given back."""


@dataclass(slots=True)
class _Lease:
    """From when, and until when, an address may be requested; when it was last asked for."""

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
        As of `Landlord`; one lets those addresses here that fall to this partition.
    under_way
        Key of an address -> exchanges under way there.
    exchange_s, rest_s
        As of `Landlord`.
    granted
        Told which address may be requested, and from when.
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
        self._own: list[LeaseMessage] = []  # to this partition itself
        self._leases = dict[int, _Lease]()
        self._serials = dict[int, int]()
        self._landlords = dict[int, int]()  # the highest incarnation of each, as far as is known
        self._first, self._look_at = 1, 0.0
        self._landlord = Landlord(cluster, number, parts, incarnation, self._send, exchange_s=exchange_s, rest_s=rest_s)

    @property
    def held(self) -> int:
        """How many addresses this partition may request."""
        return sum(lease.is_held for lease in self._leases.values())

    @property
    def let(self) -> int:
        """How many addresses it lets, to itself or to others."""
        return self._landlord.let

    def may(self, key: int, now: float) -> bool:
        """Whether an address may be requested now; if not, it is asked for."""
        lease = self._leases.get(key)
        if lease is None:
            lease = self._leases[key] = _Lease()
        held = lease.is_held
        again_at = max(lease.asked_at + _AGAIN_S, lease.until - LEASE_S / 2)  # while it lasts, from its middle on
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
        """Return when to look again at an address that may not be requested, if nothing comes before."""
        lease = self._leases.get(key)
        return lease.since if lease is not None and now < lease.since < lease.until else now + SHUT_S

    def next_at(self) -> float:
        """Return when there is next something to do, beside what comes."""
        return min(self._look_at, self._landlord.next_at()) if not self._own else 0.0

    def turn(self, now: float) -> None:
        """Give back what is over, and let addresses."""
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
        """Take a message in."""
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
            return  # whoever lets it has begun anew, and does not know of this
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
        if len(self._serials) >= _MOST:  # none of them may ever be used again
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
