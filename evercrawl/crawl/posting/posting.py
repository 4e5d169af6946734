"""Sends cash and URLs to the partitions that own them, and applies what they send: each letter once, in order.

Cash for pages of other partitions gathers in their cells here. Now and then a letter takes it out of the cells. The
letter leaves once its event is on the disk, and is sent again until the receiver has confirmed that it is applied for
good. A receiver applies the letters of each sender in the order of their numbers, and confirms a letter once that is
on its disk. So letters may be lost, doubled, delayed and reordered, and either end may be killed, without creating or
losing cash.

References
----------
Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 6: cash is exchanged in
batches.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.blocks import LETTERS
from evercrawl.arrays.reserved import reserve
from evercrawl.crawl.posting.sound import ENTRIES, belongs
from evercrawl.store.journal.codec import decode_slots, encode_slots
from evercrawl.store.journal.post_events import LetterReceived, LetterSent, LetterSettled
from evercrawl.store.post.messages import Letter, LetterApplied, NamedUrl
from evercrawl.types import NO_SLOT, Flags, Slots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.crawl.learn.learning import Learner
    from evercrawl.crawl.posting.carrier import Carrier
    from evercrawl.crawl.storing import Storing
    from evercrawl.store.partition import Partition
    from evercrawl.store.post.messages import Message

UNSETTLED: Final = 4
"""The highest number of letters under way to one partition."""
AGAIN_S: Final = 2.0
"""The time after which an unconfirmed letter is sent again; it doubles each time."""
AGAIN_MOST_S: Final = 30.0
_NONE: Final[Slots] = np.zeros(0, np.uint32)


def every_s(parts: int) -> float:
    """Return how long cash and URLs gather before they are sent (s); it grows with the number of partitions.

    >>> every_s(4), every_s(64)
    (0.5, 6.4)
    """
    return max(0.5, parts / 10)


class Posting:
    """The letters of one partition.

    Parameters
    ----------
    partition, learner, storing, post
        The crawl's state; makes URLs known; tells what is on the disk; carries messages.

    Attributes
    ----------
    letters, entries
        The number of letters written in this run, and of the cells and URLs in them.
    elsewhere
        The number of URLs that others own, among those whose owners were looked up.
    stale
        The number of refused letters, confirmations and URLs: of an earlier life of their sender, of letters that were
        never written, and of hosts that the sender may not name.
    """

    def __init__(self, partition: Partition, learner: Learner, storing: Storing, post: Carrier) -> None:
        book = partition.state.post
        assert book is not None, "a crawl of one partition has no letters"
        self._partition, self._state, self._book = partition, partition.state, book
        self._learner, self._storing, self._post = learner, storing, post
        share = book.ownership.share
        self._cluster, self._number, self._parts = share.cluster, share.number, share.parts
        self._others = [number for number in range(share.parts) if number != share.number]
        self._every_s, self._write_at = every_s(share.parts), 0.0
        self._owed = dict.fromkeys(self._others, _NONE)  # by partition: cells that may hold cash for it
        self._owners = reserve(np.uint8, len(self._state.table.cash))  # by slot
        self._looked, self._all = 0, True  # slots whose owners are known; whether to check every cell
        self._unnamed = {number: list[int]() for number in self._others}  # by partition: slots that no letter has named
        self._leaving: deque[tuple[int, int, int]] = deque()  # sequence, to, number: written, not on the disk
        self._thanks: deque[tuple[int, int, int]] = deque()  # the same of applied letters
        self._again: dict[tuple[int, int], tuple[float, float]] = {}  # letter -> when to send it again, next wait
        self.letters = self.entries = self.stale = self.elsewhere = 0
        for to in self._others:
            for number in book.peers[to].unsettled:
                self._again[to, number] = 0.0, AGAIN_S

    @property
    def under_way(self) -> int:
        """The number of letters that are not confirmed, plus that of received letters that are not on the disk."""
        return sum(len(self._book.peers[to].unsettled) for to in self._others) + len(self._thanks)

    @property
    def passed(self) -> int:
        """The number of letters ever written or applied."""
        return sum(peer.sent + peer.applied for peer in self._book.peers)

    def idle(self) -> bool:
        """Whether nothing is owed to any partition, and nothing is under way."""
        self._gather()
        return not self.under_way and not any(len(self._owed[to]) or self._unnamed[to] for to in self._others)

    def next_at(self) -> float:
        """Return the time of the next thing to do, apart from messages."""
        again = min((at for at, _ in self._again.values()), default=float("inf"))
        return min(self._write_at, again)

    def turn(self, now: float, messages: Sequence[Message]) -> bool:
        """Process sound messages, and write letters for what is owed; return whether there are new events."""
        before = self._partition.journal.sequence
        for message in messages:
            if isinstance(message, Letter):
                self._receive(message, now)
            elif isinstance(message, LetterApplied):
                self._settle(message, now)
        if now >= self._write_at:
            self._write_at = now + self._every_s
            self._gather()
            for to in self._others:
                self._write(to, now)
        self._dispatch(now)
        return self._partition.journal.sequence > before

    # Outgoing letters

    def _gather(self) -> None:
        """Find the cells of others' pages that may hold cash, and the URLs that were not yet sent to their owners."""
        state, book = self._state, self._book
        known, bits = state.known.count, state.table.changed_cash.bits
        for first in range(self._looked, known, 1 << 16):
            stop = min(first + (1 << 16), known)
            rows = state.known.rows(first, stop)
            self._owners[first:stop] = book.owners_of(rows["host"])
            self.elsewhere += int(np.count_nonzero(self._owners[first:stop] != self._number))
            for to in self._others:
                new = np.flatnonzero(self._concerns(rows, to)) + first
                self._unnamed[to] += new[new >= book.peers[to].told].tolist()
        self._looked = known
        blocks = state.table.changed_cash.take(known, LETTERS)
        if self._all:
            self._all, blocks = False, np.arange((known + (1 << bits) - 1) >> bits, dtype=np.uint32)
        parts: list[Slots] = []
        for block in blocks.tolist():
            first = block << bits
            cells = state.table.cash[first : min(first + (1 << bits), known)]
            parts.append((np.flatnonzero(cells) + first).astype(np.uint32))
        changed = np.concatenate(parts) if parts else _NONE
        if len(changed):
            owners = self._owners[changed]
            for to in self._others:
                self._owed[to] = np.union1d(self._owed[to], changed[owners == to])

    def _concerns(self, rows: NDArray[Any], to: int) -> Flags:
        """Return which URLs a partition has to know: its own, and this one's seeds, whose hosts are in every scope."""
        owners = self._book.owners_of(rows["host"])
        wanted: Flags = (owners == to) | ((rows["depth"] == 0) & (owners == self._number))
        return wanted

    def _write(self, to: int, now: float) -> None:
        """Write letters to a partition while something is owed and fewer than `UNSETTLED` are under way."""
        peer = self._book.peers[to]
        while len(peer.unsettled) < UNSETTLED:
            slots, unnamed = self._owed[to][:ENTRIES], self._unnamed[to][:ENTRIES]
            slots = slots[self._state.table.cash[slots] != 0.0]
            self._owed[to], self._unnamed[to] = self._owed[to][ENTRIES:], self._unnamed[to][ENTRIES:]
            if not len(slots) and not unnamed:
                if len(self._owed[to]):
                    continue
                return
            upto = unnamed[-1] + 1 if unnamed else peer.told
            amounts = self._state.table.cash[slots].copy()
            number = peer.sent + 1
            event = LetterSent(now, to, number, encode_slots(slots), amounts.tobytes(), peer.told, max(upto, peer.told))
            self._partition.remember(event)
            self._leaving.append((self._partition.journal.sequence, to, number))
            self.letters += 1
            self.entries += len(slots) + len(unnamed)

    def _dispatch(self, now: float) -> None:
        """Send letters that have reached the disk, and resend those that are not confirmed."""
        stored = self._storing.stored
        while self._leaving and self._leaving[0][0] <= stored:
            _, to, number = self._leaving.popleft()
            self._again[to, number] = now, AGAIN_S
        while self._thanks and self._thanks[0][0] <= stored:
            _, sender, upto = self._thanks.popleft()
            self._thank(sender, upto)
        for (to, number), (at, wait_s) in list(self._again.items()):
            pointer = self._book.peers[to].unsettled.get(number)
            if pointer is None:
                del self._again[to, number]
            elif at <= now:
                self._again[to, number] = now + wait_s, min(2 * wait_s, AGAIN_MOST_S)
                self._post.send(self._letter(pointer))

    def _letter(self, pointer: int) -> Letter:
        """Rebuild a letter from its event."""
        event = self._partition.journal.read(pointer)
        assert isinstance(event, LetterSent), "a letter is what its event says"
        keys = np.array([self._key(slot) for slot in decode_slots(event.slots).tolist()], np.uint64)
        return Letter(
            self._cluster, self._number, self._post.incarnation, event.to, event.number, keys.tobytes(), event.amounts,
            self._named(event),
        )  # fmt: skip

    def _key(self, slot: int) -> int:
        return int(self._state.known.row(slot)["key"])

    def _named(self, event: LetterSent) -> list[NamedUrl]:
        """Return the URLs that a letter names."""
        rows = self._state.known.rows(event.first, event.upto)
        wanted = np.flatnonzero(self._concerns(rows, event.to))
        texts = self._state.urls.get_many((wanted + event.first).tolist())
        found = zip(texts, rows["depth"][wanted].tolist(), rows["hops"][wanted].tolist(), strict=True)
        return [NamedUrl(*each) for each in found if each[0]]  # a forgotten URL has no text

    # Incoming letters

    def _receive(self, letter: Letter, now: float) -> None:
        """Apply a letter if it is the next of its sender."""
        peer = self._book.peers[letter.sender]
        if letter.incarnation < peer.incarnation:
            self.stale += 1
            return
        if letter.number != peer.applied + 1:
            if letter.number <= peer.applied and not any(sender == letter.sender for _, sender, _ in self._thanks):
                self._thank(letter.sender, peer.applied)
            return
        named = [each for each in letter.urls if belongs(each, letter.sender, self._book.ownership)]
        self.stale += len(letter.urls) - len(named)
        self._learner.admit_named(named, now)
        keys, amounts = np.frombuffer(letter.keys, np.uint64), np.frombuffer(letter.amounts)
        slots = self._state.table.find(keys)
        here = np.flatnonzero(slots != NO_SLOT)
        here = here[np.argsort(slots[here], kind="stable")]
        away = slots == NO_SLOT
        self._partition.remember(
            LetterReceived(
                now, letter.sender, letter.incarnation, letter.number, encode_slots(slots[here]),
                amounts[here].tobytes(), keys[away].tobytes(), amounts[away].tobytes(),
            )
        )  # fmt: skip
        self._thanks.append((self._partition.journal.sequence, letter.sender, letter.number))

    def _settle(self, message: LetterApplied, now: float) -> None:
        peer = self._book.peers[message.sender]
        if message.incarnation < peer.incarnation or message.upto > peer.sent:
            self.stale += 1
        elif any(number <= message.upto for number in peer.unsettled):
            self._partition.remember(LetterSettled(now, message.sender, message.upto))

    def _thank(self, sender: int, upto: int) -> None:
        self._post.send(LetterApplied(self._cluster, self._number, self._post.incarnation, sender, upto))
