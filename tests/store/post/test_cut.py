"""Cuts of journals that fit together, for random histories of letters that are copied at random times."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.post_events import LetterReceived, LetterSent, LetterSettled
from evercrawl.store.journal.segment import segments
from evercrawl.store.post.cut import END, JournalCut, LetterAccount, account_of, consistent, cut_journal

LettersEvent = LetterSent | LetterReceived | LetterSettled


def sent(to: int, number: int) -> LetterSent:
    return LetterSent(0.0, to, number, b"", b"", 0, 0)


class History:
    """Journals of partitions that exchange letters, event by event; a letter leaves some time after it is written."""

    def __init__(self, parts: int, seed: int) -> None:
        self.parts, self.draw = parts, random.Random(seed)
        self.journals: list[list[LettersEvent]] = [[] for _ in range(parts)]
        self.stored = [0] * parts  # events on the disk
        self.numbers = dict.fromkeys([(one, to) for one in range(parts) for to in range(parts) if one != to], 0)
        self.applied, self.settled = dict(self.numbers), dict(self.numbers)

    def step(self) -> None:
        one, to = self.draw.choice(list(self.numbers))
        match self.draw.randrange(4):
            case 0:
                self.numbers[one, to] += 1
                self.journals[one].append(sent(to, self.numbers[one, to]))
            case 1:
                there = [each.number for each in self._on_disk(one) if isinstance(each, LetterSent) and each.to == to]
                if len(there) > self.applied[one, to]:
                    self.applied[one, to] += 1
                    self.journals[to].append(LetterReceived(0.0, one, 1, self.applied[one, to]))
            case 2:
                there = [
                    each.number for each in self._on_disk(to) if isinstance(each, LetterReceived) and each.sender == one
                ]
                if len(there) > self.settled[one, to]:
                    self.settled[one, to] = there[-1]
                    self.journals[one].append(LetterSettled(0.0, to, there[-1]))
            case _:
                self.stored[one] = len(self.journals[one])

    def _on_disk(self, number: int) -> list[LettersEvent]:
        return self.journals[number][: self.stored[number]]


def fits(journals: list[list[LettersEvent]]) -> bool:
    """Return whether no journal has an event whose cause another one lacks."""
    for number, journal in enumerate(journals):
        for event in journal:
            if isinstance(event, LetterReceived):
                if sent(number, event.number) not in journals[event.sender]:
                    return False
            elif isinstance(event, LetterSettled):
                got = [
                    each.number
                    for each in journals[event.to]
                    if isinstance(each, LetterReceived) and each.sender == number
                ]
                if event.upto > max(got, default=0):
                    return False
    return True


def accounts(journals: list[list[LettersEvent]], frame: int) -> list[LetterAccount]:
    found = []
    for journal in journals:
        account = LetterAccount(JournalCut(END, len(journal)))
        for number, event in enumerate(journal):
            begun = number // frame * frame
            account.note(event, JournalCut(begun, begun))
        found.append(account)
    return found


@given(st.integers(2, 4), st.integers(0, 10_000), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_copies_made_one_after_the_other_are_cut_to_fit_and_never_behind_the_begin_of_the_backup(parts, seed, frame):
    history = History(parts, seed)
    for _ in range(history.draw.randrange(120)):
        history.step()
    stored, copies = list(history.stored), list[list[LettersEvent]]()
    for number in range(parts):
        copies.append(list(history.journals[number]))
        for _ in range(history.draw.randrange(40)):
            history.step()
    ends = [end.sequence for end in consistent(accounts(copies, frame))]
    assert fits([copy[:end] for copy, end in zip(copies, ends, strict=True)])
    for end, before in zip(ends, stored, strict=True):
        assert end >= before // frame * frame  # here frames end anywhere; in a journal, what is stored ends with one
    for number in range(parts):  # no journal could keep its next frame, even with all that the others have
        more = [copy[:end] for copy, end in zip(copies, ends, strict=True)]
        more[number] = copies[number][: ends[number] + frame]
        assert len(more[number]) == ends[number] or not fits(more)


def test_a_journal_is_cut_at_a_frame_and_goes_on_from_there(tmp_path):
    disk = RealDisk(tmp_path)
    journal = Journal.open(disk, segment_bytes=2000)
    for number in range(1, 200):
        journal.append(sent(1, number))
        journal.append(LetterReceived(0.0, 1, 1, number))
        if number % 3 == 0:
            journal.write(journal.seal())
    journal.write(journal.seal())
    assert len(segments(disk)) > 3
    account = account_of(Journal.open(disk, writable=False))
    assert account.end.sequence == journal.sequence == 398
    other = LetterAccount(JournalCut(END, 0))
    for number in range(1, 100):
        other.note(sent(0, number), JournalCut(number, number))
    ends = consistent([account, other])
    assert ends[1] == other.end
    cut_journal(disk, ends[0])
    again = Journal.open(disk, segment_bytes=2000)
    assert again.repaired == ""
    assert again.sequence == ends[0].sequence
    events = [event for _, _, event in again.replay()]
    assert max(event.number for event in events if isinstance(event, LetterReceived)) == 99 - 99 % 3
    again.append(sent(1, 101))
    again.write(again.seal())
    assert Journal.open(disk, writable=False).sequence == ends[0].sequence + 1
    disk.close()


@pytest.mark.parametrize("first", [True, False])
def test_a_journal_may_be_cut_at_its_very_first_frame(tmp_path, first):
    disk = RealDisk(tmp_path)
    journal = Journal.open(disk, segment_bytes=300)
    for number in range(1, 30):
        journal.append(LetterReceived(0.0, 1, 1, number))
        journal.write(journal.seal())
    account = account_of(journal)
    begun = account.received(1).frames[0 if first else 1]
    cut_journal(disk, begun)
    assert Journal.open(disk).sequence == begun.sequence == (0 if first else 1)
    disk.close()
