"""Politeness over all partitions, as the servers see it, whichever partition sends the request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from evercrawl.parse.urls import hostname
from evercrawl.simulate.surroundings.network import Asked

SLACK_S: Final = 1e-4


@dataclass
class SharedManners:
    """Observes every request of every partition.

    Attributes
    ----------
    delay_s, per_host, per_ip
        The settings: a host's rest, and connections per host and per address.
    wrong
        Violations found.
    asked
        Number of requests for each URL.
    """

    delay_s: float
    per_host: int
    per_ip: int
    wrong: list[str] = field(default_factory=list[str])
    asked: defaultdict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))

    def __post_init__(self) -> None:
        """Start with no observations."""
        self._hosts = defaultdict[str, list[Asked]](list)
        self._addresses = defaultdict[str, list[Asked]](list)

    def of(self, number: int) -> Callable[[Asked], None]:
        """Return the observer of a partition's requests."""
        return lambda asked: self._begins(asked, number)

    def _begins(self, asked: Asked, number: int) -> None:
        self.asked[asked.url] += 1
        who = f"partition {number} asked for {asked.url}"
        for doors, name, most, rest_s in (
            (self._hosts, hostname(asked.url), self.per_host, self.delay_s),
            (self._addresses, asked.address, self.per_ip, self.delay_s / self.per_ip),
        ):
            before = doors[name]
            open_now = [one for one in before if one.ended_at == float("inf")]
            if len(open_now) >= most:
                self.wrong.append(f"{who} with {len(open_now)} connections to {name} open")
            if before:
                gap_s = asked.at - max(one.at for one in before)
                if gap_s < rest_s - SLACK_S:
                    self.wrong.append(f"{who} {gap_s:.3f} s after {before[-1].url}; {name} rests for {rest_s} s")
            doors[name] = [*open_now, asked] if open_now else [*before[-1:], asked]
