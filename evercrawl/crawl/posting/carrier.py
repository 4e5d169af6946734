"""A partition's interface to the other partitions, beside `Network` and `Disk`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.keeper.messages import KeeperAnswer, KeeperQuestion
    from evercrawl.store.post.messages import Message


@dataclass(frozen=True, slots=True)
class PostStanding:
    """A partition's account with the others.

    Attributes
    ----------
    at_rest
        Whether every URL was fetched, and nothing is owed or under way.
    used
        The used share of its equal part of the crawl's ceiling on pages.
    elsewhere
        How many of the known URLs others own.
    letters, under_way
        The number of letters written and applied, and of those not acknowledged or not yet on its disk.
    leases, let
        The number of addresses that it may request, and of those that it leases to others or itself.
    refused
        The number of messages, and of URLs in them, that were forged, damaged or outdated; see `PostRoom.refused`.
    """

    at_rest: bool = False
    used: float = 0.0
    elsewhere: int = 0
    letters: int = 0
    under_way: int = 0
    leases: int = 0
    let: int = 0
    refused: int = 0


class Carrier(Protocol):
    """Interface that carries messages between partitions: sockets, actors, or a simulated network that loses them.

    A message may be lost, arrive twice, late or out of order. The receiver need not be there.

    Attributes
    ----------
    incarnation
        The number of this partition's life; it is higher than that of any earlier life.
    """

    incarnation: int

    def send(self, message: Message) -> None:
        """Send a message to the partition that it names, without waiting; no fault of the far end raises."""
        ...

    def take(self) -> list[Message]:
        """Return the messages received since the last call."""
        ...

    def listen(self, wake: Callable[[], None]) -> None:
        """Have `wake` called when a message arrives."""
        ...

    def may_fetch(self) -> bool:
        """Whether this is still the one process that crawls this partition; if not, nothing may be requested."""
        ...

    def report(self, standing: PostStanding) -> None:
        """Take note of the partition's standing; called now and then."""
        ...

    def pages(self) -> int | None:
        """Return how many visits this run may make as far as is known now; None for any number."""
        ...

    def ceiling(self) -> float:
        """Return how much of its equal part of the crawl's ceilings this process may use; it may exceed 1."""
        ...


class KeeperLine(Protocol):
    """Interface that carries questions to a partition's keeper, wherever the keeper is.

    Attributes
    ----------
    place
        Where the second copy is, in words.
    """

    place: str

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer; None if there is none, which leaves open whether the question arrived."""
        ...
