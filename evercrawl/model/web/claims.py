"""Who said something first: a page that was an original is not unseated by a newcomer that says the same.

When a page changes, its new content may be read elsewhere first, by chance or because somebody copies it at once.
Without this the page would become the copy of its copy: it would lose its importance, fall due no more and vanish from
search. Where both have been read with several contents, these are compared one by one: who copied the other before is
its copy still.
"""

from typing import Final

from evercrawl.model.stored.reading import Before
from evercrawl.store.journal.events import Visit
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Outcome

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
    if other in (NO_SLOT, slot) or held is None or held.outcome != Outcome.OK or held.alias != NO_SLOT:
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


def _copied(state: State, visit: Visit, original: int) -> bool:
    """Whether one of the last contents of a page, as of this visit and before, was that of `original`, or nearly."""
    event: object = visit
    for _ in range(CONTENTS):
        if not isinstance(event, Visit):
            return False
        if original in (event.near, event.alias if event.outcome == Outcome.DUPLICATE else NO_SLOT):
            return True
        event = state.event(event.links or event.previous)
    return False
