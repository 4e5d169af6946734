"""The rights to text and data mining in `/.well-known/tdmrep.json` of an origin, requested before its first page.

References
----------
TDM Reservation Protocol (W3C community group report, 2024), section on tdmrep.json. If several rules match a path,
the longest applies, as RFC 9309 defines it for robots.txt, whose patterns these are.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from evercrawl.crawl.rendering.errands import RefusedError
from evercrawl.decoding import json_of
from evercrawl.fetch.robots import Robots, Rules
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname, origin, path_query
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
MOST_BYTES: Final = 64 << 10
"""Maximum size of a file; a larger one counts as reserving everything."""
MOST_HELD_BYTES: Final = 16 << 20
"""Maximum size of all files whose rules are kept in memory."""
MOST_OF_SITE: Final = MOST_HELD_BYTES // 16
"""Maximum size of the files of one site; further ones count as reserving everything."""


class _Rule(msgspec.Struct, rename="kebab"):
    location: str = ""
    tdm_reservation: int = 0


_EVERYTHING: Final = Robots(b"User-agent: *\nDisallow: /").rules("tdm")


class _Known(NamedTuple):
    """What is known of an origin: its rules, until when they hold, the size of its file, and its site."""

    rules: Rules | None
    until: float
    size_bytes: int
    site: str


class TdmPolicies:
    """Requests the file of each origin at most once a day, and tells what it reserves.

    Parameters
    ----------
    errands, frontier, clock, wake
        Fetches the file; holds hosts; the clock; called when an answer has arrived.
    """

    def __init__(self, errands: Errands, frontier: Frontier, clock: Clock, wake: Callable[[], None]) -> None:
        self._errands, self._frontier, self._clock, self._wake = errands, frontier, clock, wake
        self._known: OrderedDict[str, _Known] = OrderedDict()  # least recently requested first
        self._held_bytes, self._of_site = 0, Counter[str]()  # of their files
        self._asking: dict[str, asyncio.Task[None]] = {}

    def waits(self, host: Host, url: str) -> bool:
        """Whether a page waits for the file of its origin; if so, request it and hold the host until it arrives."""
        home = origin(url)
        known = self._known.get(home)
        if known is not None and known.until > self._clock.now():
            return False
        if home not in self._asking:
            host.held = PLACE
            self._asking[home] = asyncio.ensure_future(self._ask(home, host))
        return True

    def optouts(self, url: str) -> int:
        """Return what the file reserves for a page, as bits of `OptOut`."""
        known = self._known.get(origin(url))
        rules = known.rules if known is not None else None
        return OptOut.TDM if rules is not None and not rules.allowed(path_query(url)) else 0

    async def close(self) -> None:
        """Abandon requests under way."""
        for task in list(self._asking.values()):
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    @property
    def held_bytes(self) -> int:
        """Return the size of the files whose rules are kept."""
        return self._held_bytes

    async def _ask(self, home: str, host: Host) -> None:
        body, whole = b"", True
        try:
            exchange, _ = await self._errands.fetch(home + PLACE, shared=False, most_bytes=MOST_BYTES)
            if exchange.status == 200 and (exchange.truncated or not exchange.error):
                body, whole = exchange.body, not exchange.truncated
        except RefusedError:
            pass
        finally:
            del self._asking[home]
            self._keep(home, body, whole=whole)  # whatever was raised: it is not asked for again at once
            host.held = ""
            self._frontier.release(host)
            self._wake()

    def _keep(self, home: str, body: bytes, *, whole: bool) -> None:
        """Keep the rules in a file; one that is too large, or of a site that has too many, reserves everything."""
        self._drop(home)
        site = found_site(hostname(home))
        fits = whole and self._of_site[site] + len(body) <= MOST_OF_SITE
        rules = read_policy(body) if fits else _EVERYTHING
        size = len(body) if rules is not None and fits else 0
        self._known[home] = _Known(rules, self._clock.now() + KEPT_S, size, site)
        if size:
            self._held_bytes += size
            self._of_site[site] += size
        while len(self._known) > MOST_ORIGINS or self._held_bytes > MOST_HELD_BYTES:
            self._drop(next(iter(self._known)))

    def _drop(self, home: str) -> None:
        known = self._known.pop(home, None)
        if known is None or not known.size_bytes:
            return
        self._held_bytes -= known.size_bytes
        self._of_site[known.site] -= known.size_bytes
        if not self._of_site[known.site]:
            del self._of_site[known.site]


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
