"""What windows share that keep one sum, which fades: what is missing of the window fades too, and is kept beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.importance.base import Past
from evercrawl.importance.windows.base import Window, both, earned

if TYPE_CHECKING:
    from evercrawl.importance.base import Account


class Fading(Window):
    """A window of one sum of cash, and of the part of its length, 1 - w/T, in which the page was not yet known."""

    @property
    def width(self) -> int:
        """What is missing of the window."""
        return 1

    def begun(self, now: float) -> Past:
        """Begin with nothing of the window."""
        return Past(0, now, (1,))

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Add the histories, both faded until now."""
        return both(self._visited(page, now), self._visited(other, now), earned(page, other))
