"""AOPIC: cash moved along the links of the visit, from a virtual page that spends at once; a window of the history."""

from typing import ClassVar, Literal

import numpy as np

from evercrawl.importance.base import Account, Importance, Links, Past, Transfer
from evercrawl.importance.windows.base import Pasts, Window
from evercrawl.importance.windows.two_windows import TwoWindows
from evercrawl.types import Floats


class AOPIC(Importance):
    """Adaptive on-line page importance computation: how much cash a page moves per unit of G-time.

    Nothing is ever taken back, so the links held before are not needed; what a page gave along links that it no longer
    has is forgotten with the window. It settles like 1/G, where push settles geometrically.

    A page that turns out to lead to another only hands its cash on, and what its window holds too: `unite`. In a crawl
    a window waits for that until its new page has been read, and as long as it waits it does not count.

    Parameters
    ----------
    tax, internal, convention
        As in every scheme.
    window
        What of the history counts; by default two windows, of about one and eight visits a page, since nobody knows
        beforehand how fast links change.

    Examples
    --------
    A page visited at G = 2 and, with cash 0.5, at G = 4 (itself included), when half of the window has passed:

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
        """How many numbers the window keeps beside history and mark."""
        return self.window.width

    def visit(self, page: Account, held: Links | None, links: Links, total: float, *, same: bool) -> Transfer:
        """Move all the cash; the history counts what was moved."""
        past = self.window.add(page, total + page.cash)
        return Transfer(page.cash, past.history, past.mark, *self.each(page.cash, links), kept=past.kept)

    def remove(self, page: Account, held: Links | None, total: float) -> Transfer:
        """Give the cash to the virtual page; forget the history, so that the page would begin anew if it came back."""
        begun = self.window.begun(total)
        return Transfer(page.cash, begun.history, begun.mark, kept=begun.kept)

    def unite(self, page: Account, target: Account, total: float) -> tuple[Past, Past]:
        """Let the target's window have what the page's holds; the page's begins anew at its last visit.

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
        """Return what the window makes of the history and of the cash that waits."""
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
        """Return what the window makes of the histories and of the cash of all pages."""
        return np.maximum(self.window.shares(_pasts(history, mark, kept, born, self.width), cash, total, guess), 0.0)


def _pasts(history: Floats, mark: Floats, kept: Floats | None, born: Floats | None, width: int) -> Pasts:
    count = len(history)
    return Pasts(
        history,
        mark,
        np.zeros((count, width)) if kept is None else kept,
        np.zeros(count) if born is None else born,
    )
