"""Hosts with addresses of both families: two are tried at a time, and both are counted (RFC 8305)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evercrawl.types import Exchange

if TYPE_CHECKING:
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host

__all__ = ["BothFamilies"]


@dataclass(frozen=True, slots=True)
class _Pair:
    """The second address of a host, and the key under which its exchanges are counted."""

    beside: str
    key: int


class BothFamilies:
    """Finds a second address of a host to try at the same time, and keeps the host at the one that answered.

    Parameters
    ----------
    frontier
        Counts exchanges with addresses.
    on
        Whether a second address is tried at all.
    """

    def __init__(self, frontier: Frontier, *, on: bool) -> None:
        self._frontier, self.on = frontier, on
        self._pairs: dict[str, _Pair] = {}  # by host name, while its exchange is under way

    def begun(self, host: Host, addresses: tuple[str, ...], now: float, may: Callable[[int], bool]) -> str:
        """Return which of `addresses` is tried beside the first, and count an exchange with it; "" for none.

        A host that has answered keeps its address. An address is not tried if it is busy or rests, or if `may` says
        of its key that another partition has leased it.
        """
        if not self.on or len(addresses) < 2 or host.answers or host.in_flight or host.name in self._pairs:
            return ""
        beside = next((one for one in addresses if _is_6(one) != _is_6(addresses[0])), "")
        key = self._frontier.began_beside(host, beside, now, may) if beside else 0
        if not key:
            return ""
        self._pairs[host.name] = _Pair(beside, key)
        return beside

    def tried(self, host: Host) -> int:
        """Return how many addresses of a host the exchange under way tries."""
        return 1 + (host.name in self._pairs)

    def ended(self, host: Host, exchange: Exchange, now: float) -> None:
        """Note the end of an exchange: the host keeps the address that answered, and leaves one that failed."""
        pair = self._pairs.pop(host.name, None)
        if pair is None:
            return
        self._frontier.ended_beside(pair.key, now)
        others = tuple(one for one in host.addresses if one != pair.beside)
        if exchange.sent and _same(exchange.ip, pair.beside):
            self._frontier.locate(host, (pair.beside, *others), host.located_until)
        elif not exchange.sent:
            self._frontier.locate(host, (*others, pair.beside), host.located_until)


def stays(host: Host, addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Return the new addresses of a host; the one at which it answered comes first if the families differ."""
    held = host.addresses[0] if host.answers and host.addresses else ""
    if held in addresses[1:] and _is_6(held) != _is_6(addresses[0]):
        return (held, *(one for one in addresses if one != held))
    return addresses


def _is_6(address: str) -> bool:
    return ":" in address


def _same(one: str, other: str) -> bool:
    return _is_6(one) == _is_6(other)
