"""Politeness: when a host, and the address behind it, may be asked again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

BACK_OFF_FIRST_S: Final = 1.0
BACK_OFF_MOST_S: Final = 3600.0
AWAY_S: Final = 30.0  # a host that rests for longer than this because of failures counts as away


@dataclass(slots=True)
class Address:
    """One IP address: however many names share it, it is one machine.

    Attributes
    ----------
    in_flight
        Exchanges under way, and places kept for those about to begin.
    kept
        Those places.
    ready_at
        No request before then, in seconds since the epoch.
    waiting
        Hosts that have rested and wait for the address; a few at a time are offered again.
    gated
        The frontier will look after those that wait by itself.
    """

    in_flight: int = 0
    kept: int = 0
    ready_at: float = 0.0
    waiting: deque[Host] = field(default_factory=deque["Host"])
    gated: bool = False
    chosen: int = 0  # the last choice in which one of its hosts was


@dataclass(slots=True, eq=False)
class Host:
    """One host name: how many of its pages wait, and its rest.

    Attributes
    ----------
    number, name
        Number in the journal's order, and the name (an IP literal is one).
    delay_s
        Least time between two requests.
    ready_at
        No request before then.
    away_until
        A failing host, or one that asked for it (Retry-After), is left alone until then.
    failures
        Failed exchanges in a row.
    held
        What has to come first, "" when nothing has: "robots.txt", "name look-up". A held host offers nothing.
    reason
        Why it rests, in a word or two, for people: "resting", "back-off", "robots.txt", "name look-up".
    """

    number: int
    name: str
    delay_s: float = 1.0
    ready_at: float = 0.0
    away_until: float = 0.0
    failures: int = 0
    in_flight: int = 0
    addresses: tuple[str, ...] = ()
    resolved_at: float = -1e18
    held: str = ""  # what it waits for before it can be asked: "robots.txt", "name look-up"
    address: Address | None = None
    pages: int = 0  # known pages, for the ceiling of pages a host
    reason: str = "resting"

    def succeeded(self) -> None:
        """Forget the failures."""
        self.failures = 0
        self.reason = "resting"

    def failed(self, now: float) -> float:
        """Back off for twice as long as the last time, from 1 s to an hour; return the instant it ends."""
        self.failures += 1
        wait_s = min(BACK_OFF_FIRST_S * 2.0 ** (self.failures - 1), BACK_OFF_MOST_S)
        self.stay_away(now + wait_s, "back-off")
        return self.away_until

    def stay_away(self, until: float, reason: str) -> None:
        """Ask nothing of the host before `until`."""
        self.away_until = max(self.away_until, until)
        self.ready_at = max(self.ready_at, until)
        self.reason = reason

    def away(self, now: float) -> bool:
        """Whether failures, not manners, keep the host from being asked soon."""
        return self.away_until - now > AWAY_S
