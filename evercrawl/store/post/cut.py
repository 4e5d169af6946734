"""A state of all partitions in which their journals fit together, found from the journals alone.

A letter is an event at its sender, then one at its receiver, and, after the acknowledgement, another one at its
sender. Copies of journals made at different times may have the later of two such events without the earlier one. A
crawl that continued from them would lose cash, or have it twice. Of all ends of the journals, each at the end of a
frame, at which no later event is without the earlier one, there is one that is not before any other in any journal:
if two ends are consistent, so is the one with the later end in each journal. It is found by cutting off what is not
consistent, until nothing more is cut off.

What is on the disks at one instant is consistent: a letter leaves once it is on its sender's disk, and an
acknowledgement once it is on the receiver's. So if each copy was finished after some instant, nothing is cut off that
was on a disk then.

References
----------
Chandy, Lamport (1985). Distributed Snapshots: Determining Global States of Distributed Systems. ACM TOCS 3 (1): a cut
is consistent if it has the sending of whatever it has the receipt of.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.store.journal.post_events import LetterReceived, LetterSent, LetterSettled
from evercrawl.store.journal.segment import segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.journal.journal import Journal

END: Final = 1 << 62
"""Offset after the end of every journal."""
_KINDS: Final = frozenset(str(event.__struct_config__.tag) for event in (LetterSent, LetterReceived, LetterSettled))


class JournalCut(NamedTuple):
    """A place in a journal at the beginning of a frame.

    Attributes
    ----------
    offset, sequence
        Offset in the journal, and the number of events before it.
    """

    offset: int
    sequence: int


@dataclass
class _Letters:
    """Numbers of letters in the order of their events, each with the frame of its event."""

    numbers: list[int] = field(default_factory=list[int])
    frames: list[JournalCut] = field(default_factory=list[JournalCut])

    def last(self, end: JournalCut) -> int:
        """Return the number of the last letter before a place; 0 if there is none."""
        index = bisect_left(self.frames, end)
        return self.numbers[index - 1] if index else 0

    def after(self, number: int, end: JournalCut) -> JournalCut | None:
        """Return the frame of the first letter with a higher number, if it is before a place."""
        index = bisect_right(self.numbers, number)
        return self.frames[index] if index < len(self.frames) and self.frames[index] < end else None


class LetterAccount:
    """The letters in one journal.

    Attributes
    ----------
    end
        The end of the journal.
    """

    def __init__(self, end: JournalCut) -> None:
        self.end = end
        self._sent = defaultdict[int, _Letters](_Letters)
        self._received = defaultdict[int, _Letters](_Letters)
        self._settled = defaultdict[int, _Letters](_Letters)

    def note(self, event: LetterSent | LetterReceived | LetterSettled, frame: JournalCut) -> None:
        """Take note of the next event about letters, in a frame."""
        if isinstance(event, LetterSent):
            letters, number = self._sent[event.to], event.number
        elif isinstance(event, LetterReceived):
            letters, number = self._received[event.sender], event.number
        else:
            letters, number = self._settled[event.to], event.upto
        letters.numbers.append(number)
        letters.frames.append(frame)

    def sent(self, to: int) -> _Letters:
        """Return the letters sent to a partition."""
        return self._sent[to]

    def received(self, sender: int) -> _Letters:
        """Return the letters of a partition that were applied."""
        return self._received[sender]

    def settled(self, to: int) -> _Letters:
        """Return the letters to a partition that were acknowledged."""
        return self._settled[to]


def account_of(journal: Journal) -> LetterAccount:
    """Return the letters in a journal.

    Raises
    ------
    StoreError
        A frame is damaged.
    """
    account = LetterAccount(JournalCut(END, journal.sequence))
    for pointer, number, event in journal.of_kinds(_KINDS):
        assert isinstance(event, (LetterSent, LetterReceived, LetterSettled)), "only these were asked for"
        account.note(event, JournalCut(pointer >> 8, number - (pointer & 0xFF)))
    return account


def consistent(accounts: Sequence[LetterAccount]) -> list[JournalCut]:
    """Return the latest ends of the journals at which they fit together."""
    ends = [account.end for account in accounts]
    pairs = [(one, to) for one in range(len(ends)) for to in range(len(ends)) if one != to]
    cut = True
    while cut:
        cut = False
        for one, to in pairs:
            sender, receiver = accounts[one], accounts[to]
            unsent = receiver.received(one).after(sender.sent(to).last(ends[one]), ends[to])
            if unsent is not None:
                ends[to], cut = unsent, True
            unapplied = sender.settled(to).after(receiver.received(one).last(ends[to]), ends[one])
            if unapplied is not None:
                ends[one], cut = unapplied, True
    return ends


def cut_journal(disk: Disk, end: JournalCut) -> None:
    """Cut a journal off at the beginning of a frame."""
    for segment in reversed(segments(disk)):
        if segment.start >= end.offset:
            disk.remove(segment.name)
        elif segment.end > end.offset:
            disk.truncate(segment.name, end.offset - segment.start)
            disk.sync(segment.name)
