"""What a partition owes to the others and has received from them, as a fold of its journal.

Cash for pages of others waits in the cells that their URLs have here. A letter takes it out of them: the event
`LetterSent` names the cells and amounts, and defines the letter until its `LetterSettled`. At the receiver, the event
`LetterReceived` applies it exactly once: letters from one sender are applied in the order of their numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from evercrawl.arrays.reserved import reserve
from evercrawl.store.journal.codec import decode_slots

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.store.cash.cashbook import Cashbook
    from evercrawl.store.journal.post_events import LetterReceived, LetterSent, LetterSettled
    from evercrawl.store.post.ownership import Ownership
    from evercrawl.types import Flags, Floats, Keys, Slots

_HOSTS = 1 << 28


class Peer(msgspec.Struct):
    """What was exchanged between this partition and one other.

    Attributes
    ----------
    told
        Slots before this one have been announced in letters, as far as they concern the other.
    sent, sent_cash
        Number of the last letter to it, and the total cash in all letters to it.
    unsettled
        Unacknowledged letters: number -> journal pointer of the `LetterSent` event.
    applied, applied_cash
        Number of the last letter from it that was applied, and the total cash in these.
    incarnation
        The highest incarnation in its letters.
    """

    told: int = 0
    sent: int = 0
    sent_cash: float = 0.0
    unsettled: dict[int, int] = {}
    applied: int = 0
    applied_cash: float = 0.0
    incarnation: int = 0


class _Saved(msgspec.Struct, array_like=True):
    peers: list[Peer]
    waiting_keys: bytes
    waiting: bytes


class PostBook:
    """The exchange with all other partitions.

    Parameters
    ----------
    ownership
        Decides which partition owns which host.

    Attributes
    ----------
    peers
        By partition; the entry of this partition stays empty.
    waiting
        Cash for URLs that are unknown here, by key; they receive it when they become known.
    """

    def __init__(self, ownership: Ownership) -> None:
        self.ownership = ownership
        self.peers = [Peer() for _ in range(ownership.parts)]
        self.waiting: dict[int, float] = {}
        self._owners = reserve(np.uint16, _HOSTS)
        self._hosts = 0

    def note_hosts(self, names: Iterable[str]) -> None:
        """Record the owners of the hosts with the next numbers."""
        for name in names:
            self._owners[self._hosts] = self.ownership.of(name)
            self._hosts += 1

    def owner_of(self, host: int) -> int:
        """Return the partition that owns a host, by the host's number."""
        return int(self._owners[host])

    def owners_of(self, hosts: Slots) -> Slots:
        """Return the partition that owns each of some hosts, shape (n,)."""
        return self._owners[hosts].astype(np.uint32)

    def owns(self, host: int) -> bool:
        """Return whether this partition owns a host."""
        return int(self._owners[host]) == self.ownership.number

    def owned(self, hosts: Slots) -> Flags:
        """Return whether this partition owns each of some hosts, shape (n,)."""
        mine: Flags = self._owners[hosts] == self.ownership.number
        return mine

    # The fold

    def sent(self, event: LetterSent, pointer: int, number: int, cashbook: Cashbook) -> None:
        """Take the cash of a letter out of the cells here."""
        peer, amounts = self.peers[event.to], np.frombuffer(event.amounts)
        assert event.number == peer.sent + 1, "letters are numbered one after another"
        cashbook.move(decode_slots(event.slots), -amounts, number)
        peer.sent, peer.told = event.number, event.upto
        peer.sent_cash += math.fsum(amounts)
        peer.unsettled[event.number] = pointer

    def received(self, event: LetterReceived, number: int, cashbook: Cashbook) -> None:
        """Add the cash of a letter to the cells here; cash for unknown URLs waits."""
        peer, amounts, left = self.peers[event.sender], np.frombuffer(event.amounts), np.frombuffer(event.left)
        assert event.number == peer.applied + 1, "letters are applied in the order of their numbers, once each"
        cashbook.move(decode_slots(event.slots), amounts, number)
        for key, amount in zip(np.frombuffer(event.keys, np.uint64).tolist(), left.tolist(), strict=True):
            self.waiting[key] = self.waiting.get(key, 0.0) + amount
        peer.applied, peer.incarnation = event.number, max(peer.incarnation, event.incarnation)
        peer.applied_cash += math.fsum((*amounts, *left))

    def settled(self, event: LetterSettled) -> None:
        """Forget acknowledged letters."""
        unsettled = self.peers[event.to].unsettled
        for letter in [each for each in unsettled if each <= event.upto]:
            del unsettled[letter]

    def welcome(self, first: int, keys: Keys, number: int, cashbook: Cashbook) -> None:
        """Pay URLs that become known, with slots from `first` on, the cash that has waited for them."""
        found = [(slot, key) for slot, key in enumerate(keys.tolist(), first) if key in self.waiting]
        if found:
            slots = np.array([slot for slot, _ in found], np.uint32)
            cashbook.move(slots, np.array([self.waiting.pop(key) for _, key in found]), number)

    # Stored in snapshots

    def save(self) -> bytes:
        """Return everything except the owners of hosts."""
        keys = np.fromiter(self.waiting, np.uint64, len(self.waiting))
        amounts: Floats = np.fromiter(self.waiting.values(), np.float64, len(self.waiting))
        return msgspec.msgpack.encode(_Saved(self.peers, keys.tobytes(), amounts.tobytes()))

    def restore(self, data: bytes) -> None:
        """Restore what `save` returned."""
        saved = msgspec.msgpack.decode(data, type=_Saved)
        self.peers = saved.peers
        keys, amounts = np.frombuffer(saved.waiting_keys, np.uint64), np.frombuffer(saved.waiting)
        self.waiting = dict(zip(keys.tolist(), amounts.tolist(), strict=True))
