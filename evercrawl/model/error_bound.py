"""How far off importance can be, at most, on the links that were last read: what a crawl can say of its own error.

Each page gives at least the part tau of what it has to the virtual page, so what is not passed on yet loses that part
whenever it is moved. Under push all of it is in the residuals r: the values x + r are off by sum|r| (1 - tau) / tau at
most. Under OPIC without a window the shares H/G are off by sum|C - C0| / (tau G) <= 2 / (tau G), as long as no link
changes. A window forgets, so there only the factor of the error is known.

What unread pages hold is no error here: nobody knows their links, and without any it would go no further.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.importance.aopic import AOPIC
from evercrawl.importance.base import Importance
from evercrawl.importance.push import Push
from evercrawl.store.records.records import MEMBER
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Outcome

_MOST: Final = 2.0
"""Two distributions of shares are never further apart."""


class ErrorBound(NamedTuple):
    """What is known of the error of importance.

    Attributes
    ----------
    clock
        G: all cash moved by visits so far; under push the value that was passed on, in units of a site's source.
    factor
        The factor of the error: 1/G of what counts, the window's length where that is less; None before any visit, and
        under push, whose error falls faster.
    total
        Bound on the sum of |errors| of all pages' shares of importance, on the links last read; None where there is
        none below 2, or where the scheme has none.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3. Andersen, Chung, Lang
    (2006). Local graph partitioning using PageRank vectors.
    """

    clock: float
    factor: float | None
    total: float | None


def error_bound(state: State, scheme: Importance) -> ErrorBound:
    """Return what a crawl at an instant can say of the error of its importance; takes a look at every page."""
    clock = state.accounts.total
    if isinstance(scheme, Push):
        return ErrorBound(clock, None, _below(_of_residuals(state, scheme)))
    if not isinstance(scheme, AOPIC) or not clock:
        return ErrorBound(clock, None, None)
    if scheme.window.counts == "nothing":
        bound = _MOST / (scheme.tax * clock) if _taxed(scheme) else _MOST  # C and C0 sum to 1 each
        return ErrorBound(clock, 1 / clock, _below(bound))
    counted = min(clock, scheme.window.length) if scheme.window.counts == "cash" else clock
    return ErrorBound(clock, 1 / counted, None)


def _of_residuals(state: State, scheme: Push) -> float:
    """Return the bound of push as shares of all importance."""
    if not _taxed(scheme):
        return _MOST
    rows: Any = state.records.rows[: state.records.count]
    part = state.accounts.shares(state.site_of[rows["host"]]) * ((rows["flags"] & MEMBER) != 0)
    residual = state.table.cash[rows["slot"]] + part
    alias = rows["alias"] != NO_SLOT
    gives = (rows["event"] != 0) & (rows["outcome"] != Outcome.GONE) & (rows["outcome"] != 0)
    waiting = np.abs(residual) * gives * np.where(alias, 1.0, 1.0 - scheme.tax)  # an alias passes on all that it has
    unread = float(np.maximum(state.table.cash[: state.known.count], 0.0).sum()) - float(
        np.maximum(state.table.cash[rows["slot"]], 0.0).sum()
    )
    there = float(np.maximum(rows["importance"] + residual, 0.0)[~alias].sum()) + max(unread, 0.0)
    return 2.0 * float(waiting.sum()) / scheme.tax / there if there else _MOST


def _taxed(scheme: Importance) -> bool:
    """Whether there is a least part that every page gives to the virtual page: a page may have any number of links."""
    return scheme.convention == "tax" and scheme.tax > 0


def _below(bound: float) -> float | None:
    return bound if bound < _MOST else None
