"""What a policy is told of pages, gathered from state, importance and beliefs about change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.change.prior import SHAPE
from evercrawl.schedule.base import Pages
from evercrawl.store.known import TICKS_PER_S
from evercrawl.store.records import MEMBER, VALIDATED
from evercrawl.store.table import NO_RECORD, ROOT
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from evercrawl.change.prior import SitePriors
    from evercrawl.config import Config
    from evercrawl.crawl.notices import Notices
    from evercrawl.importance.base import Importance
    from evercrawl.store.state import State
    from evercrawl.types import Floats, Slots

HEAD_BYTES: Final = 600.0  # of a request and the head of its answer: what a visit costs that finds nothing new
USUAL_BYTES: Final = 20_000.0  # of a body, before any was seen


class Columns:
    """Gathers the columns of `Pages`.

    Parameters
    ----------
    state, scheme, priors, notices
        Who has what, how much that matters, how fast sites change, and what sitemaps say changed.
    in_bytes
        Whether the budget is counted in bytes; else in fetches, of which each costs the same.
    """

    def __init__(
        self, state: State, scheme: Importance, priors: SitePriors, notices: Notices, *, in_bytes: bool
    ) -> None:
        self._state = state
        self._scheme = scheme
        self._priors = priors
        self._notices = notices
        self._in_bytes = in_bytes

    def __call__(self, slots: Slots) -> Pages:
        """Return the columns of `slots`, shape (n,) each."""
        state = self._state
        self._priors.grow(len(state.sites))
        cells = state.table.record[slots]
        seen = (cells & np.uint32(NO_RECORD)) == 0
        held = self._with_lost(slots, cells, seen) if state.lost else seen
        if not held.any():
            return self._unread(slots, cells)
        rows = state.records.rows[np.where(held, cells, 0)]
        sites = state.site_of[rows["host"]]
        cash = self._cash(slots, cells, held, rows, sites)
        history = np.where(held & (rows["alias"] == NO_SLOT), rows["importance"], 0.0)
        mark = np.where(held, rows["mark"], 0.0)
        shape, scale_s = self._rate(seen, rows, sites)
        cost, cost_changed = self._costs(seen, rows)
        since = np.where(rows["seen"] > 0, rows["seen"], rows["visited"])  # a visit in vain tells nothing of change
        return Pages(
            slot=slots,
            visited_at=np.where(seen, state.epoch + since / TICKS_PER_S, np.nan),
            importance=self._scheme.importance(cash, history, mark, state.accounts.total)
            * 0.5 ** (rows["misses"] * seen),
            cash=cash,
            shape=shape,
            scale_s=scale_s,
            cost=cost,
            cost_changed=cost_changed,
            notice=self._notices.of(slots, sites),
        )

    def _unread(self, slots: Slots, cells: Slots) -> Pages:
        """Return the columns of pages none of which was ever read."""
        state, count = self._state, len(slots)
        cash = state.table.cash[slots].astype(np.float64)
        self._add_shares_of_roots(cash, slots, (cells & np.uint32(ROOT)) != 0)
        zeros = np.zeros(count)
        size = HEAD_BYTES + self._usual_bytes() if self._in_bytes else 1.0
        return Pages(
            slot=slots,
            visited_at=np.full(count, np.nan),
            importance=self._scheme.importance(cash, zeros, zeros, state.accounts.total),
            cash=cash,
            shape=np.full(count, SHAPE),
            scale_s=np.full(count, self._priors.crawl_scale_s),
            cost=np.full(count, size),
            cost_changed=zeros,
            notice=zeros,
        )

    def _add_shares_of_roots(self, cash: Floats, slots: Slots, roots: NDArray[np.bool_]) -> None:
        """Add the share of the virtual page's cash to roots that were never read."""
        for i in np.flatnonzero(roots).tolist():
            host = int(self._state.known.row(int(slots[i]))["host"])
            cash[i] += self._state.accounts.share(int(self._state.site_of[host]))

    def _usual_bytes(self) -> float:
        visits = self._state.visits
        return self._state.wire_bytes / visits if visits else USUAL_BYTES

    def _with_lost(self, slots: Slots, cells: Slots, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return also those whose content was lost, for their cash is not; put their records' indexes into `cells`."""
        held = seen.copy()
        for i in np.flatnonzero(~seen).tolist():
            index = self._state.lost.get(int(slots[i]))
            if index is not None:
                held[i], cells[i] = True, index
        return held

    def _cash(self, slots: Slots, cells: Slots, seen: NDArray[np.bool_], rows: NDArray[Any], sites: Slots) -> Floats:
        """Return the cash of pages, the share of the virtual page's included."""
        accounts = self._state.accounts
        cash = self._state.table.cash[slots].astype(np.float64)
        cash += np.where(seen & ((rows["flags"] & MEMBER) != 0), accounts.shares(sites), 0.0)
        self._add_shares_of_roots(cash, slots, ~seen & ((cells & np.uint32(ROOT)) != 0))
        return cash

    def _rate(self, seen: NDArray[np.bool_], rows: NDArray[Any], sites: Slots) -> tuple[Floats, Floats]:
        """Return the posterior of the rate of change; of a page never read, the prior of all sites."""
        priors = self._priors
        shape = SHAPE + np.where(seen, rows["rate_shape"], 0.0).astype(np.float64)
        scales_s = priors.scales_at(sites.astype(np.int64)) + rows["rate_scale_s"]
        return shape, np.where(seen, scales_s, priors.crawl_scale_s)

    def _costs(self, seen: NDArray[np.bool_], rows: NDArray[Any]) -> tuple[Floats, Floats]:
        ones = np.ones(len(rows))
        if not self._in_bytes:
            return ones, 0.0 * ones
        body = np.where(seen, rows["wire_bytes"], self._usual_bytes())
        cheap = seen & ((rows["flags"] & VALIDATED) != 0)
        return HEAD_BYTES + np.where(cheap, 0.0, body), np.where(cheap, body, 0.0)


def counts_bytes(config: Config) -> bool:
    """Whether bytes are what the crawl has little of: unless a ceiling of fetches a second is all that is set."""
    return bool(config.rate_bytes_per_s) or not config.rate_per_s
