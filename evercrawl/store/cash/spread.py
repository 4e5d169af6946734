"""The part of a site's source that reaches an unread page: its expected weight.

Each site has a source of 1, of which every page that is read gets its part. Before that, nobody knows how many parts
there will be, and equal parts for all URLs would feed an endless calendar forever. So the source descends the tree by
which the pages were found: if a page makes n pages of its site known, each of them gets `KEPT` / n of its own part.
In a site of finite width this is close to an equal part; in a calendar it vanishes within a few steps. A page that
another site links to starts from `ELSEWHERE`. Pages made known by a near-duplicate get `COPIED` less; otherwise, a
session id in every link would make a site of ten pages as wide as one of thousands.

The spread is stored in one byte, in eighths of a halving: 0 is the whole source, 255 one part in four thousand
million.
"""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.store.table.table import ROOT
from evercrawl.types import Floats, Slots

KEPT: Final = 0.25
"""Fraction of the trust that a page was written by people which one step away from the front page leaves."""
ELSEWHERE: Final = 8 * 5
"""Spread of a page that another site links to, as if a front page with eight links did (1/32)."""
COPIED: Final = 8 * 10
"""Added spread of pages made known by a near-duplicate (a factor of 1/1024); they are rarely new either."""
IN_CELL: Final = 17
"""Bits below the spread in the cell of an unread page: depth, consecutive redirects, and whether it is a root."""
INFLOW: Final = 2.0
"""Limit of an unread page's cash, in expected parts: each page of a calendar pays the next."""
_MOST: Final = 255
_PARTS: Final = 0.5 ** (np.arange(_MOST + 1) / 8)


def thinner(spread: int, count: int) -> int:
    """Return the spread of each of `count` pages made known by one page with spread `spread`.

    Examples
    --------
    >>> thinner(0, 1), thinner(16, 4)
    (16, 48)
    """
    return min(spread + round(8 * math.log2(max(count, 1) / KEPT)), _MOST)


def expected(cash: Floats, cells: Slots) -> Floats:
    """Return the expected weights of unread pages, shape (n,); their cash counts only up to a limit.

    Parameters
    ----------
    cash
        Cash received along links; of roots also their part of the source, so that nothing must be estimated.
    cells
        The pages' cells in `Table.record`.

    Examples
    --------
    >>> expected(np.array([0.0, 0.05, 9.0]), np.array([24 << IN_CELL] * 3, np.uint32)).tolist()
    [0.125, 0.175, 0.375]
    """
    usual = part(cells)
    return np.where((cells & np.uint32(ROOT)) != 0, cash, np.minimum(cash, INFLOW * usual) + usual)


def part(cells: Slots) -> Floats:
    """Return the part of their sites' sources that reaches unread pages, shape (n,), from their cells."""
    parts: Floats = _PARTS[cells >> np.uint32(IN_CELL) & np.uint32(_MOST)]
    return parts


def in_cells(spreads: NDArray[Any]) -> Slots:
    """Return spreads shifted to their bits in a cell, shape (n,)."""
    return spreads.astype(np.uint32) << np.uint32(IN_CELL)
