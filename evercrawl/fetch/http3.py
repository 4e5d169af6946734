"""Remembers which servers offer HTTP/3 in their answers.

References
----------
RFC 9114, HTTP/3, section 3.1; RFC 7838, HTTP Alternative Services. An alternative on another host or port is not
used, because the guard has not judged it.
"""

import re
from collections import OrderedDict
from typing import Final

import pycurl

from evercrawl.types import Exchange

__all__ = ["NO_HTTP3", "Http3Offers", "speaks_http3"]

NO_HTTP3: Final = (
    "the libcurl in use does not support HTTP/3: set http3 = false, or install a pycurl wheel, whose libcurl does "
    "(pip install --force-reinstall pycurl)"
)
MOST_SERVERS: Final = 10_000
DEFAULT_S: Final = 86_400.0
AGAIN_S: Final = 3600.0
"""The time for which an offer is not tried again after it failed."""
_FEATURE: Final = 1 << 25  # CURL_VERSION_HTTP3
_OFFER: Final = re.compile(r'(?:^|,)\s*h3="([^":]*):(\d{1,5})"((?:\s*;[^,;]*)*)')
_MAX_AGE: Final = re.compile(r";\s*ma\s*=\s*(\d{1,9})")


def speaks_http3() -> bool:
    """Whether the libcurl in use supports HTTP/3."""
    features = pycurl.version_info()[4]
    return isinstance(features, int) and bool(features & _FEATURE)


class Http3Offers:
    """Remembers which servers offer HTTP/3 on their own host and port, for as long as they say.

    Examples
    --------
    >>> from evercrawl.types import Request
    >>> offers = Http3Offers()
    >>> answer = Exchange(Request("https://a.example/"), 0.0, headers={"alt-svc": 'h3=":443"; ma=60'}, status=200)
    >>> offers.learn("a.example", answer, 0.0, asked=False)
    >>> offers.offers("https", "a.example", 59.0), offers.offers("https", "a.example", 61.0)
    (True, False)
    """

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()  # negative: not tried until then, after a failure
        self._spoken: set[str] = set()

    def offers(self, scheme: str, authority: str, now: float) -> bool:
        """Whether to use HTTP/3 with a server."""
        return scheme == "https" and self._until.get(authority, 0.0) > now

    def untried(self, authority: str) -> bool:
        """Whether HTTP/3 was not tried yet with a server that offers it: an older connection would be kept for ever."""
        return authority not in self._spoken

    def learn(self, authority: str, exchange: Exchange, now: float, *, asked: bool) -> None:
        """Record what an answer offers, and whether HTTP/3 worked if it was tried."""
        if asked and exchange.http_version != "3":
            self.failed(authority, now)
        elif asked:
            self._spoken.add(authority)
        said = exchange.headers.get("alt-svc")
        if said is None or -self._until.get(authority, 0.0) > now:
            return
        self._keep(authority, _offered(said, authority, now))

    def failed(self, authority: str, now: float) -> None:
        """Avoid HTTP/3 for a while with a server that offered it and failed."""
        self._keep(authority, -(now + AGAIN_S))

    def _keep(self, authority: str, until: float) -> None:
        self._until.pop(authority, None)
        if until:
            self._until[authority] = until
        if until <= 0:
            self._spoken.discard(authority)
        while len(self._until) > MOST_SERVERS:
            old, _ = self._until.popitem(last=False)
            self._spoken.discard(old)


def _offered(said: str, authority: str, now: float) -> float:
    """Return until when a server offers HTTP/3 on its own host and port; 0 if it does not."""
    host, colon, port = authority.rpartition(":")
    host, port = (host, port) if colon and port.isdigit() else (authority, "443")
    for found in _OFFER.finditer(said[:1000]):
        if found[1] in ("", host) and found[2] == port:
            age = _MAX_AGE.search(found[3])
            return now + (float(age[1]) if age else DEFAULT_S)
    return 0.0
