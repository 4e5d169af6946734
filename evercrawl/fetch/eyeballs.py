"""Two addresses of one server, of which the second is tried if the first does not answer at once (RFC 8305)."""

from __future__ import annotations

import ipaddress
from collections import Counter, OrderedDict
from typing import Final

__all__ = ["AddressAliases"]

MOST_ALIASES: Final = 10_000


class AddressAliases:
    """Names by which curl finds the addresses of servers.

    curl tries two addresses at a time if a name leads to both, and reuses a kept connection if it was made to the
    same name. So a server whose addresses were tried together keeps its name, and the connection serves the requests
    that follow. Only curl's cache knows these names, and only while they are in use: curl goes through its whole
    cache at each transfer.

    Examples
    --------
    >>> aliases = AddressAliases()
    >>> aliases.both("http://a.example", "80", "192.0.2.1", "2001:db8::1")
    ('a1.invalid', ['a1.invalid:80:192.0.2.1,[2001:db8::1]'])
    >>> aliases.ended("a1.invalid", "http://a.example", "80", "2001:db8::1")
    >>> aliases.one("http://a.example", "80", "2001:db8::1")
    ('a1.invalid', ['-a1.invalid:80', 'a1.invalid:80:[2001:db8::1]'])
    >>> aliases.one("http://a.example", "80", "192.0.2.1"), aliases.one("http://b.example", "80", "192.0.2.1")
    (('', []), ('', []))
    """

    def __init__(self) -> None:
        self._aliases: OrderedDict[str, tuple[str, str]] = OrderedDict()  # origin -> name, address that answered
        self._in_use = Counter[str]()
        self._unused = list[str]()  # RESOLVE lines that remove names from curl's cache
        self._made = 0

    def both(self, origin: str, port: str, first: str, second: str) -> tuple[str, list[str]]:
        """Return the name for two addresses of a server, and the entries for curl's cache (RESOLVE)."""
        name, _ = self._aliases.pop(origin, ("", ""))
        if not name:
            self._made += 1
            name = f"a{self._made}.invalid"
            if len(self._aliases) >= MOST_ALIASES:
                self._aliases.popitem(last=False)
        self._aliases[origin] = name, ""
        return name, self._lines(name, port, first, second)

    def one(self, origin: str, port: str, address: str) -> tuple[str, list[str]]:
        """Return the name for an address of a server that answered, "" for another; and the RESOLVE entries."""
        name, answered = self._aliases.get(origin, ("", ""))
        if not answered or answered != _plain(address):
            return "", self._told()
        return name, self._lines(name, port, address)

    def ended(self, name: str, origin: str, port: str, address: str) -> None:
        """Note the end of a transfer to a name, and the address of its connection ("" for none)."""
        if address and self._aliases.get(origin, ("", ""))[0] == name:  # else it was dropped meanwhile
            self._aliases[origin] = name, _plain(address)
        self._in_use[name] -= 1
        if not self._in_use[name]:
            del self._in_use[name]
            self._unused.append(f"-{name}:{port}")

    def _lines(self, name: str, port: str, *addresses: str) -> list[str]:
        self._in_use[name] += 1
        listed = ",".join(f"[{one}]" if ":" in one else one for one in addresses)
        return [*self._told(), f"{name}:{port}:{listed}"]

    def _told(self) -> list[str]:
        told, self._unused = self._unused, []
        return told


def _plain(address: str) -> str:
    return str(ipaddress.ip_address(address))
