"""What is told of a visit that was just remembered, and what whoever wants to hear of visits promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from evercrawl.store.journal.events import Discovery, Visit
from evercrawl.types import Slots

if TYPE_CHECKING:
    from evercrawl.model.stored.reading import Reading


class Leads(msgspec.Struct, frozen=True):
    """Where a visit leads.

    Attributes
    ----------
    slots
        Of its redirect, or of its followed links and then of its canonical URL, if that is another; NO_SLOT for what is
        out of scope.
    found
        What of that is new.
    partial, most_hops
        As in `Knowledge`.
    crowded
        Whether links to the page's own host were refused because too many URLs wait there.
    """

    slots: Slots
    found: Discovery | None = None
    partial: bool = False
    most_hops: int | None = None
    crowded: bool = False


class Remembered(msgspec.Struct, frozen=True):
    """A visit that is in the journal and in memory.

    Attributes
    ----------
    reading, event
        What it showed of the page, and what is kept of that.
    leads
        Where the page leads.
    beside
        Whether another page of its host looks like it, its title left aside.
    """

    reading: Reading
    event: Visit
    leads: Leads
    beside: bool


class VisitListener(Protocol):
    """Whoever takes note of visits, one by one; `learning.learner_of` says in which order they hear of each."""

    def learned(self, visit: Remembered) -> None:
        """Take note of a visit that was just remembered."""
        ...
