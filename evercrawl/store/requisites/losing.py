"""Archive records of pages and requisites that events name, and those that events give up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.store.journal.events import Event, Lost, Visit
from evercrawl.store.journal.requisite_events import LOST_REQUISITE, RequisiteFetched

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.store.archive.pointer import Pointer
    from evercrawl.store.journal.journal import Journal


def record_of(event: Event) -> Pointer | None:
    """Return the position of an event's record; None if it has none."""
    if isinstance(event, Visit):
        return event.archive
    return event.archive if isinstance(event, RequisiteFetched) and event.error != LOST_REQUISITE else None


def gone_of(event: Event) -> Pointer | None:
    """Return the record that an event gives up; None if it gives up none."""
    if isinstance(event, Lost):
        return event.archive
    return event.archive if isinstance(event, RequisiteFetched) and event.error == LOST_REQUISITE else None


def gone_records(events: Iterable[tuple[int, int, Event]]) -> dict[Pointer, int]:
    """Return the records that events give up, each with the number of the last event that does so.

    Only an event after that can name a record in the same place again: another one, written where the first was cut
    off. So the record of event `number` is in the archive if `gone_records(...).get(where, -1) < number`.

    Parameters
    ----------
    events
        Pointers, numbers and events, as the journal replays them.
    """
    return {where: number for _, number, event in events if (where := gone_of(event)) is not None}


def lost_requisites(journal: Journal, broken: set[Pointer], now: float) -> list[RequisiteFetched]:
    """Return events that give up the broken records of requisites; a requisite whose content was there is owed."""
    holds, gone = dict[int, "Pointer"](), list[tuple[int, "Pointer"]]()
    for _, _, event in journal.replay() if broken else ():
        if isinstance(event, RequisiteFetched) and (where := record_of(event)) is not None:
            holds[event.number] = holds.get(event.number, where) if event.unchanged else where
            gone += [(event.number, where)] if where in broken else []
    return [
        RequisiteFetched(number, now, 0, LOST_REQUISITE, where, retry_at=now if holds[number] == where else 0.0)
        for number, where in gone
    ]
