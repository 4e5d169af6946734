"""Whose a place is: a page that was an original is unseated neither by a newcomer that says the same, nor by a claim.

When a page changes, its new content may be read elsewhere first, by chance or because somebody copies it at once.
Without this the page would become the copy of its copy: it would lose its importance, fall due no more and vanish from
search. Where both have been read with several contents, these are compared one by one: who copied the other before is
its copy still.

A page may also say that it only leads to another one, by its canonical URL or a permanent redirect. Who gets a foot
into a page for an hour (an injected element, a name that has expired, an open redirect) could give its place away for
good. So a page of another site takes it only if it is known longer, was read and matters at least as much; or once
eight visits one after another were redirects, which a site that moved comes to by itself. Until then a redirect
passes on what a link would, and a canonical URL nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from evercrawl.store.journal.events import Visit
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from evercrawl.model.stored.reading import Before


CONTENTS: Final = 8
"""Of how many contents of a page, the last ones, it is asked whose they were first."""


def stays_original(state: State, slot: int, before: Before, other: int) -> bool:
    """Whether a page stays an original although `other` had its content, or nearly that, before.

    It does where its own content was an original's when it was read last, and the other page is of another site and
    became known later, matters less or was a copy of this one with an earlier content; not where this one was its.

    Parameters
    ----------
    state, slot, before
        What is known, the page, and what was known of it before its present content.
    other
        Slot of the page that said the same before; NO_SLOT where none did.
    """
    held = before.held
    if other in (NO_SLOT, slot) or held is None or not _is_original(held):
        return False
    mine, others = state.record_of(slot), state.record_of(other)
    if mine is None or others is None:
        return False
    rows = state.records.rows
    if state.site_of[rows["host"][mine]] == state.site_of[rows["host"][others]]:
        return False
    if _copied(state, held, other):
        return False
    if other > slot or rows["importance"][others] < rows["importance"][mine]:
        return True
    said = state.event(int(rows["event"][others]))
    return isinstance(said, Visit) and _copied(state, said, slot)


def keeps_place(state: State, slot: int, host: int, before: Before, target: int) -> bool:
    """Whether a page keeps its place although it says that it only leads to `target`, a page of another site.

    Parameters
    ----------
    state, slot, host, before
        What is known, the page, the number of its host, and what was known of it before.
    target
        Slot of its canonical URL, or of what it redirects to for good; NO_SLOT where that is not known.
    """
    if target in (NO_SLOT, slot) or before.held is None:
        return False
    there = int(state.known.row(target)["host"])
    if state.site_of[host] == state.site_of[there] or not _was_original(state, before.held):
        return False
    mine, others = _recorded(state, slot), _recorded(state, target)
    if mine is None or others is None or target > slot:
        return True
    importance = state.records.rows["importance"]
    return bool(importance[others] < importance[mine])


def _is_original(visit: Visit) -> bool:
    return visit.outcome == Outcome.OK and visit.alias == NO_SLOT


def _was_original(state: State, visit: Visit) -> bool:
    """Whether one of the last contents of a page, as of this visit and before, was its own."""
    return any(
        each.outcome in (Outcome.OK, Outcome.TRUNCATED) and each.alias == NO_SLOT for each in _contents(state, visit)
    )


def _recorded(state: State, slot: int) -> int | None:
    """Return the index of a page's record, be its content lost; None where it was never read."""
    index = state.record_of(slot)
    return state.lost.get(slot) if index is None else index


def _contents(state: State, visit: Visit) -> Iterator[Visit]:
    """Yield the visits that brought the last contents of a page, the newest first."""
    event: object = visit
    for _ in range(CONTENTS):
        if not isinstance(event, Visit):
            return
        yield event
        event = state.event(event.links or event.previous)


def _copied(state: State, visit: Visit, original: int) -> bool:
    """Whether one of the last contents of a page, as of this visit and before, was that of `original`, or nearly."""
    return any(
        original in (each.near, each.alias if each.outcome == Outcome.DUPLICATE else NO_SLOT)
        for each in _contents(state, visit)
    )
