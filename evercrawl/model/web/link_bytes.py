"""The length in bytes of a page's link texts, by target."""

from typing import Final

import numpy as np

from evercrawl.model.stored.contents import Content, spans
from evercrawl.store.journal.codec import decode_slots
from evercrawl.types import Slots

MOST: Final = 255


def link_bytes(content: Content, slots: Slots, targets: bytes) -> bytes:
    """Return a byte for each of a visit's `targets`: the length of all link texts to it, capped at 255.

    Parameters
    ----------
    content
        The page's content with its text; without text the result is empty.
    slots
        Slots of the content's targets, in order; more may follow.
    targets
        As in the event.
    """
    if not content.text:
        return b""
    known = decode_slots(targets)
    lengths = np.zeros(len(known), np.int64)
    words = spans(content)
    to = slots[words[:, 2]]
    place = np.searchsorted(known, to)
    there = place < len(known)
    there[there] = known[place[there]] == to[there]
    np.add.at(lengths, place[there], (words[:, 1] - words[:, 0])[there])
    return np.minimum(lengths, MOST).astype(np.uint8).tobytes()
