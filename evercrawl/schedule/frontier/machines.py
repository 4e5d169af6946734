"""The machine behind an address: a key that addresses of one machine share."""

import ipaddress
from functools import lru_cache
from typing import Final

__all__ = ["machine_of"]

_PREFIX_6: Final = 64
"""Prefix length of an IPv6 network treated as one machine: the size assigned to an interface (RFC 4291, 2.5.1)."""
_NAT64: Final = ipaddress.IPv6Address("64:ff9b::").packed[:12]


def machine_of(address: str) -> str:
    """Return a key of the machine that an address leads to.

    An IPv4 address is one machine, in any of its IPv6 notations. Otherwise somebody with names for a victim's address
    in several notations could have it requested several times at once. For IPv6 the machine is the network of one
    interface. A string that is not an address is its own key.

    Examples
    --------
    >>> machine_of("192.0.2.1"), machine_of("a.example")
    ('192.0.2.1', 'a.example')
    >>> machine_of("::ffff:192.0.2.1"), machine_of("64:ff9b::c000:201"), machine_of("2002:c000:201:9::1")
    ('192.0.2.1', '192.0.2.1', '192.0.2.1')
    >>> machine_of("2001:db8::1") == machine_of("2001:db8::ffff:2"), machine_of("2001:db8:0:1::1")
    (True, '2001:db8:0:1::/64')
    """
    return _machine(address) if ":" in address else address


@lru_cache(maxsize=1024)
def _machine(address: str) -> str:
    try:
        found = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo is not None else None)
    if inner is None and found.packed[:12] == _NAT64:
        inner = ipaddress.IPv4Address(found.packed[12:])
    return str(inner or ipaddress.ip_network((int(found) >> 64 << 64, _PREFIX_6)))
