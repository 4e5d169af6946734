"""A network without servers, because an import makes no requests."""

from __future__ import annotations

from collections.abc import Sequence

from evercrawl.types import Exchange, Request, Silence


class Nowhere:
    """A network that accepts no requests and returns no answers."""

    @property
    def in_flight(self) -> int:
        """Return 0."""
        return 0

    @property
    def idle_s(self) -> float:
        """Return 0."""
        return 0.0

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Fail: an import makes no requests."""
        raise AssertionError("an import makes no requests")

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return no answers."""
        return []

    def silent(self, over_s: float) -> list[Silence]:
        """Return no exchanges."""
        return []

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """Do nothing."""

    def wake(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""
