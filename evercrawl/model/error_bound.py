"""Upper bound on the error of importance on the links last read.

Each page gives at least the share tau of its cash to the virtual page, so undistributed cash shrinks by that share
whenever it moves. Under push all of it is in the residuals r, and the values x + r are off by at most sum|r| (1 -
tau) / tau. Under OPIC without a window the shares H/G are off by at most sum|C - C0| / (tau G) <= 2 / (tau G), as
long as no link changes. A window forgets, so with one only the factor of the error is known.

The cash of unread pages is not counted as error: their links are unknown, and without links it would go no further.
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
    """The known bound on the error of importance.

    Attributes
    ----------
    clock
        G, the total cash moved by visits so far; under push the value passed on, in units of a site's source.
    factor
        The factor of the error: 1/G, or 1 over the window's length if that is shorter; None before any visit, and
        under push, whose error falls faster.
    total
        Bound on the sum of absolute errors of all pages' shares of importance, on the links last read; None if it is
        not below 2 or the scheme has none.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3. Andersen, Chung, Lang
    (2006). Local graph partitioning using PageRank vectors.
    """

    clock: float
    factor: float | None
    total: float | None


def error_bound(state: State, scheme: Importance) -> ErrorBound:
    """Return the error bound of a crawl's importance at an instant; scans every page."""
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
    """Return push's bound as shares of all importance."""
    if not _taxed(scheme):
        return _MOST
    rows: Any = state.records.rows[: state.records.count]
    part = state.accounts.shares(state.site_of[rows["host"]]) * ((rows["flags"] & MEMBER) != 0)
    residual = state.table.cash[rows["slot"]] + part
    alias = rows["alias"] != NO_SLOT
    gives = (rows["event"] != 0) & (rows["outcome"] != Outcome.GONE) & (rows["outcome"] != 0)
    waiting = np.abs(residual) * gives * np.where(alias, 1.0, 1.0 - scheme.tax)  # an alias passes on all its cash
    unread = float(np.maximum(state.table.cash[: state.known.count], 0.0).sum()) - float(
        np.maximum(state.table.cash[rows["slot"]], 0.0).sum()
    )
    there = float(np.maximum(rows["importance"] + residual, 0.0)[~alias].sum()) + max(unread, 0.0)
    return 2.0 * float(waiting.sum()) / scheme.tax / there if there else _MOST


def _taxed(scheme: Importance) -> bool:
    """Return whether every page gives the virtual page a minimum share, however many links it has."""
    return scheme.convention == "tax" and scheme.tax > 0


def _below(bound: float) -> float | None:
    return bound if bound < _MOST else None
