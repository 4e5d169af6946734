"""Decides which requisites are forgotten together with pages: those that no remaining page needs or ever needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.requisite_events import LOST_REQUISITE, RequisiteFetched, RequisitesNeeded
from evercrawl.store.requisites.book import owner_of
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from evercrawl.store.journal.journal import Journal


class ForgottenRequisites:
    """The requisites to be forgotten, and what remains of their events.

    Parameters
    ----------
    journal
        The crawl's journal.
    page_goes
        Slot -> whether that page is forgotten, now or before.
    url_goes
        URL -> whether it is to be forgotten in any case.
    """

    def __init__(self, journal: Journal, page_goes: Callable[[int], bool], url_goes: Callable[[str], bool]) -> None:
        self._page_goes = page_goes
        self._gone, count = set[int](), 0
        needed: defaultdict[int, set[int]] = defaultdict(set)  # owner -> everything it ever needed
        for _, _, event in journal.replay():
            if isinstance(event, RequisitesNeeded):
                own = needed[owner_of(event.slot, event.of)]
                own.update(range(event.first, event.first + len(event.urls)))
                own.update(decode_slots(event.known).tolist() if event.known else ())
                self._gone.update(event.first + at for at, url in enumerate(event.urls) if url and url_goes(url))
                count = event.first + len(event.urls)
        stay = set[int]()
        reached = [number for owner, own in needed.items() if owner >= 0 and not page_goes(owner) for number in own]
        while reached:
            number = reached.pop()
            if number not in stay:
                stay.add(number)
                reached += needed.get(-1 - number, ())
        self._gone |= set(range(count)) - stay

    def goes(self, number: int) -> bool:
        """Whether a requisite is forgotten."""
        return number in self._gone

    def needed(self, event: RequisitesNeeded) -> RequisitesNeeded:
        """Return an event without what is forgotten; the event itself if it contains none of that."""
        urls = ["" if self.goes(event.first + place) else url for place, url in enumerate(event.urls)]
        known = event.known if event.slot == NO_SLOT or not self._page_goes(event.slot) else b""
        same = urls == event.urls and known == event.known
        return event if same else msgspec.structs.replace(event, urls=urls, known=known)

    def came(self, event: RequisiteFetched, *, blanked: bool) -> RequisiteFetched:
        """Return an event without what is forgotten; if only its record is removed, the requisite is owed again."""
        if self.goes(event.number):
            bare = RequisiteFetched(event.number, event.at, event.status, wire_bytes=event.wire_bytes)
            return event if event == bare else bare
        if blanked:
            return RequisiteFetched(
                event.number, event.at, 0, LOST_REQUISITE, retry_at=event.at, wire_bytes=event.wire_bytes
            )
        return event
