"""Checks messages of other partitions before anything of them is applied: they may be damaged, or of somebody else.

A journal that has applied a letter applies it at each start again, so no letter may be in it that a fold cannot take.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.crawl.posting.landlord import LEASE_S
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store.post.messages import (
    CommonSums,
    LeaseAsk,
    LeaseBack,
    LeaseCensus,
    LeaseGrant,
    LeasesHeld,
    Letter,
    LetterApplied,
)

if TYPE_CHECKING:
    from evercrawl.store.post.messages import Message, NamedUrl
    from evercrawl.store.post.ownership import Ownership

ENTRIES: Final = 1000
"""The highest number of cells, and of URLs, in a letter."""
MOST_SUMS: Final = 10_000
_CELL_BYTES: Final = 8


def is_sound(message: Message, ownership: Ownership) -> bool:
    """Return whether a message is to this partition, from another of this crawl, and has values that one sends."""
    share = ownership.share
    if (message.cluster, message.to) != (share.cluster, share.number):
        return False
    if message.sender == share.number or not 0 <= message.sender < share.parts or message.incarnation < 1:
        return False
    match message:
        case Letter():
            return _has_cells(message)
        case CommonSums():
            return len(message.sums) <= MOST_SUMS and all(map(isfinite, message.sums.values()))
        case LeaseGrant():
            mine = message.key % share.parts == message.sender and 0.0 <= message.lasts_s <= LEASE_S
            return mine and isfinite(message.asked_at) and 0.0 <= message.rest_s < float("inf")
        case LeaseAsk():
            return message.key % share.parts == share.number and isfinite(message.asked_at)
        case LeaseBack():
            return message.key % share.parts == share.number
        case LeasesHeld():
            return all(key % share.parts == share.number for key in message.held)
        case LetterApplied() | LeaseCensus():
            return True


def _has_cells(letter: Letter) -> bool:
    """Return whether a letter has cash for each of its cells, and not too many of them."""
    if len(letter.keys) != len(letter.amounts) or len(letter.keys) % _CELL_BYTES:
        return False
    if max(len(letter.keys) // _CELL_BYTES, len(letter.urls)) > ENTRIES:
        return False
    return bool(np.isfinite(np.frombuffer(letter.amounts)).all())


def belongs(named: NamedUrl, sender: int, ownership: Ownership) -> bool:
    """Return whether a partition may name a URL: it is in normal form, and this partition's or a seed of the sender."""
    if named.depth < 0 or named.hops < 0 or normalise(named.url) != named.url:
        return False
    owner = ownership.of(hostname(named.url))
    return owner == ownership.number or (owner == sender and named.depth == 0)
