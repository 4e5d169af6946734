"""The columns of `Pages` that policies see, gathered from the state, importance and beliefs about change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.deaths import RETURNS
from evercrawl.change.prior import SHAPE, SitePriors
from evercrawl.config import Config
from evercrawl.importance.base import Importance
from evercrawl.model.newcomers import ALONE, Guess
from evercrawl.model.notices import AnnouncedDates
from evercrawl.schedule.pages import Pages
from evercrawl.store.cash.spread import expected
from evercrawl.store.records.records import MEMBER, VALIDATED
from evercrawl.store.state import State
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.store.table.table import NO_RECORD, ROOT
from evercrawl.types import NO_SLOT, Floats, Outcome, Slots

if TYPE_CHECKING:  # not at run time: most queries need none, and they load many modules
    from evercrawl.change.comebacks import Comebacks
    from evercrawl.model.boosts import Boosts
    from evercrawl.model.focus import Focusing
    from evercrawl.model.targets import Targets
    from evercrawl.model.web.known_graph import KnownGraph
    from evercrawl.model.worth.weights import Weight

HEAD_BYTES: Final = 600.0  # of a request and the head of its response: the cost of a visit that finds nothing new
USUAL_BYTES: Final = 20_000.0  # of a body, before the first was seen
_CASH: Final = ("host", "flags", "alias", "importance", "mark")  # fields of the cash account


class Columns:
    """Gathers the columns of `Pages`.

    Importance and cash are halved for each consecutive visit that found the page gone or in trouble: a visit moves
    cash only if the page is back. For pages found gone they are not halved if the policy models comebacks itself.

    Parameters
    ----------
    state, scheme, priors, notices
        The state of the pages, the importance scheme, the priors of change per site, and the changes sitemaps
        announced.
    in_bytes
        Whether the budget is counted in bytes; otherwise in fetches, each at the same cost.
    expecting
        Whether unread pages get the importance expected once they are read; otherwise only that of the links to them.
    new_weight
        Factor on the keys of unread pages; see `focus.discovery_weight`.
    focus
        Factors on the keys of pages in focus; None without a focus. With these two, importance and cash are the keys
        by which visits are chosen, no longer those of rankings.
    known
        Gathers the columns that only some policies need.
    newcomers
        Estimates the importance of recently discovered pages; see `newcomers.Guess`.
    weight
        Replaces importance as the worth of pages; without it worth is importance.
    boosts
        Temporary factors on worth; None without boosts.
    targets
        Worth added to copies by freshness targets; None without targets.
    comebacks
        Rates at which gone pages come back, for a policy that `awaits` them; None otherwise.

    Attributes
    ----------
    in_bytes
        As above.
    """

    def __init__(
        self,
        state: State,
        scheme: Importance,
        priors: SitePriors,
        notices: AnnouncedDates,
        *,
        in_bytes: bool,
        expecting: bool = False,
        new_weight: float = 1.0,
        focus: Focusing | None = None,
        known: KnownGraph | None = None,
        newcomers: str = ALONE,
        weight: Weight | None = None,
        comebacks: Comebacks | None = None,
        boosts: Boosts | None = None,
        targets: Targets | None = None,
    ) -> None:
        self._state = state
        self._scheme = scheme
        self._priors = priors
        self._notices = notices
        self.in_bytes = in_bytes
        self._expecting = expecting and not scheme.handout  # schemes with a source per site
        self._new_weight = new_weight
        self._focus, self._boosts, self._targets = focus, boosts, targets
        self._known = known
        self._guess = Guess(state, scheme, newcomers)
        self._comebacks = comebacks
        self._weight = weight
        if weight is not None:
            self._plain = Columns(
                state, scheme, priors, notices, in_bytes=in_bytes, expecting=expecting, newcomers=newcomers
            )
            weight.begin(self._plain)

    def __call__(self, slots: Slots) -> Pages:
        """Return the columns of `slots`, shape (n,) each."""
        state = self._state
        self._priors.grow(len(state.sites))
        cells = state.table.record.take(slots)
        seen = cells < NO_RECORD
        unread = None if seen.all() else ~seen
        if unread is not None and unread.all() and not state.lost:
            return self._unread(slots, cells)
        rows = self._rows(slots, cells, unread)
        sites = state.site_of.take(rows["host"])
        visited_at = state.epoch + _told_at(rows) / TICKS_PER_S
        scale_s = self._priors.scales_at(sites.astype(np.int64)) + rows["rate_scale_s"]
        if unread is not None:
            visited_at[unread], scale_s[unread] = np.nan, self._priors.crawl_scale_s
        cash = self._cash(slots, cells, unread, rows, sites)
        never = None if unread is None else self._never(unread, slots)
        worth = cash if never is None else np.where(never, self._expected(cash, cells), cash)
        importance = self._importance(worth, rows, slots, cells)
        comeback_scale_s = None
        if (misses := rows["misses"]).any():
            comeback_scale_s = self._comeback_scale_s(rows, slots)
            back = (
                RETURNS ** np.where(comeback_scale_s > 0, 0, misses)
                if comeback_scale_s is not None
                else RETURNS**misses
            )
            importance, cash = importance * back, cash * back
        importance, cash, weight_ratio = self._wanted(slots, never, importance, cash)
        if self._targets is not None and self._targets.active:
            held = (rows["digest"] != 0) & (misses == 0)
            importance = importance + np.where(held, self._targets.added(slots), 0.0)
        cost, cost_changed = self._costs(seen, rows)
        return Pages(
            slot=slots,
            visited_at=visited_at,
            importance=importance,
            cash=cash,
            shape=rows["rate_shape"].astype(np.float64) + SHAPE,
            scale_s=scale_s,
            cost=cost,
            cost_changed=cost_changed,
            neg_log_unchanged=self._notices.of(slots, sites),
            announced_share=self._notices.announced_share(sites),
            found_at=None if unread is None else np.where(unread, self._found_at(slots), np.nan),
            weight_ratio=weight_ratio,
            comeback_scale_s=comeback_scale_s,
            row=cells,
            **self._asked(slots),
        )

    @property
    def said_by_weight(self) -> bool:
        """Whether the weight itself, before its lasting factor, may differ from importance."""
        weight = self._weight.alone if self._weight is not None else None
        return weight is not None and weight.speaks

    @property
    def weighed(self) -> bool:
        """Whether the weight alone may make worth differ from importance."""
        return self._weight is not None and self._weight.speaks

    def weight_ratio(self, slots: Slots) -> Floats:
        """Return worth divided by importance by the weight alone, shape (n,)."""
        if self._weight is None or not self._weight.speaks:
            return np.ones(len(slots))
        importance = self._plain(slots).importance
        return _times(self._weight.worth(slots, importance), importance)

    def saw(self, slot: int) -> tuple[float, dict[str, float]]:
        """Return worth divided by importance for one page by the weight itself, and the evidence behind it."""
        weight = self._weight.alone if self._weight is not None else None
        if weight is None or not weight.speaks:
            return 1.0, {}
        slots = np.array([slot], np.uint32)
        importance = self._plain(slots).importance
        times = float(_times(weight.worth(slots, importance), importance)[0])
        return times, weight.saw(slot, float(importance[0]))

    def _comeback_scale_s(self, rows: NDArray[Any], slots: Slots) -> Floats | None:
        """Return the comeback time scale of pages last found gone, 0 for others; None if the policy awaits none."""
        gone = (rows["outcome"] == Outcome.GONE) & (rows["misses"] > 0)
        if self._comebacks is None or not gone.any():
            return None
        seen = rows["seen"].astype(np.float64)
        there = np.where(seen > 0, seen, self._state.known.found_at.at(slots))
        gone_s = np.maximum(rows["visited"] - there, 0.0) / TICKS_PER_S
        return np.where(gone, self._comebacks.scale_s + gone_s, 0.0)

    def _rows(self, slots: Slots, cells: Slots, unread: NDArray[np.bool_] | None) -> NDArray[Any]:
        """Return the records of pages; all zero for an unread page.

        If the content was lost, only the page's cash account is kept.
        """
        state = self._state
        records = state.records
        if unread is None:
            return records.rows.take(cells)
        rows = records.rows.take(np.where(unread, np.uint32(records.count), cells))  # the first unused record
        for i in np.flatnonzero(unread).tolist() if state.lost else ():
            index = state.lost.get(int(slots[i]))
            if index is not None:
                for field in _CASH:
                    rows[field][i] = records.rows[field][index]
                rows["flags"][i] &= MEMBER
        return rows

    def _importance(self, cash: Floats, rows: NDArray[Any], slots: Slots, cells: Slots) -> Floats:
        """Return the importance of pages."""
        own = rows["alias"] == NO_SLOT  # else it weighs no more than what it has yet to pass on
        history, mark = np.where(own, rows["importance"], 0.0), np.where(own, rows["mark"], 0.0)
        kept = self._state.kept_of(slots, cells)
        kept = kept * own[:, None] if kept is not None else None
        return self._scheme.importance(
            cash, history, mark, self._state.accounts.total, kept, self._state.born_of(slots), self._guess()
        )

    def _wanted(
        self, slots: Slots, never: NDArray[np.bool_] | None, importance: Floats, cash: Floats
    ) -> tuple[Floats, Floats, Floats | None]:
        """Return worth and cash of pages, multiplied by focus and discovery weights, and the weight's ratio.

        `never` marks unread pages.
        """
        weight_ratio = None
        if self._weight is not None and self._weight.speaks:
            worth = self._weight.worth(slots, importance)
            weight_ratio = _times(worth, importance)
            importance, cash = worth, cash * weight_ratio
        news = never if self._new_weight != 1.0 else None
        boosted = self._boosts is not None and bool(self._boosts.active)
        if news is None and self._focus is None and not boosted:
            return importance, cash, weight_ratio
        weights = np.ones(len(slots)) if self._focus is None else self._focus.weights(slots)
        if boosted and self._boosts is not None:
            weights *= self._boosts.weights(slots)
        if news is not None:
            weights[news] *= self._new_weight
        most = np.finfo(np.float64).max / max(float(weights.max(initial=1.0)), 1.0)  # before any cash has moved
        return np.minimum(importance, most) * weights, cash * weights, weight_ratio

    def _unread(self, slots: Slots, cells: Slots) -> Pages:
        """Return the columns of unread pages."""
        state, count = self._state, len(slots)
        cash = state.table.cash.take(slots)
        self._add_shares_of_roots(cash, slots, (cells & np.uint32(ROOT)) != 0)
        zeros = np.zeros(count)
        size = HEAD_BYTES + self._usual_bytes() if self.in_bytes else 1.0
        importance = self._scheme.importance(
            self._expected(cash, cells), zeros, zeros, state.accounts.total, None, state.born_of(slots), self._guess()
        )
        importance, cash, weight_ratio = self._wanted(slots, np.ones(count, np.bool_), importance, cash)
        return Pages(
            slot=slots,
            visited_at=np.full(count, np.nan),
            importance=importance,
            cash=cash,
            shape=np.full(count, SHAPE),
            scale_s=np.full(count, self._priors.crawl_scale_s),
            cost=np.full(count, size),
            cost_changed=zeros,
            neg_log_unchanged=zeros,
            found_at=self._found_at(slots),
            weight_ratio=weight_ratio,
            row=cells,
            **self._asked(slots),
        )

    def _asked(self, slots: Slots) -> dict[str, Any]:
        """Return the columns that only some policies need."""
        return self._known.of(slots) if self._known is not None else {}

    def _found_at(self, slots: Slots) -> Floats:
        return self._state.epoch + self._state.known.found_at.at(slots) / TICKS_PER_S

    def _never(self, unread: NDArray[np.bool_], slots: Slots) -> NDArray[np.bool_]:
        """Return which pages are unread; a page whose content was lost counts as read."""
        lost = self._state.lost
        return unread & np.array([slot not in lost for slot in slots.tolist()], np.bool_) if lost else unread

    def _expected(self, cash: Floats, cells: Slots) -> Floats:
        """Return the importance expected of unread pages."""
        return expected(cash, cells) if self._expecting else cash

    def _add_shares_of_roots(self, cash: Floats, slots: Slots, roots: NDArray[np.bool_]) -> None:
        """Add the share of the virtual page's cash to unread roots."""
        for i in np.flatnonzero(roots).tolist():
            host = int(self._state.known.row(int(slots[i]))["host"])
            cash[i] += self._state.accounts.share(int(self._state.site_of[host]))

    def _usual_bytes(self) -> float:
        visits = self._state.visits
        return self._state.wire_bytes / visits if visits else USUAL_BYTES

    def _cash(
        self, slots: Slots, cells: Slots, unread: NDArray[np.bool_] | None, rows: NDArray[Any], sites: Slots
    ) -> Floats:
        """Return the cash of pages, including their share of the virtual page's cash."""
        cash = self._state.table.cash.take(slots)
        cash += np.where((rows["flags"] & MEMBER) != 0, self._state.accounts.shares(sites), 0.0)
        if unread is not None:
            self._add_shares_of_roots(cash, slots, unread & ((cells & np.uint32(ROOT)) != 0))
        return cash

    def _costs(self, seen: NDArray[np.bool_], rows: NDArray[Any]) -> tuple[Floats, Floats]:
        if not self.in_bytes:
            return np.ones(len(rows)), np.zeros(len(rows))
        body = np.where(seen, rows["wire_bytes"], self._usual_bytes())
        changed = np.where((rows["flags"] & VALIDATED) != 0, body, 0.0)
        return HEAD_BYTES + (body - changed), changed


def _told_at(rows: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the last conclusive visits (content, gone or a redirect), in ticks, shape (n,).

    A failed visit is inconclusive, so the last one before it that saw the content counts, if there is one.
    """
    outcome, seen = rows["outcome"], rows["seen"]
    vain = (outcome == Outcome.ERROR) | (outcome == Outcome.REFUSED)
    found: NDArray[np.uint32] = np.where(vain & (seen > 0), seen, rows["visited"])
    return found


def _times(worth: Floats, importance: Floats) -> Floats:
    """Return worth divided by importance, shape (n,); 1 for pages without importance."""
    return np.divide(worth, importance, out=np.ones(len(worth)), where=importance > 0)


def counts_bytes(config: Config) -> bool:
    """Return whether bytes are the scarce resource: unless only a ceiling of fetches per second is set."""
    return bool(config.rate_bytes_per_s) or not config.rate_per_s
