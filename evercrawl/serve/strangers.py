"""Limits for recorded reports of clients without the token, per network, page and day."""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from ipaddress import ip_address, ip_network
from typing import Final

DAY_S: Final = 86_400.0
OPENINGS: Final = 200
"""Pages of which a network's openings are recorded in a day, each once."""
BYTES: Final = 512 << 10
"""Number of bytes of results seen by a network that are recorded in a day."""
NETWORKS: Final = 50_000
PAIRS: Final = 500_000
"""Maximum number of networks and openings remembered per day; beyond it, strangers' reports are not recorded."""
_KEY_BYTES: Final = 8


class StrangerShares:
    """Decides which reports of clients without the token are recorded.

    Of a client only digests are kept, in memory, with a key that is drawn anew each day.

    Examples
    --------
    >>> shares = StrangerShares()
    >>> [shares.opens("192.0.2.0/24", "https://a.example/", at) for at in (0.0, 1.0, 90_000.0)]
    [True, False, True]
    >>> shares.sees("192.0.2.0/24", 500 << 10, 90_000.0), shares.sees("192.0.2.0/24", 500 << 10, 90_000.0)
    (True, False)
    """

    def __init__(self) -> None:
        self._day = -1
        self._begin(-1)

    def opens(self, network: str, url: str, now: float) -> bool:
        """Return whether a network's opening of a page is recorded; if so, count it."""
        name, pair = self._names(network, url, now)
        if pair in self._pairs or self._openings[name] >= OPENINGS or len(self._pairs) >= PAIRS:
            return False
        self._pairs.add(pair)
        self._openings[name] += 1
        return True

    def give_back(self, network: str, url: str, now: float) -> None:
        """Undo the count of an opening that could not be recorded; those of earlier days are forgotten already."""
        if int(now // DAY_S) != self._day:
            return
        name, pair = self._names(network, url, now)
        if pair in self._pairs:
            self._pairs.discard(pair)
            self._openings[name] -= 1

    def sees(self, network: str, size_bytes: int, now: float) -> bool:
        """Return whether results that a network has seen are recorded; if so, count their size."""
        name, _ = self._names(network, "", now)
        if self._bytes[name] + size_bytes > BYTES or (name not in self._bytes and len(self._bytes) >= NETWORKS):
            return False
        self._bytes[name] += size_bytes
        return True

    def give_back_bytes(self, network: str, size_bytes: int, now: float) -> None:
        """Undo the count of results that could not be recorded."""
        if int(now // DAY_S) == self._day:
            self._bytes[self._names(network, "", now)[0]] -= size_bytes

    def _names(self, network: str, url: str, now: float) -> tuple[bytes, bytes]:
        if (day := int(now // DAY_S)) != self._day:
            self._begin(day)
        return self._digest(network), self._digest(f"{network} {url}")

    def _begin(self, day: int) -> None:
        self._day, self._key = day, secrets.token_bytes(32)
        self._pairs = set[bytes]()
        self._openings, self._bytes = Counter[bytes](), Counter[bytes]()

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256")[:_KEY_BYTES]


def network_of(client: str, forwarded: str) -> str:
    """Return the network of a client: a /24 or a /48; "" if it is not known.

    Parameters
    ----------
    client
        The address that is connected.
    forwarded
        The header X-Forwarded-For; only what a proxy on this machine has added at its end counts.

    Examples
    --------
    >>> network_of("192.0.2.7", "198.51.100.1"), network_of("127.0.0.1", "198.51.100.1, 2001:db8:1:2::3")
    ('192.0.2.0/24', '2001:db8:1::/48')
    >>> network_of("127.0.0.1", "::ffff:192.0.2.7"), network_of("127.0.0.1", "unknown")
    ('192.0.2.0/24', '')
    """
    try:
        address = ip_address(client)
        if address.is_loopback:
            address = ip_address(forwarded.rpartition(",")[2].strip())
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:
        address = mapped
    return str(ip_network(f"{address}/{24 if address.version == 4 else 48}", strict=False))
