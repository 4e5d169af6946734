"""What every resolver promises."""

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
"""How many addresses of a name are tried; whoever gives more would have us knock at doors that are not its own."""


class NameAnswer(NamedTuple):
    """What is known of a name.

    Attributes
    ----------
    addresses
        As text, IPv4 first, at least one.
    ttl_s
        For how long that holds, by whoever said it; None where they do not say.
    """

    addresses: tuple[str, ...]
    ttl_s: float | None = None


class ResolveError(Exception):
    """A name has no address that we could learn.

    Attributes
    ----------
    reason
        "no such name", "time-out" or another short sentence.
    until
        Instant before which nothing else will be said of the name, s since the epoch; 0 where that is not known.
    put_off
        Whether it is nobody's failure: the name is not asked for now, because others of its domain stay unanswered.
    """

    def __init__(self, reason: str, until: float = 0.0, *, put_off: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.until, self.put_off = reason, until, put_off

    @property
    def silent(self) -> bool:
        """Whether nobody answered for the name; else the answer is that it has no address."""
        return self.reason != NO_SUCH_NAME


class Resolver(Protocol):
    """Turns a host name into addresses."""

    @property
    def label(self) -> str:
        """Who is asked, in words."""
        ...

    async def resolve(self, host: str) -> NameAnswer:
        """Return where `host` leads; an IP literal leads to itself.

        Parameters
        ----------
        host
            As in a normalised URL: lower case, Punycode, IPv6 in brackets or not.

        Raises
        ------
        ResolveError
            When there is no address, or nobody answers in time.
        """
        ...


def literal(host: str) -> tuple[str, ...]:
    """Return the address that `host` is, as one of one; () for a name.

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
    """Return `addresses` each once, IPv4 before IPv6, otherwise in their order; at most `MAX_ADDRESSES`.

    Examples
    --------
    >>> ordered(["::2", "10.0.0.2", "10.0.0.1", "::2"])
    ('10.0.0.2', '10.0.0.1', '::2')
    """
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address)[:MAX_ADDRESSES])
