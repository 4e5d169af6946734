"""How thin a site's source has been spread on the way to a page: what an unread page may be expected to weigh.

Each site has a source of 1, of which a page that is read gets its part. Before that nobody knows how many parts there
will be, and an equal one for every URL would feed an endless calendar for ever. So the source walks down the tree by
which the pages were found: a page that makes n pages of its site known leaves each the `KEPT` / n of its own. In a site
of finite width this comes near the equal part; in a calendar it dies out within a few steps. A page that another site
links to is no such invention, and begins anew. What a near-duplicate makes known is `COPIED` thinner than that, or a
session id in every link would make a site of ten pages as wide as one of thousands.

Kept in one byte as a number of eighths of a halving: 0 is all of the source, 255 one part in four thousand million.
"""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.store.table.table import ROOT
from evercrawl.types import Floats, Slots

KEPT: Final = 0.25
"""What a step away from the front page leaves of the trust that the page is one that people write."""
ELSEWHERE: Final = 8 * 5
"""Of a page that another site links to: as if a front page with eight links did (1/32)."""
COPIED: Final = 8 * 10
"""Of what a near-duplicate makes known a thousandth is left: who says nothing new seldom leads to what is."""
IN_CELL: Final = 17
"""Bits below it in the cell of an unread page: depth, redirects in a row, and whether it is a root."""
INFLOW: Final = 2.0
"""Times the expected part that an unread page's cash counts for at most: each page of a calendar pays the next."""
_MOST: Final = 255
_PARTS: Final = 0.5 ** (np.arange(_MOST + 1) / 8)


def thinner(spread: int, count: int) -> int:
    """Return the spread of each of `count` pages that one page of that spread made known.

    Examples
    --------
    >>> thinner(0, 1), thinner(16, 4)
    (16, 48)
    """
    return min(spread + round(8 * math.log2(max(count, 1) / KEPT)), _MOST)


def expected(cash: Floats, cells: Slots) -> Floats:
    """Return what unread pages may be expected to weigh, shape (n,): their cash is held to what is expected of them.

    Parameters
    ----------
    cash
        Of each, what has come along links; of a root also its part of the source, and then there is nothing to guess.
    cells
        Its cell in `Table.record`.

    Examples
    --------
    >>> expected(np.array([0.0, 0.05, 9.0]), np.array([24 << IN_CELL] * 3, np.uint32)).tolist()
    [0.125, 0.175, 0.375]
    """
    usual = part(cells)
    return np.where((cells & np.uint32(ROOT)) != 0, cash, np.minimum(cash, INFLOW * usual) + usual)


def part(cells: Slots) -> Floats:
    """Return what part of its site's source is left at each unread page, shape (n,), by its cell."""
    parts: Floats = _PARTS[cells >> np.uint32(IN_CELL) & np.uint32(_MOST)]
    return parts


def in_cells(spreads: NDArray[Any]) -> Slots:
    """Return spreads where a cell has them, shape (n,)."""
    return spreads.astype(np.uint32) << np.uint32(IN_CELL)
