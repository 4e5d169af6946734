"""The effect of each kind of event on a partition's memory, which is a fold over its journal.

The same `fold` runs while crawling and while replaying, so the journal folds to the content of memory by
construction; `verify` folds it once more and compares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import numpy as np

from evercrawl.store.journal.events import (
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
from evercrawl.store.scheme import spending
from evercrawl.store.table.table import ROOT
from evercrawl.store.visit_fold import count_announcements, count_dates, count_renderings, fold_record

_Fold: TypeAlias = Callable[["State", Any, "Place"], None]

if TYPE_CHECKING:
    from evercrawl.store.state import State


class Place(msgspec.Struct, frozen=True, gc=False):
    """The position of an event in the journal.

    Attributes
    ----------
    pointer, number
        Its journal pointer, and the number of events before it.
    held
        The event that `links` points to, if it is at hand.
    """

    pointer: int
    number: int = 0
    held: Visit | None = None


def fold(state: State, event: Event, place: Place) -> None:
    """Fold one event whose discoveries are already admitted."""
    FOLDS[type(event)](state, event, place)


def replay(state: State, event: Event, pointer: int, number: int) -> None:
    """Fold one event that was read from the journal, with its number."""
    found = event.found if isinstance(event, (Visit, Found, Obeyed)) else None
    if found is not None and found.urls:
        keys = state.forgotten.keys_of(found, state.hasher)
        found = state.forgotten.told(found)
        slots, new = state.table.intern(keys)
        assert new.all(), "the journal names a URL twice"
        assert int(slots[0]) == found.first_slot, "the journal leaves out a URL"
        state.admit(found, event.at, keys)
    fold(state, event, Place(pointer, number))


def _visit(state: State, event: Visit, place: Place) -> None:
    if event.found is not None:
        _welcome(state, event.found, place.number)
    fold_record(state, event, place.pointer, place.number)
    count_dates(state, event)
    count_announcements(state, event)
    count_renderings(state, event)
    state.cashbook.settle(event, place.number, place.held)


def _found(state: State, event: Found, place: Place) -> None:
    _welcome(state, event.found, place.number)


def _welcome(state: State, found: Discovery, number: int) -> None:
    """Count the roots among new URLs as members; not done in `admit`, which runs ahead within a batch."""
    new = slice(found.first_slot, found.first_slot + len(found.urls))
    cells = state.table.record[new]
    if len(state.born):
        state.born[new] = state.accounts.total
        state.changed_born.note_rows(new.start, new.stop)
    for place in np.flatnonzero(cells & np.uint32(ROOT)).tolist():
        state.cashbook.join(found.first_slot + place, found.hosts[place], number)
    if state.post is not None and state.post.waiting:
        keys = state.known.rows(new.start, new.stop)["key"]
        state.post.welcome(new.start, keys, number, state.cashbook)


def _passed(state: State, event: Passed, place: Place) -> None:
    state.cashbook.passed(event, place.number, place.held)


def _switched(state: State, event: Switched, _: Place) -> None:
    trusted = [event.scheme.trusts(site) for site in state.sites]
    state.become(event.scheme)
    state.cashbook.begin_anew(trusted=trusted, **spending(event.scheme))
    state.notes.pop("price", None)  # it was in another unit


def _virtual_spent(state: State, event: VirtualSpent, place: Place) -> None:
    state.cashbook.virtual_spent(event, place.number)


def _lost(state: State, event: Lost, _: Place) -> None:
    if event.current:
        state.lose(event.slot)


def _noted(state: State, event: Noted, _: Place) -> None:
    state.notes.update(event.notes)


def _bounded(state: State, event: Bounded, _: Place) -> None:
    state.steered.bounded(event)


def _obeyed(state: State, event: Obeyed, place: Place) -> None:
    if event.found is not None:
        _welcome(state, event.found, place.number)
    state.steered.obeyed(event)


def _sent(state: State, event: LetterSent, place: Place) -> None:
    assert state.post is not None, "a crawl of one partition writes no letters"
    state.post.sent(event, place.pointer, place.number, state.cashbook)


def _received(state: State, event: LetterReceived, place: Place) -> None:
    assert state.post is not None, "a crawl of one partition gets no letters"
    state.post.received(event, place.number, state.cashbook)


def _settled(state: State, event: LetterSettled, _: Place) -> None:
    assert state.post is not None, "a crawl of one partition has no letters"
    state.post.settled(event)


def _nothing(_: State, __: Drawn | RequisitesNeeded | RequisiteFetched, ___: Place) -> None:
    """Change nothing."""


FOLDS: Final[dict[type[Event], _Fold]] = {
    Visit: _visit,
    Found: _found,
    Passed: _passed,
    Switched: _switched,
    VirtualSpent: _virtual_spent,
    Lost: _lost,
    Noted: _noted,
    Drawn: _nothing,
    RequisitesNeeded: _nothing,
    RequisiteFetched: _nothing,
    Bounded: _bounded,
    Obeyed: _obeyed,
    LetterSent: _sent,
    LetterReceived: _received,
    LetterSettled: _settled,
}
"""The fold of each kind of event."""
