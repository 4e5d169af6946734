"""The rights to text and data mining in `/.well-known/tdmrep.json` of an origin, requested before its first page.

References
----------
TDM Reservation Protocol (W3C community group report, 2024), section on tdmrep.json. If several rules match a path,
the longest applies, as RFC 9309 defines it for robots.txt, whose patterns these are.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.crawl.rendering.errands import RefusedError
from evercrawl.decoding import json_of
from evercrawl.fetch.robots import Robots, Rules
from evercrawl.parse.urls import origin, path_query
from evercrawl.types import OptOut

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.clock import Clock
    from evercrawl.crawl.rendering.errands import Errands
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host

PLACE: Final = "/.well-known/tdmrep.json"
KEPT_S: Final = 86_400.0
MOST_ORIGINS: Final = 10_000
MOST_RULES: Final = 1_000


class _Rule(msgspec.Struct, rename="kebab"):
    location: str = ""
    tdm_reservation: int = 0


class TdmPolicies:
    """Requests the file of each origin at most once a day, and tells what it reserves.

    Parameters
    ----------
    errands, frontier, clock, wake
        Fetches the file; holds hosts; the clock; called when an answer has arrived.
    """

    def __init__(self, errands: Errands, frontier: Frontier, clock: Clock, wake: Callable[[], None]) -> None:
        self._errands, self._frontier, self._clock, self._wake = errands, frontier, clock, wake
        self._known: OrderedDict[str, tuple[Rules | None, float]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[None]] = {}

    def waits(self, host: Host, url: str) -> bool:
        """Whether a page waits for the file of its origin; if so, request it and hold the host until it arrives."""
        home = origin(url)
        known = self._known.get(home)
        if known is not None and known[1] > self._clock.now():
            return False
        if home not in self._asking:
            host.held = PLACE
            self._asking[home] = asyncio.ensure_future(self._ask(home, host))
        return True

    def optouts(self, url: str) -> int:
        """Return what the file reserves for a page, as bits of `OptOut`."""
        rules, _ = self._known.get(origin(url), (None, 0.0))
        return OptOut.TDM if rules is not None and not rules.allowed(path_query(url)) else 0

    async def close(self) -> None:
        """Abandon requests under way."""
        for task in list(self._asking.values()):
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    async def _ask(self, home: str, host: Host) -> None:
        rules: Rules | None = None
        try:
            exchange, _ = await self._errands.fetch(home + PLACE, shared=False)
            rules = read_policy(exchange.body) if exchange.status == 200 and not exchange.error else None
        except RefusedError:
            pass
        finally:
            del self._asking[home]
            self._known[home] = rules, self._clock.now() + KEPT_S  # whatever was raised: it is not asked again at once
            if len(self._known) > MOST_ORIGINS:
                self._known.popitem(last=False)
            host.held = ""
            self._frontier.release(host)
            self._wake()


def read_policy(body: bytes) -> Rules | None:
    """Return the reservations as rules that disallow the paths; None if there are none.

    >>> rules = read_policy(b'[{"location": "/a/*", "tdm-reservation": 1}, {"location": "/a/b", "tdm-reservation": 0}]')
    >>> [rules.allowed(path) for path in ("/a/x", "/a/b", "/c")]
    [False, True, True]
    """
    try:
        said = json_of(body, list[_Rule])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    lines = [
        f"{'Disallow' if rule.tdm_reservation == 1 else 'Allow'}: {rule.location}"
        for rule in said[:MOST_RULES]
        if rule.location.startswith(("/", "*")) and rule.location.isprintable()
    ]
    return Robots("\n".join(("User-agent: *", *lines)).encode()).rules("tdm") if lines else None
