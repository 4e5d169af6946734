"""What moves of partitions need of the crawl, and of those who copy partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from evercrawl.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from evercrawl.cluster.asking import PartLoan
    from evercrawl.cluster.moving.order import PartMove


class PartHolder(Protocol):
    """Controls the processes of partitions."""

    async def rest(self, number: int) -> None:
        """Return once a partition has no process; it gets none until `resume`."""
        ...

    async def resume(self, number: int) -> None:
        """Return once a partition has a process again that has reported."""
        ...

    def well(self, number: int) -> bool:
        """Return whether the process of a partition has reported, and all that counts is also in its second copy."""
        ...


class UnplacedError(StoreError):
    """It is unknown where a partition is, so it must not be started anywhere."""


class PartTransfer(Protocol):
    """Copies partitions to new places, and switches the crawl to them."""

    def turn(self, holds: PartHolder, see: Callable[[], None]) -> PartMove | Coroutine[Any, Any, None] | None:
        """Return a move without an order, or other work; None if there is nothing to do.

        `see` is called at intervals during that work, and may raise.
        """
        ...

    def placed(self, move: PartMove) -> PartMove:
        """Return an order with its place in canonical form; an order about a machine is executed at once.

        Raises
        ------
        ConfigError
            The order cannot be executed; nothing was written.
        """
        ...

    async def prepare(self, move: PartMove, see: Callable[[], None]) -> None:
        """Prepare the goal. `see` is called at intervals, and may raise."""
        ...

    async def copy(self, move: PartMove, see: Callable[[], None]) -> int:
        """Update the goal; return the number of bytes written."""
        ...

    async def finish(self, move: PartMove, see: Callable[[], None]) -> tuple[int, str]:
        """Copy the rest of a paused partition, and switch to it; return the bytes copied, and any warning.

        Raises
        ------
        LagsError
            The rest is too much for a pause: nothing was changed, and the partition can continue.
        """
        ...

    async def end(self) -> None:
        """End the processes of a move, so that no directory stays open."""
        ...

    async def lent(self, number: int) -> PartLoan:
        """Return the files of a partition on another machine.

        Raises
        ------
        StoreError
            They cannot be read now; the message says why.
        """
        ...

    def counts(self, number: int) -> None:
        """Take note that something of a partition counts now at its place; called before it takes effect."""
        ...

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer at its place; return whether it can go back to an old one."""
        ...
