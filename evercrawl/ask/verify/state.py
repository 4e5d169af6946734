"""Checks that each event follows from the earlier ones, and that their fold agrees with the state and the files."""

from array import array
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.ask.verify.cash import compare_cash
from evercrawl.ask.verify.findings import Findings
from evercrawl.errors import StoreError
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import (
    CHANGED,
    Bounded,
    Discovery,
    Drawn,
    Event,
    Found,
    Lost,
    Noted,
    Obeyed,
    Passed,
    Switched,
    VirtualSpent,
    Visit,
)
from evercrawl.store.journal.post_events import LetterReceived, LetterSent, LetterSettled
from evercrawl.store.journal.requisite_events import RequisiteFetched, RequisitesNeeded
from evercrawl.store.records.records import RECORD
from evercrawl.store.resuming import to_try
from evercrawl.store.state import State
from evercrawl.store.steering import BEGUN
from evercrawl.store.table.known import FILE as KNOWN_FILE
from evercrawl.store.table.known import KNOWN
from evercrawl.store.table.urllog import LOG as URL_FILE
from evercrawl.types import NO_SLOT, Outcome

_CHUNK: Final = 1 << 20
_OUTCOMES: Final = frozenset({0, *Outcome})


class EventCheck:
    """A check of each event against the fold of the earlier ones, and of URL texts against those on the disk.

    Parameters
    ----------
    folded
        The fold of the events so far; the caller folds an event after its check.
    state
        The state of a resumed crawl: snapshot and tail.
    """

    def __init__(self, folded: State, state: State, found: Findings) -> None:
        self._folded, self._state, self._found = folded, state, found
        self._hosts = array("I")  # of each slot
        self.requisites = array("Q")  # the key of each requisite's URL; 0 if it was forgotten
        self._checks: dict[type[Event], Callable[[Any, int], bool]] = {
            Visit: self._visit,
            Found: self._seeds,
            Passed: self._passed,
            Switched: self._switched,
            VirtualSpent: self._virtual_spent,
            Lost: self._of_a_page,
            Noted: self._noted,
            Drawn: self._of_a_page,
            RequisitesNeeded: self._needed,
            RequisiteFetched: self._requisite,
            Bounded: self._bounded,
            Obeyed: self._obeyed,
            LetterSent: self._letter,
            LetterReceived: self._letter,
            LetterSettled: self._letter,
        }

    def event(self, event: Event, number: int) -> bool:
        """Check one event; return whether it can be folded."""
        return self._checks[type(event)](event, number)

    def _blame(self, number: int, what: str) -> bool:
        self._found.blame(f"journal event {number}: {what}", "journal events")
        return False

    def _is_known(self, slot: int, number: int) -> bool:
        return slot < len(self._hosts) or self._blame(number, f"it names slot {slot} of {len(self._hosts)}")

    def _of_a_page(self, event: Drawn | Lost, number: int) -> bool:
        return self._is_known(event.slot, number)

    def _bounded(self, event: Bounded, number: int) -> bool:
        whole = bool(np.isfinite(list(event.rules.values())).all())
        return whole or self._blame(number, "a rule has no valid start time")

    def _obeyed(self, event: Obeyed, number: int) -> bool:
        before = self._folded.steered.results.get(event.id)
        if before is not None and not (before.state == BEGUN != event.state):
            return self._blame(number, f"order {event.id} is executed a second time")
        if event.state == BEGUN and not self._is_known(event.slot, number):
            return False
        return event.found is None or self._discovery(event.found, number)

    def _needed(self, event: RequisitesNeeded, number: int) -> bool:
        known = len(self.requisites)
        if event.slot != NO_SLOT and not self._is_known(event.slot, number):
            return False
        if event.first != known or (event.slot == NO_SLOT and not 0 <= event.of < known):
            return self._blame(number, f"its first requisite is {event.first}, but the next number is {known}")
        if event.known and int(decode_slots(event.known)[-1]) >= known:
            return self._blame(number, f"it needs a requisite that is not below {known}")
        self.requisites.extend(self._folded.hasher.key(url) if url else 0 for url in event.urls)
        return True

    def _requisite(self, event: RequisiteFetched, number: int) -> bool:
        known = len(self.requisites)
        return event.number < known or self._blame(number, f"it names requisite {event.number} of {known}")

    def _noted(self, event: Noted, number: int) -> bool:
        whole = bool(np.isfinite(list(event.notes.values())).all())
        return whole or self._blame(number, "a note of the policy is not a finite number")

    def _switched(self, event: Switched, number: int) -> bool:
        return event.scheme.width >= 0 or self._blame(number, "its number of values per page is negative")

    def _virtual_spent(self, event: VirtualSpent, number: int) -> bool:
        if len(event.runs) != len(event.amounts) or not np.isfinite(event.amounts).all():
            return self._blame(number, "it does not have one amount per group of pages")
        ends = [int(decode_slots(runs).max(initial=0)) for runs in event.runs]
        beyond = max(ends, default=0) > len(self._hosts)
        return not beyond or self._blame(number, f"it gives cash to a slot beyond {len(self._hosts)}")

    def _letter(self, event: LetterSent | LetterReceived | LetterSettled, number: int) -> bool:
        post = self._folded.post
        if post is None:
            return self._blame(number, "it names another partition, but the crawl has none")
        other = event.sender if isinstance(event, LetterReceived) else event.to
        if other == post.ownership.number or other >= post.ownership.parts:
            return self._blame(number, f"there is no other partition {other}")
        if isinstance(event, LetterSettled):
            return True
        peer = post.peers[other]
        last = peer.applied if isinstance(event, LetterReceived) else peer.sent
        if event.number != last + 1:
            return self._blame(number, f"it is letter {event.number} of its pair, but the next number is {last + 1}")
        slots = decode_slots(event.slots)
        if len(slots) and int(slots[-1]) >= len(self._hosts):
            return self._blame(number, f"it moves cash of a slot beyond {len(self._hosts)}")
        return len(event.amounts) == 8 * len(slots) or self._blame(number, "it does not have one amount per slot")

    def _seeds(self, event: Found, number: int) -> bool:
        return self._discovery(event.found, number)

    def _passed(self, event: Passed, number: int) -> bool:
        if not self._is_known(event.slot, number):
            return False
        if self._folded.record_of(event.slot) is None and event.slot not in self._folded.lost:
            return self._blame(number, f"slot {event.slot} passes on cash, but was never visited")
        return self._fits(event, number)

    def _fits(self, event: Passed | Visit, number: int) -> bool:
        """Check that the event keeps as many numbers per page as the scheme requires."""
        width = self._folded.scheme.width
        fits = len(event.kept) in (0, 8 * width)
        return fits or self._blame(number, f"it keeps {len(event.kept) // 8} numbers per page, not {width}")

    def _discovery(self, new: Discovery, number: int) -> bool:
        folded = self._folded
        if new.first_slot != folded.known.count or len(new.hosts) != len(new.urls):
            return self._blame(number, f"its first slot is {new.first_slot}, but the next slot is {folded.known.count}")
        if new.first_host != len(folded.hosts):
            return self._blame(number, f"its first host is {new.first_host}, but the next is {len(folded.hosts)}")
        if max(new.hosts, default=0) >= len(folded.hosts) + len(new.new_hosts):
            return self._blame(number, "it names a host that no event introduced")
        keys, told = folded.forgotten.keys_of(new, folded.hasher), folded.forgotten.told(new)
        if folded.forgotten and not self._remembers_none(new, number):
            return False
        new = told
        again = folded.table.find(keys) != NO_SLOT
        if again.any() or len(set(new.urls)) != len(new.urls):
            return self._blame(number, "it adds a URL that is already known")
        self._hosts.extend(new.hosts)
        self._texts(new)
        return True

    def _remembers_none(self, new: Discovery, number: int) -> bool:
        """Check that the event contains no text of a forgotten URL or host."""
        forgotten, hasher = self._folded.forgotten, self._folded.hasher
        left = [i for i, key in enumerate(hasher.keys(new.urls).tolist()) if forgotten.has_key(key)]
        if left:
            return self._blame(number, f"slot {new.first_slot + left[0]} has the text of a forgotten URL")
        if any(forgotten.has_host(hasher, name) for name in new.new_hosts):
            return self._blame(number, "it names a forgotten host")
        slots = np.arange(new.first_slot, new.first_slot + len(new.urls), dtype=np.uint32)
        self._found.count("forgotten URLs", int(np.count_nonzero(forgotten.mask(slots))))
        return True

    def _texts(self, new: Discovery) -> None:
        """Compare the URLs with those in the URL log."""
        self._found.count("URL texts", len(new.urls))
        try:
            written = self._state.urls.get_many(range(new.first_slot, new.first_slot + len(new.urls)))
        except (StoreError, IndexError) as error:
            self._found.blame(str(error), URL_FILE)
            return
        for slot, (url, text) in enumerate(zip(new.urls, written, strict=True), new.first_slot):
            if url != text:
                self._found.blame(f"{URL_FILE}: slot {slot} has {text}, but by the journal {url}", URL_FILE)

    def _visit(self, event: Visit, number: int) -> bool:
        if event.found is not None and not self._discovery(event.found, number):
            return False
        if not self._is_known(event.slot, number):
            return False
        known = len(self._hosts)
        if event.host != self._hosts[event.slot]:
            self._blame(number, f"it visits slot {event.slot} on host {event.host}, not {self._hosts[event.slot]}")
        if event.outcome not in _OUTCOMES:
            return self._blame(number, f"{event.outcome} is not an outcome")
        targets = decode_slots(event.targets)
        if (len(targets) and int(targets[-1]) >= known) or (event.alias != NO_SLOT and event.alias >= known):
            self._blame(number, f"it leads to a slot beyond {known}")
        return self._fits(event, number) and self._counters(event, number)

    def _counters(self, event: Visit, number: int) -> bool:
        """Check that the counts of visits and changes continue those of the page's record."""
        self._found.count("visits")
        index = self._folded.record_of(event.slot)
        row = None if index is None else self._folded.records.rows[index]
        visits = 1 + (int(row["visits"]) if row is not None else 0)
        changes = (int(row["changes"]) if row is not None else 0) + (1 if event.flags & CHANGED else 0)
        if event.visits != visits:
            return self._blame(number, f"it is visit {event.visits} of its page, but the next number is {visits}")
        if event.changes != changes:
            self._blame(number, f"it counts {event.changes} changes of its page, but there were {changes}")
        return True


def compare(state: State, folded: State, found: Findings) -> None:
    """Compare the state of a resumed crawl with the fold of all events."""
    counts = (
        ("known URLs", state.known.count, folded.known.count),
        ("records", state.records.count, folded.records.count),
        ("hosts", state.hosts, folded.hosts),
        ("visits", state.visits, folded.visits),
        ("changes", state.changes, folded.changes),
        ("bytes received", state.wire_bytes, folded.wire_bytes),
        ("outcomes", dict(+state.outcomes), dict(+folded.outcomes)),
        ("hosts left alone", state.away, folded.away),
        ("hosts that asked for it", state.wished, folded.wished),
        ("gains by rendering", state.render_gains.save(), folded.render_gains.save()),
        ("scheme of importance", state.scheme, folded.scheme),
        ("orders and rules", state.steered, folded.steered),
        *([("letters", _letters(state), _letters(folded))] if state.post is not None else []),
    )
    for name, held, true in counts:
        found.count("sums")
        if held != true:
            found.blame(f"the snapshot's {name}: {_short(held)}, but by the journal {_short(true)}")
    count = min(state.known.count, folded.known.count)
    for start in range(0, count, _CHUNK):
        _rows(
            KNOWN_FILE,
            KNOWN.names,
            state.known.rows(start, start + _CHUNK),
            folded.known.rows(start, start + _CHUNK),
            start,
            found,
        )
    found.count("known URLs", count)
    _column("the table's keys", state.table.keys()[:count], folded.table.keys()[:count], found)
    _column("the snapshot's record cells", state.table.record[:count], folded.table.record[:count], found)
    if state.scheme == folded.scheme:
        _column("the snapshot's births", state.born[:count], folded.born[:count], found)
    compare_cash(state, folded, found)
    records = min(state.records.count, folded.records.count)
    _rows("the snapshot's records", RECORD.names, state.records.rows[:records], folded.records.rows[:records], 0, found)
    found.count("records", records)
    if state.scheme == folded.scheme:
        other = np.flatnonzero((state.records.kept[:records] != folded.records.kept[:records]).any(axis=1))
        if len(other):
            found.blame(f"the snapshot's windows: row {int(other[0])} differs from the journal")
    for name, ours, theirs in zip(("to be fetched", "to be refreshed"), to_try(state), to_try(folded), strict=True):
        if not np.array_equal(np.sort(ours), np.sort(theirs)):
            found.blame(f"by the snapshot {len(ours)} pages are {name}, by the journal {len(theirs)} or other ones")


def _letters(state: State) -> object:
    post = state.post
    return None if post is None else (post.peers, dict(sorted(post.waiting.items())))


def _rows(
    name: str, fields: tuple[str, ...] | None, held: NDArray[Any], true: NDArray[Any], first: int, found: Findings
) -> None:
    """Compare rows field by field."""
    for field in fields or ():
        other = np.flatnonzero(held[field] != true[field])
        if len(other):
            row = int(other[0])
            found.blame(
                f"{name}: {field} of row {first + row} is {held[field][row]}, but by the journal "
                f"{true[field][row]}; {len(other)} rows differ",
                name,
            )


def _column(name: str, held: NDArray[Any], true: NDArray[Any], found: Findings) -> None:
    other = np.flatnonzero(held != true)
    if len(other):
        slot = int(other[0])
        found.blame(f"{name}: slot {slot} has {held[slot]}, but by the journal {true[slot]}; {len(other)} slots differ")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
