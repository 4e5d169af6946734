"""Base of windows that keep one decaying sum, and beside it the missing part of the window, which decays too."""

from typing import Any

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows.base import Window, both, earned


class Fading(Window):
    """A window of one sum of cash, and of the part of its length, 1 - w/T, in which the page was not yet known."""

    @property
    def width(self) -> int:
        """One number: the missing part of the window."""
        return 1

    def begun(self, now: float) -> Past:
        """Begin with nothing of the window."""
        return Past(0, now, (1,))

    def scaled(self, history: Any, kept: tuple[Any, ...], factor: float) -> dict[str, Any]:
        """Return the sum of cash multiplied by a factor."""
        return {"history": history * factor, "kept": kept}

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Add the histories, both decayed until now."""
        return both(self._visited(page, now), self._visited(other, now), earned(page, other))
