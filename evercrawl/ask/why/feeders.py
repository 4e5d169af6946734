"""Which pages a page's importance comes from: who links to it, and how much each gives."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evercrawl.importance.base import Links
from evercrawl.model.stored.reader import events
from evercrawl.model.view import View
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.types import NO_SLOT, Outcome


@dataclass(frozen=True, slots=True)
class Feeder:
    """One page that another's importance comes from.

    Attributes
    ----------
    url
        The page.
    how
        "link", "redirect", or "copy" for a page that only leads here, by its content or its canonical URL.
    gives
        What it gives, as a share of all importance there is.
    internal
        Whether both are of the same site.
    out
        Links it has, among which it divides; 1 for a page that only leads here.
    """

    url: str
    how: str
    gives: float
    internal: bool
    out: int


def feeders(view: View, slot: int) -> list[Feeder]:
    """Return the pages that give to `slot` by their links as they were last read, the most generous first.

    The journal is read once from end to end.

    Parameters
    ----------
    view, slot
        The crawl, and the page.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    rows = view.state.records.rows[: view.state.records.count]
    values = view.importance[rows["slot"]] * view.total if view.scheme.handout else rows["importance"]
    history: dict[int, float] = dict(zip(rows["event"].tolist(), values.tolist(), strict=True))
    found: list[Feeder] = []
    for pointer, _, event in events(view.partition, view.partition.journal.sequence):
        if isinstance(event, Visit) and event.flags & HAS_LINKS and pointer in history:
            feeder = _feeder(view, event, slot, history[pointer])
            if feeder is not None:
                found.append(feeder)
    return sorted(found, key=lambda feeder: (-feeder.gives, feeder.url))


def _feeder(view: View, event: Visit, slot: int, history: float) -> Feeder | None:
    """Return what a page gives to `slot` by the links of `event`; None where it gives nothing."""
    through = event.alias != NO_SLOT
    if through and event.alias != slot:
        return None
    place = 0
    if not through:
        if not event.targets:
            return None
        targets = decode_slots(event.targets)
        place = int(np.searchsorted(targets, slot))
        if place == len(targets) or targets[place] != slot:
            return None
    external = through or bool(event.external and event.external[place >> 3] >> (place & 7) & 1)
    gives = view.scheme.each(history, Links(out=event.out, through=through))[1 if external else 0]
    how = "redirect" if event.outcome == Outcome.REDIRECT else "copy" if through else "link"
    internal = view.state.site_of[event.host] == _site_of(view, slot)
    return Feeder(view.state.urls.get(event.slot), how, gives / view.total, bool(internal), 1 if through else event.out)


def _site_of(view: View, slot: int) -> Any:
    return view.state.site_of[int(view.state.known.row(slot)["host"])]
