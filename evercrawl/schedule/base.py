"""What every policy promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.types import Floats, Slots


@dataclass(frozen=True, slots=True)
class Pages:
    """Columns of the pages that a policy may choose among; row i is candidate i.

    Attributes
    ----------
    slot
        Discovery number: smaller was found earlier.
    visited_at
        Seconds since the epoch of the last visit, nan before the first.
    importance
        Shares of all the importance there is.
    """

    slot: Slots
    visited_at: Floats
    importance: Floats


class Policy(ABC):
    """An order in which to visit the pages whose hosts have rested."""

    @abstractmethod
    def value(self, pages: Pages, now: float) -> Floats:
        """Return what a visit at `now` is worth, shape (n,), finite; the highest is visited first."""
