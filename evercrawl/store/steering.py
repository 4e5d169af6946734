"""The result of people's orders to a crawl, as a fold over events."""

from typing import Final

import msgspec

from evercrawl.store.journal.events import Boost, Bounded, Obeyed

KEPT: Final = 512
"""Number of orders whose results are kept in memory and snapshots; older results are in the journal."""
BEGUN: Final = "begun"
"""State of an order that continues after it was read: a check waits for its visit."""


class OrderResult(msgspec.Struct, array_like=True, frozen=True):
    """The result of one order: time, verb, "done", "refused" or "begun", and a sentence."""

    at: float
    do: str
    state: str
    result: str


class Check(msgspec.Struct, array_like=True, frozen=True):
    """A page to be requested once because of an order: its slot, and when the order was read."""

    slot: int
    at: float


class Steered(msgspec.Struct):
    """The result of orders and scope rules for a crawl.

    Attributes
    ----------
    upto, last
        Size of the processed part of the file of orders, and the id of the order at its end, if any.
    results
        Results of the last `KEPT` orders by id, oldest first.
    checks
        Unfinished checks by id.
    paused_at, paused_by
        Since when requests are paused (s since the epoch; 0 if they are not), and who ordered that.
    boosts
        Temporary factors on the worth of pages.
    roots
        Hosts named by orders, which are in scope like hosts of seeds.
    bounds
        The rules of the scope, as named by `Scope.rules`, and since when each holds (s since the epoch). Empty if no
        rule was recorded.
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
        """Fold the rules that hold from now on."""
        self.bounds = dict(event.rules)

    def obeyed(self, event: Obeyed) -> None:
        """Fold the result of an order. All effects are assignments, so that repeating them changes nothing."""
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
        """Return a copy that later events do not change."""
        return Steered(
            self.upto, self.last, dict(self.results), dict(self.checks), self.paused_at, self.paused_by,
            list(self.boosts), list(self.roots), dict(self.bounds),
        )  # fmt: skip
