"""Two smooth windows, a short and a long one: the long one is used unless the two disagree."""

from typing import Any, Final, Self

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows.base import TURN, Pasts, Window, earned, shared
from evercrawl.importance.windows.exponential import added, averaged
from evercrawl.types import Floats

_THRESHOLD: Final = 0.3  # of |ln(short / long)|: chance alone seldom exceeds this
_STEEPNESS: Final = 24.0
_TIMES: Final = 8.0  # ratio of the long window to the short one


class TwoWindows(Window):
    """A blend of the averages over one turn and over eight turns, weighted by how much they disagree for the page.

    Nobody knows beforehand how fast links change: a long window is accurate but slow, a short one is fast but noisy.
    With z = |ln(x1/x8)| the estimate is w x1 + (1 - w) x8, w = 1 / (1 + exp(-24 (z - 0.3))).

    The windows are defined in turns: T = 1 and 8 times as many visits as there are pages. Windows run by G-time, so the
    turns are those of greedy order, in which G grows by `TURN` per turn. In an order that moves less cash per visit (in
    random order 1.0 per turn) they last 2.3 times as many turns, which is right too: estimates are made from cash.

    The estimates of neither window sum to 1. In greedy order a page is visited just after cash has come, and little is
    to be expected for a while afterwards, which a short window takes for a decline (measured: 4 % at one turn, 0.6 % at
    eight). `shares` normalises both to 1 before comparing them; `now`, which may be called for some pages only, cannot.

    Parameters
    ----------
    length
        T of the long window, in G-time.
    short
        T of the short window, in G-time.

    Examples
    --------
    A page gained 0.01 per unit of G for 60 units, then five times that for a turn. The long window still gives 0.0147,
    the short one 0.01 + 0.04 (1 - 1/e) = 0.0353; they are far enough apart for the short one to be used:

    >>> from evercrawl.importance.base import Account
    >>> window = TwoWindows()
    >>> first = window.add(Account(0.6, 0.0, born=1.0), 61.0)
    >>> second = window.add(Account(5 * 0.01 * 2.3, *first), 63.3)
    >>> page = Pasts(np.array([second.history]), np.array([63.3]), np.array([second.kept]), np.zeros(1))
    >>> window.now(page, np.zeros(1), 63.3).round(4)
    array([0.0353])
    """

    def __init__(self, length: float = _TIMES * TURN, short: float = TURN) -> None:
        super().__init__(length)
        assert short < length, "the short window is the shorter one"
        self.short = short

    @classmethod
    def sized(cls, size: float) -> Self:
        """Return two windows: the long one of length `size`, the short one an eighth of it."""
        return cls(size, size / _TIMES)

    def resize(self, length: float) -> None:
        """Set the length of the long window, and scale that of the short one in proportion."""
        self.short *= length / self.length
        super().resize(length)

    @property
    def width(self) -> int:
        """Three numbers: the long window's history, and the missing parts of the short and of the long window."""
        return 3

    def begun(self, now: float) -> Past:
        """Begin with both windows empty."""
        return Past(0, now, (0, 1, 1))

    def add(self, page: Account, now: float) -> Past:
        """Add the cash to both windows."""
        before, came = self._before(page, now), earned(page)
        elapsed, (history, *missing) = max(now - before.mark, 0), before.kept
        short, short_missing = added(before.history, missing[0], came, elapsed / self.short)
        long, long_missing = added(history, missing[1], came, elapsed / self.length)
        return Past(short, now, (long, short_missing, long_missing))

    def scaled(self, history: Any, kept: tuple[Any, ...], factor: float) -> dict[str, Any]:
        """Return the sums of cash of both windows multiplied by a factor."""
        return {"history": history * factor, "kept": (kept[0] * factor, *kept[1:]) if kept else kept}

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Add the histories of both windows."""
        (short, at, kept), (more, _, others) = self._visited(page, now), self._visited(other, now)
        waits = earned(page, other)
        missing = map(min, kept[1:], others[1:])
        return Past(short + more - waits, at, (kept[0] + others[0] - waits, *missing))

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the blend of the two windows' estimates as they would be after a visit now."""
        return blend(*self._each(page, cash, total, guess))

    def shares(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the blend of the two windows' shares of all pages, normalised to sum to 1."""
        short, long = self._each(page, cash, total, guess)
        return shared(blend(shared(short), shared(long)))

    def _each(self, page: Pasts, cash: Floats, total: float, guess: float | None) -> tuple[Floats, Floats]:
        elapsed = np.maximum(total - self._since(page, total), 0.0)
        short, long = (
            averaged(history / length, np.where(page.mark > 0, missing, 1.0), cash / length, elapsed / length, guess)
            for length, history, missing in (
                (self.short, page.history, page.kept[:, 1]),
                (self.length, page.kept[:, 0], page.kept[:, 2]),
            )
        )
        return short, long


def blend(short: Floats, long: Floats) -> Floats:
    """Return the blend of the estimates of two windows; shape (n,).

    >>> blend(np.array([1.1, 2.0, 0.0]), np.array([1.0, 1.0, 1.0])).round(3)
    array([1.001, 2.   , 0.   ])
    """
    tiny = np.finfo(np.float64).tiny
    apart = np.abs(np.log(np.maximum(short, tiny) / np.maximum(long, tiny)))
    trust = 1 / (1 + np.exp(-_STEEPNESS * (np.minimum(apart, 2.0) - _THRESHOLD)))
    found: Floats = trust * short + (1 - trust) * long
    return found
