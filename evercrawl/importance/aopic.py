"""AOPIC: each visit moves a page's cash along its links, the virtual page spends at once, and history is windowed."""

from typing import ClassVar, Literal

import numpy as np

from evercrawl.importance.base import Account, Importance, Links, Past, Transfer
from evercrawl.importance.windows.base import Pasts, Window
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.types import Floats


class AOPIC(Importance):
    """Adaptive on-line page importance computation: importance is the cash that a page moves per unit of G-time.

    Nothing is ever taken back, so earlier links are not needed; cash given along links that no longer exist leaves the
    window in time. The error falls like 1/G, whereas that of push falls geometrically.

    A page that turns out to be an alias passes its cash and its window on to its target: `unite`. In a crawl the window
    is passed on once the target has been read; until then it does not count.

    Parameters
    ----------
    tax, internal, convention
        As in every scheme.
    window
        The window of the history; by default two windows, of about one and eight visits per page, because nobody knows
        beforehand how fast links change.

    Examples
    --------
    A page visited at G = 2 and, with cash 0.5, at G = 4 (this visit included), when half of the window has passed:

    >>> from evercrawl.importance.windows.interpolation import Interpolation
    >>> aopic = AOPIC(tax=0.15, internal=0.1, window=Interpolation(4.0))
    >>> moved = aopic.visit(Account(0.5, 1.0, 2.0), None, Links(1, 1, 2), 3.5, same=False)
    >>> moved.history, moved.mark, round(moved.internal, 6), round(moved.external, 6)
    (1.0, 4.0, 0.02125, 0.2125)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation.
    """

    handout: ClassVar[bool] = True

    def __init__(
        self,
        tax: float = 0.15,
        internal: float = 1.0,
        window: Window | None = None,
        convention: Literal["tax", "link"] = "tax",
    ) -> None:
        super().__init__(tax, internal, convention)
        self.window = window or TwoWindows()

    @property
    def width(self) -> int:
        """How many numbers the window keeps for a page beside history and mark."""
        return self.window.width

    def visit(self, page: Account, held: Links | None, links: Links, total: float, *, same: bool) -> Transfer:
        """Move all the cash, and add it to the history."""
        past = self.window.add(page, total + page.cash)
        return Transfer(page.cash, past.history, past.mark, *self.each(page.cash, links), kept=past.kept)

    def remove(self, page: Account, held: Links | None, total: float) -> Transfer:
        """Give the cash to the virtual page, and clear the history: a page that returns starts anew."""
        begun = self.window.begun(total)
        return Transfer(page.cash, begun.history, begun.mark, kept=begun.kept)

    def unite(self, page: Account, target: Account, total: float) -> tuple[Past, Past]:
        """Add the alias's window to the target's; the alias's window begins anew at its last visit.

        Examples
        --------
        Two pages, each of which gained 0.1 per unit of G for 4 units, and the second of them for one unit more:

        >>> from evercrawl.importance.windows.interpolation import Interpolation
        >>> aopic = AOPIC(window=Interpolation(4.0))
        >>> page, target = Account(0.0, 0.4, 4.0, (0.0,)), Account(0.1, 0.4, 4.0, (0.0,))
        >>> aopic.unite(page, target, 4.0)
        (Past(history=0, mark=4.0, kept=(1,)), Past(history=0.8, mark=4.0, kept=(0.0,)))
        """
        left = self.window.begun(page.mark) if page.mark else Past(page.history, page.mark, page.kept)
        return left, self.window.join(target, page, total)

    def importance(
        self,
        cash: Floats,
        history: Floats,
        mark: Floats,
        total: float,
        kept: Floats | None = None,
        born: Floats | None = None,
        guess: float | None = None,
    ) -> Floats:
        """Return the window's estimate from the histories and the cash of the pages."""
        return np.maximum(self.window.now(_pasts(history, mark, kept, born, self.width), cash, total, guess), 0.0)

    def shares(
        self,
        cash: Floats,
        history: Floats,
        mark: Floats,
        total: float,
        kept: Floats | None = None,
        born: Floats | None = None,
        guess: float | None = None,
    ) -> Floats:
        """Return the window's estimate from the histories and the cash of all pages, as shares of 1."""
        return np.maximum(self.window.shares(_pasts(history, mark, kept, born, self.width), cash, total, guess), 0.0)


def _pasts(history: Floats, mark: Floats, kept: Floats | None, born: Floats | None, width: int) -> Pasts:
    count = len(history)
    return Pasts(
        history,
        mark,
        np.zeros((count, width)) if kept is None else kept,
        np.zeros(count) if born is None else born,
    )
