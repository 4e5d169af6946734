"""Decides which addresses may be connected to: the open Internet, and what the person running the crawl allows."""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Final, TypeAlias

from evercrawl.errors import ConfigError
from evercrawl.fetch._special import BAD_PORTS, METADATA, SPECIAL_4, SPECIAL_6

__all__ = ["OTHER_PORT", "Guard", "is_own"]

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

OTHER_PORT: Final = "is not one that web servers use"
"""How the refusal of a port ends."""
_NOBODYS = "192.0.2.1"  # for documentation (RFC 5737): no machine has it
_LOW_32 = (1 << 32) - 1
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")
_TEREDO = ipaddress.IPv6Network("2001::/32")
_ASSIGNED = ipaddress.IPv6Network("2001::/23")
_ISATAP = (0x00005EFE, 0x02005EFE)  # precedes the IPv4 address, in any network (RFC 5214, section 6.1)
_CARRIERS = (  # networks that embed IPv4 addresses: name, shifts to each address, whether it is in use
    (ipaddress.IPv6Network("::/96"), "IPv4-compatible", (0,), False),
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), "IPv4-translated", (0,), False),
    (ipaddress.IPv6Network("64:ff9b::/96"), "NAT64", (0,), True),
    (ipaddress.IPv6Network("2002::/16"), "6to4", (80,), True),
    (_TEREDO, "Teredo", (0, 64), True),  # the client's, with all bits inverted, and the server's
)


class Guard:
    """Judges addresses before a connection is made, and ports before a name is looked up.

    Parameters
    ----------
    allow
        Networks in CIDR notation (or single addresses) that may be connected to although they are special. An IPv4
        network also allows its IPv4-mapped form, and nothing else: 127.0.0.0/8 does not allow ::1.
    refuse
        Networks that must not be connected to in any case, nor IPv6 addresses that embed one of theirs.
    own
        Whether an address is one of this machine, as `is_own` says; services there may trust local clients. Only
        `allow` permits them.

    Raises
    ------
    ConfigError
        An entry of `allow` or `refuse` is not a network.

    Examples
    --------
    >>> Guard().judge("127.0.0.1")
    '127.0.0.1 is a loopback address'
    >>> Guard(["127.0.0.0/8"]).judge("::ffff:127.0.0.1")
    ''
    """

    def __init__(
        self, allow: Iterable[str] = (), refuse: Iterable[str] = (), own: Callable[[str], bool] = lambda _: False
    ) -> None:
        allowed, refused = (tuple(_network(text) for text in texts) for texts in (allow, refuse))
        # The same few addresses are judged for every connection.
        self._judged = lru_cache(maxsize=8192)(partial(_judge, allowed=allowed, refused=refused, own=own))

    def judge(self, address: str) -> str:
        """Return "" if `address` (as text) may be connected to, else a sentence that says why not.

        Text that is not an address is refused.
        """
        return self._judged(address)

    def judge_url(self, url: str) -> str:
        """Return "" if scheme and port of the normalised `url` are permitted, else a sentence.

        Examples
        --------
        >>> Guard().judge_url("http://a.example:25/"), Guard().judge_url("https://a.example:8443/")
        ('port 25 is not one that web servers use', '')
        """
        scheme, _, rest = url.partition("://")
        if scheme not in ("http", "https"):
            return f"{scheme.partition(':')[0][:40]!r} is not http or https"
        port = rest.partition("/")[0].partition("?")[0].rpartition("@")[2].rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdigit() and int(port) < 65_536):
            return f"{port[:40]!r} is not a port"
        return f"port {port} {OTHER_PORT}" if port and int(port) in BAD_PORTS else ""


def _network(text: str) -> _Network:
    """Return the network that a person wrote; an IPv4-mapped network is returned in its IPv4 form."""
    try:
        network = ipaddress.ip_network(text, strict=False)
        exact = "/" not in text or ipaddress.ip_address(text.partition("/")[0]) == network.network_address
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a network: write an address and the length of its prefix, such as 10.0.0.0/8 or fd00::/8"
        ) from None
    if not exact:
        raise ConfigError(f"{text!r} names one address of a larger network: write {network} to allow all of it")
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(_MAPPED):
        return ipaddress.IPv4Network((int(network.network_address) & _LOW_32, network.prefixlen - 96))
    return network


def is_own(address: str) -> bool:
    """Whether an address belongs to an interface of this machine: only then can a socket be bound to it.

    >>> is_own("127.0.0.1"), is_own("192.0.2.1")
    (True, False)
    """
    return can_bind(address) and not can_bind(_NOBODYS)  # a system may allow sockets to be bound to any address


def can_bind(address: str) -> bool:
    """Whether the system lets a socket be bound to an address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _judge(text: str, allowed: tuple[_Network, ...], refused: tuple[_Network, ...], own: Callable[[str], bool]) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return f"{text[:80]!r} is not an IP address"
    address = _plain(address)
    leads_to = (address, *(inner for _, inner in _inner(address)))
    for each in leads_to:
        if network := next((network for network in refused if each in network), None):
            return f"{text} is in {network}, which refuse_net names"
    if any(address in network for network in allowed):
        return ""
    if reason := _special(address):
        return f"{text} is {reason}"
    return f"{text} is an address of this machine" if any(own(str(each)) for each in leads_to) else ""


def _plain(address: _Address) -> _Address:
    """Return `address` without a scope, and as IPv4 if it is IPv4-mapped."""
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or ipaddress.IPv6Address(int(address))
    return address


def _special(address: _Address) -> str:
    """Return what is special about `address`, such as "a loopback address"; "" for an ordinary one."""
    if str(address) in METADATA:
        return "a cloud's metadata or control address"
    if isinstance(address, ipaddress.IPv4Address):
        return next((what for network, what in SPECIAL_4 if address in network), "")
    for network, what in SPECIAL_6:
        if address in network:
            return what
    for name, one in _inner(address):
        if reason := _special(one):
            return f"the {name} form of {one}, {reason}"
    if any(address in network for network, _, _, in_use in _CARRIERS if in_use):
        return ""
    if address in _ASSIGNED:  # anycast services and identifiers, no web server
        return "a protocol assignment"
    # All unicast space assigned so far is in 2000::/3.
    return "" if int(address) >> 125 == 0b001 else "a reserved address"


def _inner(address: _Address) -> Iterator[tuple[str, ipaddress.IPv4Address]]:
    """Yield the IPv4 addresses embedded in `address`, each with the name of its form."""
    for network, name, shifts, _ in _CARRIERS:
        if address in network:
            for shift in shifts:
                bits = int(address) >> shift & _LOW_32
                yield name, ipaddress.IPv4Address(bits ^ _LOW_32 if name == "Teredo" and shift == 0 else bits)
    if int(address) >> 32 & _LOW_32 in _ISATAP and address.version == 6:
        yield "ISATAP", ipaddress.IPv4Address(int(address) & _LOW_32)
