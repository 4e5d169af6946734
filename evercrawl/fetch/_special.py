"""Addresses and ports to which a crawler of the open web must not connect.

The networks are those of the IANA special-purpose address registries (RFC 6890 and its followers) that are not
globally reachable, and more. `ipaddress.is_global` is not enough. In Python 3.11.7 it is True for 192.0.0.8 and its
neighbours, 192.88.99.0/24, 64:ff9b:1::/48, 3fff::/20, 5f00::/16, fec0::/10, multicast groups of global scope, all
unassigned IPv6 space, and addresses that embed a loopback address (64:ff9b::7f00:1, 2002:7f00:1::, ::7f00:1). Later
versions correct only the first few.
"""

from ipaddress import IPv4Network, IPv6Network

__all__ = ["BAD_PORTS", "METADATA", "SPECIAL_4", "SPECIAL_6"]

METADATA = frozenset(
    {
        "169.254.169.254",  # most clouds
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure's wire server, within public address space
        "192.0.0.192",  # Oracle, formerly
        "fd00:ec2::254",  # Amazon over IPv6
    }
)
"""The addresses at which cloud providers give a machine its secrets."""

SPECIAL_4: tuple[tuple[IPv4Network, str], ...] = (
    (IPv4Network("0.0.0.0/32"), "the unspecified address"),
    (IPv4Network("0.0.0.0/8"), "an address of this network"),
    (IPv4Network("10.0.0.0/8"), "a private address"),
    (IPv4Network("100.64.0.0/10"), "a carrier's private address (CGNAT)"),
    (IPv4Network("127.0.0.0/8"), "a loopback address"),
    (IPv4Network("169.254.0.0/16"), "a link-local address"),
    (IPv4Network("172.16.0.0/12"), "a private address"),
    (IPv4Network("192.0.0.0/24"), "a protocol assignment"),
    (IPv4Network("192.0.2.0/24"), "a documentation address"),
    (IPv4Network("192.88.99.0/24"), "a 6to4 relay address"),
    (IPv4Network("192.168.0.0/16"), "a private address"),
    (IPv4Network("198.18.0.0/15"), "a benchmarking address"),
    (IPv4Network("198.51.100.0/24"), "a documentation address"),
    (IPv4Network("203.0.113.0/24"), "a documentation address"),
    (IPv4Network("224.0.0.0/4"), "a multicast address"),
    (IPv4Network("255.255.255.255/32"), "the broadcast address"),
    (IPv4Network("240.0.0.0/4"), "a reserved address"),
)
"""Networks and what they are, the narrower of two before the wider."""

SPECIAL_6: tuple[tuple[IPv6Network, str], ...] = (
    (IPv6Network("::/128"), "the unspecified address"),
    (IPv6Network("::1/128"), "a loopback address"),
    (IPv6Network("64:ff9b:1::/48"), "a local NAT64 address"),
    (IPv6Network("100::/64"), "a discard-only address"),
    (IPv6Network("2001:2::/48"), "a benchmarking address"),
    (IPv6Network("2001:db8::/32"), "a documentation address"),
    (IPv6Network("3fff::/20"), "a documentation address"),
    (IPv6Network("fc00::/7"), "a unique-local address"),
    (IPv6Network("fe80::/10"), "a link-local address"),
    (IPv6Network("fec0::/10"), "a site-local address"),
    (IPv6Network("ff00::/8"), "a multicast address"),
)

# As the Fetch standard lists them: services that might interpret a request as commands of their own.
# fmt: off
BAD_PORTS = frozenset({
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
})
# fmt: on
