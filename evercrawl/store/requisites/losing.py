"""Which records of the archive events name, of pages and of requisites; and which of these are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.store.journal.events import LOST_REQUISITE, Event, Lost, RequisiteFetched, Visit

if TYPE_CHECKING:
    from evercrawl.store.archive.pointer import Pointer
    from evercrawl.store.journal.journal import Journal


def record_of(event: Event) -> Pointer | None:
    """Return where the record is that came with an event; None where none did."""
    if isinstance(event, Visit):
        return event.archive
    return event.archive if isinstance(event, RequisiteFetched) and event.error != LOST_REQUISITE else None


def gone_of(event: Event) -> Pointer | None:
    """Return which record an event gives up; None where it gives up none."""
    if isinstance(event, Lost):
        return event.archive
    return event.archive if isinstance(event, RequisiteFetched) and event.error == LOST_REQUISITE else None


def lost_requisites(journal: Journal, broken: set[Pointer], now: float) -> list[RequisiteFetched]:
    """Return the events that give up the records of requisites among some; where it had the content, it is owed."""
    holds, gone = dict[int, "Pointer"](), list[tuple[int, "Pointer"]]()
    for _, _, event in journal.replay() if broken else ():
        if isinstance(event, RequisiteFetched) and (where := record_of(event)) is not None:
            holds[event.number] = holds.get(event.number, where) if event.unchanged else where
            gone += [(event.number, where)] if where in broken else []
    return [
        RequisiteFetched(number, now, 0, LOST_REQUISITE, where, retry_at=now if holds[number] == where else 0.0)
        for number, where in gone
    ]
