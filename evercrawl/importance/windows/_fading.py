"""What windows share that keep one sum, which fades: what is missing of the window fades too, and is kept beside it."""

from typing import Any

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows.base import Window, both, earned


class Fading(Window):
    """A window of one sum of cash, and of the part of its length, 1 - w/T, in which the page was not yet known."""

    @property
    def width(self) -> int:
        """What is missing of the window."""
        return 1

    def begun(self, now: float) -> Past:
        """Begin with nothing of the window."""
        return Past(0, now, (1,))

    def scaled(self, history: Any, kept: tuple[Any, ...], factor: float) -> dict[str, Any]:
        """Return the sum of cash times a factor."""
        return {"history": history * factor, "kept": kept}

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Add the histories, both faded until now."""
        return both(self._visited(page, now), self._visited(other, now), earned(page, other))
