"""Readings of exchanges that no network made."""

import math

from evercrawl.arrays.hasher import Hasher
from evercrawl.model.stored.contents import body_of, contents
from evercrawl.model.stored.reading import Before, Reading, fetched, held, understand
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.types import Exchange
from tests.helpers.hashing import HASHER


def read(
    exchange: Exchange,
    host: Host,
    slot: int,
    before: Before,
    *,
    text: bool = False,
    said: float = math.nan,
    hasher: Hasher = HASHER,
) -> Reading:
    """Return what an answer shows, its body read here and now."""
    answer = fetched(exchange, host, slot, before, said)
    if answer.unread:
        former = before.digest_rest == 0
        answer.take(contents(body_of(exchange, held(before), "evercrawl", hasher, text=text, former=former)))
    return understand(answer)
