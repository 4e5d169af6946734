"""Sites: groups of hosts with one owner, by the public suffix list; unnamed addresses are grouped by network."""

import ipaddress
from functools import cache, lru_cache
from typing import Final

from publicsuffixlist import PublicSuffixList, __version__

from evercrawl.parse.digest import checksum
from evercrawl.parse.urls import hostname

PREFIX_4: Final = 24
PREFIX_6: Final = 48
"""Bits of a network that counts as one site: what a provider gives to one customer without asking."""
_GROUPING: Final = 2  # incremented when the grouping of hosts changes
_CARRIERS: Final = frozenset(
    ipaddress.IPv6Address(text).packed[:12] for text in ("::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::")
)  # the first 96 bits of IPv6 addresses whose last 32 are an IPv4 address


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@cache
def _registries() -> PublicSuffixList:
    return PublicSuffixList(only_icann=True)


@lru_cache(maxsize=8192)
def _of_a_registry(suffix: str) -> bool:
    return _registries().publicsuffix(suffix) == suffix


def costs_nothing(site: str) -> bool:
    """Return whether a site is a name below a domain whose owner gives out names, such as `github.io`.

    Such names are mostly free. Names that registries give out cost a fee; addresses are no names.

    Examples
    --------
    >>> costs_nothing("ant.github.io"), costs_nothing("ant.co.uk"), costs_nothing("192.0.2.1")
    (True, False, False)
    """
    suffix = site.partition(".")[2]
    return bool(suffix) and not is_address(site) and not _of_a_registry(suffix)


def site_rules() -> int:
    """Return a non-zero digest of the list in use: with another list, hosts may belong to other sites."""
    return checksum(f"{__version__} {_GROUPING}".encode()) | 1


def registrable(host: str) -> str | None:
    """Return the registrable domain of `host`; None for a public suffix, or if it is no domain.

    Examples
    --------
    >>> registrable("www.example.co.uk")
    'example.co.uk'
    >>> registrable("co.uk") is None
    True
    """
    return _suffixes().privatesuffix(host)


def has_public_suffix(host: str) -> bool:
    """Return whether `host` ends in a suffix of the list, as web names do and `seeds.txt` does not.

    Examples
    --------
    >>> has_public_suffix("example.org"), has_public_suffix("seeds.txt")
    (True, False)
    """
    return _suffixes().publicsuffix(host, accept_unknown=False) is not None


@lru_cache(maxsize=8192)
def site(host: str) -> str:
    """Return the site of a seed's `host`: its registrable domain; an address, bare label or public suffix is its own.

    Examples
    --------
    >>> site("docs.example.org"), site("127.0.0.1"), site("[::1]"), site("localhost")
    ('example.org', '127.0.0.1', '[::1]', 'localhost')
    """
    return host if is_address(host) else registrable(host) or host


def same_site(initiator: str, url: str) -> bool:
    """Return whether a request is of the site that it goes to: the crawl's own (""), or of a page of that site.

    As for cookies with SameSite=Strict, a page that was not encrypted is not of the same site as an encrypted one.

    Examples
    --------
    >>> same_site("https://www.example.org/", "https://api.example.org/me"), same_site("", "https://a.example/")
    (True, True)
    >>> same_site("https://a.example/", "https://b.example/"), same_site("http://a.example/", "https://a.example/")
    (False, False)
    """
    if not initiator:
        return True
    if url.startswith("https:") and not initiator.startswith("https:"):
        return False
    return site(hostname(initiator)) == site(hostname(url))


def is_address(host: str) -> bool:
    """Return whether `host`, as in a normalised URL, is an IP address.

    >>> is_address("192.0.2.1"), is_address("[::1]"), is_address("a1")
    (True, True, False)
    """
    return host.startswith("[") or host.rpartition(".")[2].isdigit()


@lru_cache(maxsize=8192)
def found_site(host: str) -> str:
    """Return the site of a `host` found by links: as for a seed, but for an address its network, with a "/" in it.

    Addresses are cheaper than names: a customer gets 256 IPv4 addresses, or 2^80 IPv6 addresses. An IPv6 address that
    embeds an IPv4 address belongs to the latter's network.

    Examples
    --------
    >>> found_site("docs.example.org"), found_site("192.0.2.7"), found_site("[2001:db8:1:2::3]")
    ('example.org', '192.0.2.0/24', '2001:db8:1::/48')
    >>> found_site("[::ffff:c000:207]"), found_site("[64:ff9b::c000:207]"), found_site("[2002:c000:207::1]")
    ('192.0.2.0/24', '192.0.2.0/24', '192.0.2.0/24')
    """
    if not is_address(host):
        return site(host)
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return site(host)
    if isinstance(address, ipaddress.IPv6Address):
        address = _carried(address) or address
    return str(ipaddress.ip_network(f"{address}/{PREFIX_4 if address.version == 4 else PREFIX_6}", strict=False))


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address embedded in an IPv6 address; None without one."""
    if address.teredo is not None:
        return address.teredo[1]
    if address.packed[:12] in _CARRIERS:
        return ipaddress.IPv4Address(address.packed[12:])
    return address.sixtofour
