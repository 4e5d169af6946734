"""A window whose length may change while it is in use: it keeps cash in units of its length."""

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows.base import Pasts, Window
from evercrawl.types import Floats


class Elastic(Window):
    """A wrapper of a window that keeps its estimates unchanged when the length changes.

    A decaying window stores a steady inflow x as xT. This one stores x, so the estimate of a page that is not visited
    meanwhile stays the same with another T.

    Parameters
    ----------
    window
        The wrapped window, which makes the estimates.

    Examples
    --------
    >>> from evercrawl.importance.windows.exponential import Exponential
    >>> window = Elastic(Exponential(4.0))
    >>> page = window.add(Account(0.1, 0.0, born=0.0), 1.0)
    >>> column = Pasts(*(np.array([each]) for each in (page.history, page.mark, page.kept)), np.zeros(1))
    >>> before = window.now(column, np.zeros(1), 1.0)
    >>> window.resize(9.0)
    >>> before.round(3), window.now(column, np.zeros(1), 1.0).round(3)
    (array([0.1]), array([0.1]))
    """

    def __init__(self, window: Window) -> None:
        super().__init__(window.length)
        self.inner = window
        self.counts = window.counts  # type: ignore[misc]  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def width(self) -> int:
        """As many numbers as the wrapped window keeps."""
        return self.inner.width

    def resize(self, length: float) -> None:
        """Set T, in G-time."""
        super().resize(length)
        self.inner.resize(length)

    def begun(self, now: float) -> Past:
        """Begin with nothing of the window."""
        return self.inner.begun(now)

    def add(self, page: Account, now: float) -> Past:
        """Let the wrapped window add the cash."""
        return self._held(self.inner.add(self._whole(page), now))

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the estimates of the wrapped window."""
        return self.inner.now(self._columns(page), cash, total, guess)

    def shares(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the shares of all pages as the wrapped window estimates them."""
        return self.inner.shares(self._columns(page), cash, total, guess)

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        return self._held(self.inner.join(self._whole(page), self._whole(other), now))

    def _held(self, past: Past) -> Past:
        return past._replace(**self.inner.scaled(past.history, past.kept, 1 / self.length))

    def _whole(self, page: Account) -> Account:
        return page._replace(**self.inner.scaled(page.history, page.kept, self.length))

    def _columns(self, page: Pasts) -> Pasts:
        scaled = self.inner.scaled(page.history, tuple(page.kept.T), self.length)
        kept = np.stack(scaled["kept"], axis=1) if len(scaled["kept"]) else page.kept
        return page._replace(history=scaled["history"], kept=kept)
