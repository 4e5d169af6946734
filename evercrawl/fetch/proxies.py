"""Distributes hosts over several proxies, and avoids proxies that failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import unquote

import msgspec
import xxhash

from evercrawl.errors import ConfigError

__all__ = ["WANTS_LOGIN", "Proxies", "ProxyHealth", "harmless", "looks_up", "proxy_fault", "proxy_name"]

AWAY_S: Final = 30.0
"""The time for which a proxy is not used after a failure; it doubles with each in a row, up to `AWAY_MOST_S`."""
AWAY_MOST_S: Final = 3600.0
_LOOKED_UP_HERE: Final = ("socks4", "socks5")
_NO_PROXY_HOST, _NOT_CONNECTED, _TIMED_OUT, _RECEIVE_FAILED, _PROXY_FAILED = 5, 7, 28, 56, 97
_REPLY: Final = re.compile(r"\((\d+)\)\.?$")
_AUTHENTICATE: Final = "response 407"
_TELLING: Final = 4  # shorter passwords occur in any sentence
_DENIED: Final = 3
"""Hosts in a row with status 407 until a proxy that has worked is to blame: a site can send that status too."""


class ProxyHealth(msgspec.Struct, frozen=True):
    """The state of a proxy.

    Attributes
    ----------
    proxy
        Its address, without user name and password.
    answered, failed
        The number of exchanges in this run that it made, and that it failed to make.
    away_until
        When it is used again, s since the epoch; 0 if it is in use.
    why
        Why it failed last; "" if its last exchange was made.
    """

    proxy: str
    answered: int = 0
    failed: int = 0
    away_until: float = 0.0
    why: str = ""


class Proxies:
    """Proxies distributed over hosts; those that fail are not used for a while.

    A host keeps its proxy as long as that answers, so that the host sees one address and its cookies stay valid. If
    none answers, the proxy that has been avoided for longest is tried.

    Parameters
    ----------
    urls
        The URLs of the proxies.
    told
        Called with the health of all when it has changed.

    Attributes
    ----------
    looks_up
        Whether the proxies, rather than the crawl, look up the names of hosts.

    Raises
    ------
    ConfigError
        Some look names up and some do not.

    Examples
    --------
    >>> proxies = Proxies(["socks5h://127.0.0.1:1", "socks5h://127.0.0.1:2"])
    >>> first = proxies.of("a.example", 0.0)
    >>> proxies.failed(first, 0.0, "it does not answer")
    >>> proxies.of("a.example", 1.0) == first, proxies.of("a.example", 31.0) == first
    (False, True)
    """

    def __init__(self, urls: Sequence[str], told: Callable[[list[ProxyHealth]], None] = lambda _: None) -> None:
        self._health = {url: ProxyHealth(proxy_name(url)) for url in dict.fromkeys(urls)}
        self.looks_up = looks_up(urls)
        self._in_a_row = dict.fromkeys(self._health, 0)
        self._denied: dict[str, set[str]] = {url: set() for url in self._health}  # hosts, since the last other status
        self._told = told

    def __len__(self) -> int:
        """Return the number of proxies."""
        return len(self._health)

    @property
    def health(self) -> list[ProxyHealth]:
        """The state of each proxy."""
        return list(self._health.values())

    def of(self, host: str, now: float, without: Sequence[str] = ()) -> str:
        """Return the URL of the proxy for a host's exchange; "" if there is none outside `without`."""
        found = [url for url in self._health if url not in without]
        if not found:
            return ""
        ready = [url for url in found if self._health[url].away_until <= now]
        if ready:
            return max(
                ready, key=lambda url: xxhash.xxh3_64_intdigest(f"{host} {url}".encode())
            )  # other hosts keep theirs when one goes
        return min(found, key=lambda url: self._health[url].away_until)

    def failed(self, url: str, now: float, why: str) -> None:
        """Avoid a proxy for a while after a failure."""
        held = self._health[url]
        if held.away_until <= now:  # exchanges that fail together count once
            self._in_a_row[url] += 1
        away_s = min(AWAY_S * 2.0 ** (self._in_a_row[url] - 1), AWAY_MOST_S)
        until = max(held.away_until, now + away_s)
        self._health[url] = ProxyHealth(held.proxy, held.answered, held.failed + 1, until, why)
        self._told(self.health)

    def denied(self, url: str, host: str) -> bool:
        """Return whether a proxy is to blame for status 407 of a plain HTTP exchange, rather than the host behind it.

        It is if it has not made an exchange since it failed last, or gives this status for one host after the other.
        """
        held, hosts = self._health[url], self._denied[url]
        hosts.add(host)
        return not held.answered or bool(held.why) or len(hosts) >= _DENIED

    def answered(self, url: str) -> None:
        """Record that a proxy has made an exchange."""
        held = self._health[url]
        self._in_a_row[url] = 0
        self._denied[url].clear()
        self._health[url] = ProxyHealth(held.proxy, held.answered + 1, held.failed)
        if held.why:
            self._told(self.health)


WANTS_LOGIN: Final = "it refuses the user name or password"


def proxy_fault(code: int, words: str, status: int, *, connected: bool) -> str:
    """Return why a proxy, and not the server behind it, is at fault for how an exchange ended; "" if it is not.

    Parameters
    ----------
    code, words
        curl's error number and message.
    status
        Status of the proxy's own answer: to CONNECT, or to a plain HTTP exchange; 0 if it gives none (SOCKS).
    connected
        Whether there was a connection through the proxy.

    Examples
    --------
    >>> proxy_fault(7, "Failed to connect", 0, connected=False)
    'it cannot be connected to'
    >>> proxy_fault(97, "cannot complete SOCKS5 connection to a.example. (4)", 0, connected=True)
    ''
    """
    if code == _NO_PROXY_HOST:
        return "its name cannot be resolved"
    if code == _NOT_CONNECTED or (code == _TIMED_OUT and not connected):
        return "it cannot be connected to"
    if status == 407 or (code == _RECEIVE_FAILED and _AUTHENTICATE in words):
        return WANTS_LOGIN
    if code == _PROXY_FAILED and not _REPLY.search(words.strip()):  # a number is a reply about the server behind it
        return "it does not follow the proxy protocol"
    return ""


def looks_up(urls: Sequence[str]) -> bool:
    """Return whether the proxies, rather than the crawl, look up the names of hosts.

    Raises
    ------
    ConfigError
        Some do and some do not.

    Examples
    --------
    >>> looks_up(["socks5h://127.0.0.1:1080", "http://127.0.0.1:3128"]), looks_up(["socks5://127.0.0.1:1080"])
    (True, False)
    """
    kinds = {url.partition("://")[0].lower() not in _LOOKED_UP_HERE for url in urls}
    if len(kinds) > 1:
        raise ConfigError(
            "some of the proxies look names up and some do not: use socks5h (or http) for all, or socks5 for all"
        )
    return kinds != {False}


def proxy_name(url: str) -> str:
    """Return a proxy's URL without user name and password.

    >>> proxy_name("http://me:secret@proxy.example:3128")
    'http://proxy.example:3128'
    """
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def harmless(words: str, url: str) -> str:
    """Return curl's words about an exchange through a proxy, or others if they repeat its user name or password.

    >>> harmless("Bad password in 'http://me:secret@proxy.example:3128'", "http://me:secret@proxy.example:3128")
    'the proxy http://proxy.example:3128 cannot be used'
    """
    login = url.partition("://")[2].rpartition("@")[0]
    secrets = [part for part in (login, login.partition(":")[2]) if len(part) >= _TELLING]
    told = any(part in words or unquote(part) in words for part in secrets)
    return f"the proxy {proxy_name(url)} cannot be used" if told else words
