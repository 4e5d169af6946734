"""Redirected robots.txt files: each target is requested once for all origins, and at a limited rate per site."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.fetch.robots_policy import fresh_s
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname

if TYPE_CHECKING:
    from evercrawl.types import Exchange, Request

AT_ONCE: Final = 4  # requests of other hosts to a site that are allowed in a row
ONE_IN: Final = 20  # after those, one request in this many rests of a host
LEAST_S: Final = 30.0  # and at most one in this time
ANSWER_S: Final = 3600.0  # for which an answer serves all origins that redirect to it
FAILURE_S: Final = 60.0
MOST_BYTES: Final = 4 << 20  # total size of the stored answers
_ENTRY_BYTES: Final = 1 << 10  # beside its body
_SITES: Final = 1 << 14


class MovedRobots:
    """Stores answers by URL, the requests that wait for them, and how often others have redirected to each site.

    Parameters
    ----------
    delay_s
        The rest of a host whose robots.txt asks for none.

    Examples
    --------
    >>> moved = MovedRobots(delay_s=1.0)
    >>> [moved.allows("a.example", "www.victim.example", float(now)) for now in (0, 1, 2, 3, 4, 29, 31, 32)]
    [True, True, True, True, False, False, True, False]
    >>> moved.allows("www.victim.example", "victim.example", 5.0)  # the same site
    True
    """

    def __init__(self, delay_s: float) -> None:
        self._rest_s = max(ONE_IN * delay_s, LEAST_S)
        self._owed: OrderedDict[str, float] = OrderedDict()  # site -> when its whole budget is available again
        self._answers: OrderedDict[str, tuple[Exchange, float]] = OrderedDict()  # by URL, each with its expiry
        self._bytes = 0
        self._waiting: dict[str, list[Request]] = {}

    def known(self, request: Request, now: float) -> Exchange | None:
        """Return a recent answer from the URL of a request, as the answer to this request."""
        found = self._answers.get(request.url)
        if found is None or found[1] <= now:
            return None
        return msgspec.structs.replace(found[0], request=request)

    def joins(self, request: Request) -> bool:
        """Whether the URL is already being requested; if so, the answer will also serve this request."""
        waiting = self._waiting.get(request.url)
        if waiting is not None:
            waiting.append(request)
        return waiting is not None

    def allows(self, name: str, target: str, now: float) -> bool:
        """Whether a host may cause one more request to another; an allowed request is counted."""
        site = found_site(target)
        if site == found_site(name):
            return True
        owed_until = max(self._owed.get(site, now), now)
        if owed_until + self._rest_s > now + AT_ONCE * self._rest_s:
            return False
        self._owed[site] = owed_until + self._rest_s
        self._owed.move_to_end(site)
        if len(self._owed) > _SITES:
            self._owed.popitem(last=False)
        return True

    def asking(self, request: Request) -> None:
        """Note that a URL is being requested from now on."""
        self._waiting.setdefault(request.url, [])

    def answered(self, exchange: Exchange, now: float) -> list[Request]:
        """Store an answer; return the other requests that wait for it."""
        url = exchange.request.url
        waiting = self._waiting.pop(url, None)
        if waiting is None:
            return []
        self.keep(exchange, now)
        return waiting

    def keep(self, exchange: Exchange, now: float) -> None:
        """Keep an answer for others whose robots.txt is at the same address."""
        url = exchange.request.url
        self._forget(url)
        fresh = fresh_s(exchange.headers.get("cache-control", "")) if exchange.status else FAILURE_S
        self._answers[url] = exchange, now + min(fresh, ANSWER_S)
        self._bytes += _size(exchange)
        while self._bytes > MOST_BYTES and len(self._answers) > 1:
            self._forget(next(iter(self._answers)))

    def _forget(self, url: str) -> None:
        found = self._answers.pop(url, None)
        if found is not None:
            self._bytes -= _size(found[0])


def crowded_words(url: str) -> str:
    """Return why a URL is not requested now."""
    return f"too many other sites say that their robots.txt is on {hostname(url)}"


def _size(exchange: Exchange) -> int:
    return _ENTRY_BYTES + len(exchange.body) + len(exchange.wire) + len(exchange.head)
