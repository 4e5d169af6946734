"""How people steer a crawl: what its orders have come to, as a fold over the events that say so."""

from typing import Final

import msgspec

from evercrawl.store.journal.events import Boost, Bounded, Obeyed

KEPT: Final = 512
"""Orders whose results are kept in memory and snapshots; those of older ones are in the journal."""
BEGUN: Final = "begun"
"""The state of an order whose work goes on after it was read: the visit that a check asks for."""


class OrderResult(msgspec.Struct, array_like=True, frozen=True):
    """What became of one order: when, what was to be done, "done", "refused" or "begun", and a sentence."""

    at: float
    do: str
    state: str
    result: str


class Check(msgspec.Struct, array_like=True, frozen=True):
    """A page that is to be requested once because a person asked for it: its slot, and when the order was read."""

    slot: int
    at: float


class Steered(msgspec.Struct):
    """What orders and rules have made of a crawl.

    Attributes
    ----------
    upto, last
        How many bytes of the file of orders are obeyed, and the id of the order that ends there, if one does.
    results
        By id, of the last `KEPT` orders, oldest first.
    checks
        By id, those that are begun.
    paused_at, paused_by
        Since when nothing is requested (s since the epoch, 0 = it is), and whose order that was.
    boosts
        Pages that count for more, or less, for a while.
    roots
        Hosts that orders named, in the scope like those of seeds.
    bounds
        The rules of the scope, as `Scope.rules` names them, and since when each holds (s since the epoch). Empty where
        no rule was noted.
    """

    upto: int = 0
    last: str = ""
    results: dict[str, OrderResult] = {}
    checks: dict[str, Check] = {}
    paused_at: float = 0.0
    paused_by: str = ""
    boosts: list[Boost] = []
    roots: list[str] = []
    bounds: dict[str, float] = {}

    def bounded(self, event: Bounded) -> None:
        """Take in which rules apply from now on."""
        self.bounds = dict(event.rules)

    def obeyed(self, event: Obeyed) -> None:
        """Take in what became of an order. Everything is assigned, so that doing it twice changes nothing."""
        if event.upto >= 0:
            self.upto, self.last = event.upto, event.id if event.do else ""
        self.results.pop(event.id, None)
        self.results[event.id] = OrderResult(event.at, event.do, event.state, event.result)
        while len(self.results) > KEPT:
            self.results.pop(next(iter(self.results)))
        if event.state == BEGUN:
            self.checks[event.id] = Check(event.slot, event.at)
        else:
            self.checks.pop(event.id, None)
        if event.paused is not None:
            self.paused_at, self.paused_by = (event.at, event.by) if event.paused else (0.0, "")
        if event.boosts is not None:
            self.boosts = list(event.boosts)
        if event.root and event.root not in self.roots:
            self.roots.append(event.root)
        if event.rules is not None:
            self.bounds = dict(event.rules)

    def copy(self) -> "Steered":
        """Return the same, which changes no more."""
        return Steered(
            self.upto, self.last, dict(self.results), dict(self.checks), self.paused_at, self.paused_by,
            list(self.boosts), list(self.roots), dict(self.bounds),
        )  # fmt: skip
