"""What every resolver promises."""

import ipaddress
from collections.abc import Iterable
from typing import Protocol

__all__ = ["MAX_ADDRESSES", "NO_SUCH_NAME", "TIME_OUT", "ResolveError", "Resolver", "literal", "ordered"]

NO_SUCH_NAME = "no such name"
TIME_OUT = "time-out"
MAX_ADDRESSES = 16
"""How many addresses of a name are tried; whoever gives more would have us knock at doors that are not its own."""


class ResolveError(Exception):
    """A name has no address that we could learn; the web's fault, so it ends as an `Outcome`.

    Attributes
    ----------
    reason
        "no such name", "time-out" or another short sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Resolver(Protocol):
    """Turns a host name into addresses."""

    async def resolve(self, host: str) -> list[str]:
        """Return the addresses of `host` as text, IPv4 first, at least one; an IP literal returns itself.

        Parameters
        ----------
        host
            As in a normalised URL: lower case, Punycode, IPv6 in brackets or not.

        Raises
        ------
        ResolveError
            When there are none, or nobody answers in time.
        """
        ...


def literal(host: str) -> list[str]:
    """Return the address that `host` is, as a list of one; [] for a name.

    Examples
    --------
    >>> literal("[::1]"), literal("127.0.0.1"), literal("a.example")
    (['::1'], ['127.0.0.1'], [])
    """
    bare = host[1:-1] if host[:1] == "[" and host[-1:] == "]" else host
    if bare[-1:].isdigit() or ":" in bare:
        try:
            return [str(ipaddress.ip_address(bare))]
        except ValueError:
            return []
    return []


def ordered(addresses: Iterable[str]) -> list[str]:
    """Return `addresses` each once, IPv4 before IPv6, otherwise in their order; at most `MAX_ADDRESSES`.

    Examples
    --------
    >>> ordered(["::2", "10.0.0.2", "10.0.0.1", "::2"])
    ['10.0.0.2', '10.0.0.1', '::2']
    """
    return sorted(dict.fromkeys(addresses), key=lambda address: ":" in address)[:MAX_ADDRESSES]
