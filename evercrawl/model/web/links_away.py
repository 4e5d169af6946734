"""The external links of a visited page."""

import numpy as np

from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Visit
from evercrawl.types import NO_SLOT, Slots


def links_away(event: Visit) -> Slots:
    """Return the pages on other sites that a page links to; for an alias, the page it leads to."""
    if event.alias != NO_SLOT:
        return np.array([event.alias], np.uint32)
    if not event.external:
        return np.zeros(0, np.uint32)
    slots = decode_slots(event.targets)
    bits = np.frombuffer(event.external.ljust(-(-len(slots) // 8), b"\0"), np.uint8)
    return slots[np.unpackbits(bits, count=len(slots), bitorder="little").astype(np.bool_)]
