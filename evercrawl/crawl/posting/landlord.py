"""Leases addresses to partitions, each address to one at a time: those whose keys fall to this partition."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from evercrawl.store.post.messages import LeaseAsk, LeaseBack, LeaseCensus, LeaseGrant, LeasesHeld

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.post.messages import Message

LEASE_S: Final = 10.0
"""The time for which a partition may request an address, from when it asked."""
WAIT_S: Final = 0.25
"""The time after which a host whose address is not leased is tried again."""
SHUT_S: Final = 1.0
"""The time after which the hosts of a requested address are tried again, if it is not leased before."""
_CENSUS_S: Final = 1.0
_PATIENT: Final = 64
"""The highest number of partitions that wait for one address; others ask again anyway."""


@dataclass(slots=True)
class _Let:
    """A leased address: the holder, the latest end, the time of its first use, and the partitions that wait for it."""

    sender: int
    incarnation: int
    serial: int
    until: float
    ready_at: float = 0.0
    waiting: deque[LeaseAsk] = field(default_factory=deque["LeaseAsk"])


class Landlord:
    """Leases addresses.

    A lease is over when it is given back, or so long after its end that no exchange under it can be under way. Leases
    are not stored: after a restart, the landlord asks all other partitions for theirs. It grants nothing until they
    have answered, or until any lease they may hold is over.

    Parameters
    ----------
    cluster, number, parts, incarnation
        The crawl, this partition's number, the number of partitions, and the number of this partition's life.
    send
        Sends a message.
    exchange_s
        The longest duration of an exchange.
    rest_s
        The rest of an address between two partitions.
    """

    def __init__(
        self,
        cluster: str,
        number: int,
        parts: int,
        incarnation: int,
        send: Callable[[Message], None],
        *,
        exchange_s: float,
        rest_s: float,
    ) -> None:
        self._cluster, self._number, self._incarnation = cluster, number, incarnation
        self._send, self._over_s, self._rest_s = send, LEASE_S + exchange_s, rest_s
        self._let, self._rests = dict[int, _Let](), dict[int, float]()
        self._unheard = set(range(parts)) - {number}
        self._closed_until: float | None = None
        self._census_at = 0.0

    @property
    def let(self) -> int:
        """The number of leased addresses."""
        return len(self._let)

    def next_at(self) -> float:
        """Return the time of the next thing to do, apart from messages."""
        return self._census_at if self._unheard else float("inf")

    def turn(self, now: float) -> None:
        """Ask the partitions that have not answered for their leases; end leases that must be over."""
        if self._closed_until is None:
            self._closed_until = now + self._over_s
        if self._unheard and now >= self._closed_until:
            self._unheard.clear()
        if self._unheard and now >= self._census_at:
            self._census_at = now + _CENSUS_S
            for to in sorted(self._unheard):
                self._send(LeaseCensus(self._cluster, self._number, self._incarnation, to))
        if now >= self._census_at:
            self._census_at = now + _CENSUS_S
            for key, let in list(self._let.items()):
                if let.until <= now:
                    self._next(key, let, now)
            for key in [key for key, until in self._rests.items() if until <= now]:
                del self._rests[key]

    def counted(self, message: LeasesHeld, now: float) -> None:
        """Take note of the leases that a partition holds."""
        if message.asked_by != self._incarnation or message.sender not in self._unheard:
            return
        self._unheard.discard(message.sender)
        for key, serial in message.held.items():
            self._let[key] = _Let(message.sender, message.incarnation, serial, now + self._over_s)

    def asked(self, ask: LeaseAsk, now: float) -> None:
        """Lease an address, or queue the partition that asks."""
        if self._unheard:
            return  # it asks again
        let = self._let.get(ask.key)
        if let is None:
            self._grant(ask, now, self._rests.pop(ask.key, 0.0))
        elif let.sender != ask.sender:
            for place, each in enumerate(let.waiting):
                if each.sender == ask.sender:
                    let.waiting[place] = max(each, ask, key=lambda one: (one.incarnation, one.asked_at))
                    return
            if len(let.waiting) < _PATIENT:
                let.waiting.append(ask)
        elif ask.incarnation > let.incarnation:  # its exchanges ended with its last life
            self._grant(ask, now, now + self._rest_s, let.waiting)
        elif ask.incarnation == let.incarnation and ask.serial == let.serial and not (ask.holds and let.waiting):
            self._grant(ask, now, let.ready_at, let.waiting)

    def given_back(self, back: LeaseBack, now: float) -> None:
        """End a lease, and lease its address to the next partition in the queue."""
        let = self._let.get(back.key)
        if let is not None and (let.sender, let.incarnation, let.serial) == (
            back.sender, back.incarnation, back.serial,
        ):  # fmt: skip
            self._next(back.key, let, now)

    def _next(self, key: int, let: _Let, now: float) -> None:
        del self._let[key]
        if not let.waiting:
            self._rests[key] = now + self._rest_s
        else:
            ask = let.waiting.popleft()
            self._grant(ask, now, now + self._rest_s, let.waiting)

    def _grant(self, ask: LeaseAsk, now: float, ready_at: float, waiting: deque[LeaseAsk] | None = None) -> None:
        self._let[ask.key] = _Let(
            ask.sender,
            ask.incarnation,
            ask.serial,
            now + self._over_s,
            ready_at,
            deque() if waiting is None else waiting,
        )
        self._send(
            LeaseGrant(
                self._cluster, self._number, self._incarnation, ask.sender, ask.key, ask.serial, ask.asked_at, LEASE_S,
                max(ready_at - now, 0.0),
            )
        )  # fmt: skip
