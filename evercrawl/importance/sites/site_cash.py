"""OPIC on the graph of sites: a visit to a page moves its site's cash along the page's links to other sites."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.arrays.rows import grown
from evercrawl.types import Floats

TAX: Final = 0.15
_REBASE: Final = 1.0  # what the virtual page may have spent on a site before keys would lose digits to it


class SiteCash:
    """Cash and history of each site: OPIC on the graph of sites, visit by visit; 24 bytes per site.

    A visit to a page moves all the cash of its site: a tax to the virtual page, the rest in equal parts to the sites
    that the page links to, each counted once. From a page without links to other sites everything goes to the virtual
    page, which spends at once and equally on all sites of which a page was visited. So a site's row in the matrix is
    the mean of its pages' rows, weighted by their visits. The first site visited starts with all the cash.

    Examples
    --------
    Sites 0 and 1 link to site 2, and that to nobody; each is visited a thousand times:

    >>> cash = SiteCash(tax=0.5)
    >>> for _ in range(1000):
    ...     for site, links in ((0, [2]), (1, [2]), (2, [])):
    ...         cash.visit(site, links)
    >>> cash.importance(3).round(3), round(float(cash.cash(3).sum()), 9)
    (array([0.25, 0.25, 0.5 ]), 1.0)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, sections 2.2 and 4.5: pages of a site
    taken together.
    """

    def __init__(self, tax: float = TAX) -> None:
        self.total = 0.0
        self._tax, self._spent, self._members, self._first = tax, 0.0, 0, -1
        self._key: Floats = np.zeros(0)
        self._history: Floats = np.zeros(0)
        self._member: Floats = np.zeros(0)  # 1 of sites that the virtual page spends on

    def visit(self, site: int, links: Sequence[int]) -> None:
        """Move the cash of a site along the links of one of its pages to other sites, each given once."""
        self._grow(max(site, *links) if links else site)
        if not self._member[site]:
            self._join(site)
        amount = float(self._key[site] + self._spent)
        self._key[site] = -self._spent
        self._history[site] += amount
        self.total += amount
        passed = (1 - self._tax) * amount if links else 0.0
        for other in links:
            self._key[other] += passed / len(links)
        self._spent += (amount - passed) / self._members
        if self._spent > _REBASE:
            self._key += self._spent * self._member
            self._spent = 0.0

    def cash(self, sites: int) -> Floats:
        """Return the cash of each site, shape (sites,); it sums to 1 after the first visit."""
        self._grow(sites - 1)
        return (self._key + self._spent * self._member)[:sites]

    def importance(self, sites: int) -> Floats:
        """Return (H + C - C0) / G of each site, shape (sites,), summing to 1; zeros before any cash has moved."""
        found = self.cash(sites) + self._history[:sites]
        if 0 <= self._first < sites:
            found[self._first] -= 1.0
        found = np.maximum(found, 0.0)
        whole = float(found.sum())
        shares: Floats = found / whole if whole > 0 else found
        return shares

    def _grow(self, most: int) -> None:
        if most >= len(self._key):
            self._key, self._history, self._member = (
                grown(column, most + 1) for column in (self._key, self._history, self._member)
            )

    def _join(self, site: int) -> None:
        self._key[site] += (1.0 if self._first < 0 else 0.0) - self._spent
        self._first = site if self._first < 0 else self._first
        self._member[site] = 1.0
        self._members += 1
