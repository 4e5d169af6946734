"""Protection of originals: neither a newcomer with the same content nor a claim to be a copy unseats one.

When a page changes, its new content may be read elsewhere first, by chance or because somebody copies it at once.
Without protection the page would become the copy of its copy: it would lose its importance, never fall due and vanish
from search. If both have been read with several contents, these are compared one by one: the page that copied the
other before remains its copy.

A page may also say that it only leads to another one, by its canonical URL or a permanent redirect. An attacker with
brief control of a page (an injected element, an expired name, an open redirect) could give its place away for good.
So a page of another site takes it only if it has been known longer, was read and matters at least as much; or after
eight consecutive visits were redirects, which a moved site reaches by itself. Until then a redirect passes on as much
as a link, and a canonical URL nothing.
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
    """Return whether a page stays an original although `other` had the same or nearly the same content before.

    It does if its own content was an original's when last read, and the other page is of another site and became
    known later, matters less or was a copy of this one with an earlier content; not if this one was the copy.

    Parameters
    ----------
    state, slot, before
        The state, the page, and the page's state before its present content.
    other
        Slot of the page that had the same content before; NO_SLOT if none did.
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
    """Return whether a page keeps its place although it claims to lead to `target`, a page of another site.

    Parameters
    ----------
    state, slot, host, before
        The state, the page, the number of its host, and the page's state before the visit.
    target
        Slot of its canonical URL or of its permanent redirect's target; NO_SLOT if that is unknown.
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
    """Return whether one of the page's last contents, as of this visit and before, was its own."""
    return any(
        each.outcome in (Outcome.OK, Outcome.TRUNCATED) and each.alias == NO_SLOT for each in _contents(state, visit)
    )


def _recorded(state: State, slot: int) -> int | None:
    """Return the index of a page's record, even if its content is lost; None if it is unread."""
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
    """Return whether one of the page's last contents, as of this visit and before, nearly equalled `original`'s."""
    return any(
        original in (each.near, each.alias if each.outcome == Outcome.DUPLICATE else NO_SLOT)
        for each in _contents(state, visit)
    )
