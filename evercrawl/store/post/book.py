"""What a partition owes to the others, and what it has from them: a fold of its journal.

Cash for pages of others waits in the cells that their URLs have here. A letter takes it out of them: the event
`LetterSent` names the cells and the amounts, and from then on the letter is what the event says until its
`LetterSettled`. At the far end the event `LetterReceived` brings it in, once: letters from one sender are applied in
the order of their numbers.
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
    from evercrawl.store.journal.events import LetterReceived, LetterSent, LetterSettled
    from evercrawl.store.post.ownership import Ownership
    from evercrawl.types import Flags, Floats, Keys, Slots

_HOSTS = 1 << 28


class Peer(msgspec.Struct):
    """What passed between this partition and one other.

    Attributes
    ----------
    told
        Slots before which every URL that concerns the other was named in a letter.
    sent, sent_cash
        Number of the last letter to it, and the cash in all of them.
    unsettled
        Letters that it has not acknowledged: number -> journal pointer of the event that made it.
    applied, applied_cash
        Number of the last letter from it that was applied, and the cash in all of those.
    incarnation
        The highest number of lives that a letter of it named.
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
    """What was sent to other partitions, and what came from them.

    Parameters
    ----------
    ownership
        Who owns which host.

    Attributes
    ----------
    peers
        By partition; of this one, nothing ever happens.
    waiting
        Cash for URLs that are not known here, by key: it goes to them when they become known.
    """

    def __init__(self, ownership: Ownership) -> None:
        self.ownership = ownership
        self.peers = [Peer() for _ in range(ownership.parts)]
        self.waiting: dict[int, float] = {}
        self._owners = reserve(np.uint16, _HOSTS)
        self._hosts = 0

    def note_hosts(self, names: Iterable[str]) -> None:
        """Take note of who owns the hosts with the next numbers."""
        for name in names:
            self._owners[self._hosts] = self.ownership.of(name)
            self._hosts += 1

    def owner_of(self, host: int) -> int:
        """Return which partition owns a host, by its number."""
        return int(self._owners[host])

    def owners_of(self, hosts: Slots) -> Slots:
        """Return which partition owns each of some hosts, shape (n,)."""
        return self._owners[hosts].astype(np.uint32)

    def owns(self, host: int) -> bool:
        """Whether this partition owns a host."""
        return int(self._owners[host]) == self.ownership.number

    def owned(self, hosts: Slots) -> Flags:
        """Whether this partition owns each of some hosts, shape (n,)."""
        mine: Flags = self._owners[hosts] == self.ownership.number
        return mine

    # The fold

    def sent(self, event: LetterSent, pointer: int, number: int, cashbook: Cashbook) -> None:
        """Take what a letter carries out of the cells here."""
        peer, amounts = self.peers[event.to], np.frombuffer(event.amounts)
        assert event.number == peer.sent + 1, "letters are numbered one after another"
        cashbook.move(decode_slots(event.slots), -amounts, number)
        peer.sent, peer.told = event.number, event.upto
        peer.sent_cash += math.fsum(amounts)
        peer.unsettled[event.number] = pointer

    def received(self, event: LetterReceived, number: int, cashbook: Cashbook) -> None:
        """Bring what a letter carried into the cells here; what is for URLs that are not known waits."""
        peer, amounts, left = self.peers[event.sender], np.frombuffer(event.amounts), np.frombuffer(event.left)
        assert event.number == peer.applied + 1, "letters are applied in the order of their numbers, once each"
        cashbook.move(decode_slots(event.slots), amounts, number)
        for key, amount in zip(np.frombuffer(event.keys, np.uint64).tolist(), left.tolist(), strict=True):
            self.waiting[key] = self.waiting.get(key, 0.0) + amount
        peer.applied, peer.incarnation = event.number, max(peer.incarnation, event.incarnation)
        peer.applied_cash += math.fsum((*amounts, *left))

    def settled(self, event: LetterSettled) -> None:
        """Forget the letters that were acknowledged."""
        unsettled = self.peers[event.to].unsettled
        for letter in [each for each in unsettled if each <= event.upto]:
            del unsettled[letter]

    def welcome(self, first: int, keys: Keys, number: int, cashbook: Cashbook) -> None:
        """Let URLs that become known, with slots from `first` on, have the cash that has waited for them."""
        found = [(slot, key) for slot, key in enumerate(keys.tolist(), first) if key in self.waiting]
        if found:
            slots = np.array([slot for slot, _ in found], np.uint32)
            cashbook.move(slots, np.array([self.waiting.pop(key) for _, key in found]), number)

    # Kept in snapshots

    def save(self) -> bytes:
        """Return everything but who owns the hosts."""
        keys = np.fromiter(self.waiting, np.uint64, len(self.waiting))
        amounts: Floats = np.fromiter(self.waiting.values(), np.float64, len(self.waiting))
        return msgspec.msgpack.encode(_Saved(self.peers, keys.tobytes(), amounts.tobytes()))

    def restore(self, data: bytes) -> None:
        """Become what `save` saved."""
        saved = msgspec.msgpack.decode(data, type=_Saved)
        self.peers = saved.peers
        keys, amounts = np.frombuffer(saved.waiting_keys, np.uint64), np.frombuffer(saved.waiting)
        self.waiting = dict(zip(keys.tolist(), amounts.tolist(), strict=True))
