"""robots.txt that are said to be elsewhere: each address is asked once for all, and nobody is asked by too many."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.fetch.robots_policy import fresh_s
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname

if TYPE_CHECKING:
    from evercrawl.types import Exchange, Request

AT_ONCE: Final = 4  # requests that others may have made to a site one after the other
ONE_IN: Final = 20  # rests of a host; later there is one in so many
LEAST_S: Final = 30.0  # and one in so long
ANSWER_S: Final = 3600.0  # for which an answer serves all who are led to it
FAILURE_S: Final = 60.0
MOST_BYTES: Final = 4 << 20  # of answers
_ENTRY_BYTES: Final = 1 << 10  # that each takes beside its body
_SITES: Final = 1 << 14


class MovedRobots:
    """Remembers answers by address, who waits for one, and how often others led to each site.

    Parameters
    ----------
    delay_s
        Rest of a host where its robots.txt asks for none.

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
        self._owed: OrderedDict[str, float] = OrderedDict()  # site -> when all its budget is there again
        self._answers: OrderedDict[str, tuple[Exchange, float]] = OrderedDict()  # by address, each until an instant
        self._bytes = 0
        self._waiting: dict[str, list[Request]] = {}

    def known(self, request: Request, now: float) -> Exchange | None:
        """Return what was answered at the address of a request not long ago, as the answer to this one."""
        found = self._answers.get(request.url)
        if found is None or found[1] <= now:
            return None
        return msgspec.structs.replace(found[0], request=request)

    def joins(self, request: Request) -> bool:
        """Whether the same address is being asked already, so that its answer will be this request's too."""
        waiting = self._waiting.get(request.url)
        if waiting is not None:
            waiting.append(request)
        return waiting is not None

    def allows(self, name: str, target: str, now: float) -> bool:
        """Whether a host may have another asked once more; what is allowed counts."""
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
        """Take note that an address is asked from now on."""
        self._waiting.setdefault(request.url, [])

    def answered(self, exchange: Exchange, now: float) -> list[Request]:
        """Take in an answer; return the other requests that wait for it."""
        url = exchange.request.url
        waiting = self._waiting.pop(url, None)
        if waiting is None:
            return []
        self._forget(url)
        fresh = fresh_s(exchange.headers.get("cache-control", "")) if exchange.status else FAILURE_S
        self._answers[url] = exchange, now + min(fresh, ANSWER_S)
        self._bytes += _size(exchange)
        while self._bytes > MOST_BYTES and len(self._answers) > 1:
            self._forget(next(iter(self._answers)))
        return waiting

    def _forget(self, url: str) -> None:
        found = self._answers.pop(url, None)
        if found is not None:
            self._bytes -= _size(found[0])


def crowded_words(url: str) -> str:
    """Return why an address is not asked now."""
    return f"too many other sites say that their robots.txt is on {hostname(url)}"


def _size(exchange: Exchange) -> int:
    return _ENTRY_BYTES + len(exchange.body) + len(exchange.wire) + len(exchange.head)
