"""The coordinator's interface to the second copies of a crawl, wherever they are."""

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
        Sends a keeper's answer to a partition.
    """

    say: Callable[[int, CopyAnswered], object]

    def planned(self, plan: PartPlan, settings: Config) -> PartPlan:
        """Return a plan with what the process must know about copies.

        Raises
        ------
        ConfigError
            The directory is gone, and no copy can replace it.
        """
        ...

    def missing(self, number: int, said: str, settings: Config) -> str:
        """Return why a partition cannot be started now; `said` is why its machine is missing, "" if it is there."""
        ...

    def turn(self, settings: Config) -> list[int]:
        """Do periodic work; return the partitions whose processes must be restarted.

        Raises
        ------
        StoreError
            The crawl's directory is older than the one that keepers hold.
        """
        ...

    def begun(self, number: int) -> None:
        """Take note that a partition is being crawled; called before its first frame takes effect."""
        ...

    def caught_up(self, number: int) -> None:
        """Take note that a second copy is complete, and that from now on no event counts without it."""
        ...

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer on its disk; return whether it can continue elsewhere."""
        ...

    def ask(self, number: int, frame: CopyAsked) -> None:
        """Pass a partition's question to its keeper."""
        ...

    async def close(self) -> None:
        """End all processes of keepers."""
        ...
