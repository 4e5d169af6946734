"""What a partition needs of the others, as an interface beside `Network` and `Disk`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.keeper.messages import KeeperAnswer, KeeperQuestion
    from evercrawl.store.post.messages import Message


@dataclass(frozen=True, slots=True)
class PostStanding:
    """How a partition stands with the others.

    Attributes
    ----------
    at_rest
        Whether nothing is left that was never fetched, and nothing is owed or under way.
    used
        How much it uses of its even part of the crawl's ceiling on pages.
    elsewhere
        How many of the URLs that it knows others own.
    letters, under_way
        How many letters it has written and applied; those that are not acknowledged, or not on its disk.
    leases, let
        Addresses that it may request, and that it lets to others or itself.
    """

    at_rest: bool = False
    used: float = 0.0
    elsewhere: int = 0
    letters: int = 0
    under_way: int = 0
    leases: int = 0
    let: int = 0


class Carrier(Protocol):
    """Whatever carries messages between partitions: sockets, actors, or a simulated network that loses them.

    A message may be lost, come twice, late, or after others that were sent later. Nobody has to be there.

    Attributes
    ----------
    incarnation
        Which life of this partition it is: no earlier one had this number or a higher one.
    """

    incarnation: int

    def send(self, message: Message) -> None:
        """Have a message carried to the partition that it names; never waits, and never raises for the far end."""
        ...

    def take(self) -> list[Message]:
        """Return what has come since the last call."""
        ...

    def listen(self, wake: Callable[[], None]) -> None:
        """Have `wake` called when something comes."""
        ...

    def may_fetch(self) -> bool:
        """Whether this is still the one process that crawls this partition; if not, nothing may be requested."""
        ...

    def report(self, standing: PostStanding) -> None:
        """Take note of how the partition is, now and then."""
        ...

    def pages(self) -> int | None:
        """Return how many visits this run may make as far as is known now; None for any number."""
        ...

    def ceiling(self) -> float:
        """Return how much of its even part of the crawl's ceilings this process may use; it may be more than 1."""
        ...


class KeeperLine(Protocol):
    """Carries questions to a partition's keeper, wherever that is.

    Attributes
    ----------
    place
        Where the second copy is, in words.
    """

    place: str

    async def ask(self, question: KeeperQuestion) -> KeeperAnswer | None:
        """Return the answer; None if there is none: whether the question arrived is not known then."""
        ...
