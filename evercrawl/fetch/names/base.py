"""The interface of all resolvers."""

import ipaddress
from collections.abc import Iterable
from typing import NamedTuple, Protocol

__all__ = [
    "MAX_ADDRESSES",
    "NO_SUCH_NAME",
    "TIME_OUT",
    "NameAnswer",
    "ResolveError",
    "Resolver",
    "literal",
    "ordered",
]

NO_SUCH_NAME = "no such name"
TIME_OUT = "time-out"
MAX_ADDRESSES = 16
"""The number of addresses of a name that are tried; more might point us at servers of others."""


class NameAnswer(NamedTuple):
    """A resolver's answer for a name.

    Attributes
    ----------
    addresses
        As text, IPv4 first, at least one.
    ttl_s
        How long the answer is valid by its source; None if that is not known.
    """

    addresses: tuple[str, ...]
    ttl_s: float | None = None


class ResolveError(Exception):
    """No address could be found for a name.

    Attributes
    ----------
    reason
        "no such name", "time-out" or another short sentence.
    until
        Until when the answer is valid, s since the epoch; 0 if that is not known.
    put_off
        Whether this is no failure of the host: the name is not looked up now, because its domain does not answer.
    """

    def __init__(self, reason: str, until: float = 0.0, *, put_off: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.until, self.put_off = reason, until, put_off

    @property
    def silent(self) -> bool:
        """Whether there was no answer for the name; else the answer is that it has no address."""
        return self.reason != NO_SUCH_NAME


class Resolver(Protocol):
    """Interface that turns a host name into addresses."""

    @property
    def label(self) -> str:
        """The description of the resolver for people."""
        ...

    async def resolve(self, host: str) -> NameAnswer:
        """Return the addresses of `host`; an IP literal is its own address.

        Parameters
        ----------
        host
            As in a normalised URL: lower case, Punycode, IPv6 with or without brackets.

        Raises
        ------
        ResolveError
            There is no address, or no answer in time.
        """
        ...


def literal(host: str) -> tuple[str, ...]:
    """Return the address that `host` is, as a tuple of one; () for a name.

    Examples
    --------
    >>> literal("[::1]"), literal("127.0.0.1"), literal("a.example")
    (('::1',), ('127.0.0.1',), ())
    """
    bare = host[1:-1] if host[:1] == "[" and host[-1:] == "]" else host
    if bare[-1:].isdigit() or ":" in bare:
        try:
            return (str(ipaddress.ip_address(bare)),)
        except ValueError:
            return ()
    return ()


def ordered(addresses: Iterable[str]) -> tuple[str, ...]:
    """Return `addresses` without duplicates, IPv4 before IPv6, otherwise in order; at most `MAX_ADDRESSES`.

    Examples
    --------
    >>> ordered(["::2", "10.0.0.2", "10.0.0.1", "::2"])
    ('10.0.0.2', '10.0.0.1', '::2')
    """
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address)[:MAX_ADDRESSES])
