"""Hosts without pages, which are asked for files of others, such as a robots.txt that has moved there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host

MOST: Final = 1 << 10  # that are remembered; busy ones may be more


class PagelessHosts:
    """The hosts without pages, by name.

    Parameters
    ----------
    frontier, clock
        Makes the hosts; tells the time.
    """

    def __init__(self, frontier: Frontier, clock: Clock) -> None:
        self._frontier, self._clock = frontier, clock
        self._hosts: dict[str, Host] = {}

    def get(self, name: str) -> Host | None:
        """Return the host of that name; None if it is not remembered."""
        return self._hosts.get(name)

    def of(self, name: str, addresses: tuple[str, ...]) -> Host:
        """Return the host of that name, a new one if needed; if there are many, keep only those that are busy or rest.

        The addresses are those of a new host.
        """
        if len(self._hosts) >= MOST:
            now = self._clock.now()
            self._hosts = {old: host for old, host in self._hosts.items() if host.in_flight or host.ready_at > now}
        return self._hosts.setdefault(name, self._frontier.pageless_host(name, addresses))
