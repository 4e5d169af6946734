"""How many bytes the words of a page's links have, by where they lead."""

from typing import Final

import numpy as np

from evercrawl.model.stored.contents import Content, spans
from evercrawl.store.journal.codec import decode_slots
from evercrawl.types import Slots

MOST: Final = 255


def link_bytes(content: Content, slots: Slots, targets: bytes) -> bytes:
    """Return a byte for each of a visit's `targets`: of all links of the page to it, the words, held to 255.

    Parameters
    ----------
    content
        What the page says, with its text; without it nothing is returned.
    slots
        Of the content's targets, in order; more may follow.
    targets
        As the event has them.
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
