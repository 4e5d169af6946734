"""Push: each visit moves a page's residual along its known links; the virtual page never spends."""

import numpy as np

from evercrawl.importance.base import Account, Importance, Links, Transfer
from evercrawl.types import Floats


class Push(Importance):
    """Solve x = src + xM one page at a time: add a page's residual to its value, and pass it on along its links.

    The residual is r = src + xM - x, so x + r = src + xM holds after every event, whatever the order of the visits.
    When links change, what the page had given along the old ones is taken back and given along the new ones.

    Examples
    --------
    A page with value 1 and residual 0.5, one internal and one external link of two, internal ones with weight 0.1:

    >>> push = Push(tax=0.15, internal=0.1)
    >>> moved = push.visit(Account(0.5, 0.0), None, Links(1, 1, 2), 0.0, same=False)
    >>> round(moved.history, 6), round(moved.internal, 6), round(moved.external, 6)
    (0.5, 0.02125, 0.2125)

    References
    ----------
    Andersen, Chung, Lang (2006). Local graph partitioning using PageRank vectors. Hong (2012). D-iteration.
    """

    settles = True

    def visit(self, page: Account, held: Links | None, links: Links, total: float, *, same: bool) -> Transfer:
        """Add the residual to the value, and pass the change on along the links."""
        value = page.history + page.cash
        if same or held is None:
            return Transfer(page.cash, value, total, *self.each(page.cash if same else value, links))
        return Transfer(page.cash, value, total, *self.each(value, links), *self.each(page.history, held))

    def remove(self, page: Account, held: Links | None, total: float) -> Transfer:
        """Take the value back from the page and from the pages that it was passed on to."""
        back = self.each(page.history, held) if held is not None else (0, 0)
        return Transfer(-page.history, 0, total, 0, 0, *back)

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
        """Return x + r, which is one power step ahead of x."""
        return np.maximum(history + cash, 0.0)
