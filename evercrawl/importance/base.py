"""What every importance scheme promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.types import Floats


class Importance(ABC):
    """A number for each page, in shares of all the importance there is."""

    @abstractmethod
    def importance(self, cash: Floats, known: int) -> Floats:
        """Return the importance of pages that hold `cash`, shape (n,), among `known` pages whose sum is one."""
