"""Readings of exchanges that no network made."""

import math

from evercrawl.model.stored.contents import body_of, contents
from evercrawl.model.stored.reading import Before, Reading, fetched, held, understand
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.types import Exchange


def read(
    exchange: Exchange, host: Host, slot: int, before: Before, *, text: bool = False, said: float = math.nan
) -> Reading:
    """Return what an answer shows, its body read here and now."""
    answer = fetched(exchange, host, slot, before, said)
    if answer.unread:
        answer.take(contents(body_of(exchange, held(before), "evercrawl", text=text)))
    return understand(answer)
