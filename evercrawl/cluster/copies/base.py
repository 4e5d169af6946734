"""Interface of the coordinator to the second copies of a crawl, wherever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from evercrawl.cluster.plan import PartPlan
    from evercrawl.cluster.wire import CopyAnswered, CopyAsked
    from evercrawl.config import Config


class PartCopies(Protocol):
    """The second copies of one crawl.

    Attributes
    ----------
    say
        Sends an answer of a keeper to a partition.
    """

    say: Callable[[int, CopyAnswered], object]

    def planned(self, plan: PartPlan, settings: Config) -> PartPlan:
        """Return a plan with what a process has to know of copies.

        Raises
        ------
        ConfigError
            The directory is gone, and no copy can take its place.
        """
        ...

    def missing(self, number: int, said: str, settings: Config) -> str:
        """Return why a partition cannot be begun now; `said` is what is said of its machine, "" where that is there."""
        ...

    def turn(self, settings: Config) -> list[int]:
        """Do what is to be done now and then; return the partitions whose processes are to be begun anew for that.

        Raises
        ------
        StoreError
            The crawl's directory is older than what keepers hold.
        """
        ...

    def begun(self, number: int) -> None:
        """Take note that a partition is crawled; called before anything that its process says has an effect."""
        ...

    def caught_up(self, number: int) -> None:
        """Take note that a second copy has all that counts, and that nothing counts any more without it."""
        ...

    def lost(self, number: int) -> bool:
        """Take note that a partition is on its disk no more; return whether it can go on elsewhere."""
        ...

    def ask(self, number: int, frame: CopyAsked) -> None:
        """Pass a question of a partition on to its keeper."""
        ...

    async def close(self) -> None:
        """End what was begun for keepers."""
        ...
