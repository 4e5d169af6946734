"""Expected importance of unread pages, and the cost of a visit where host time is the limit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Final

import numpy as np

from evercrawl.arrays.reserved import reserve
from evercrawl.config import Config
from evercrawl.importance.base import Importance
from evercrawl.model.columns import USUAL_BYTES, Columns
from evercrawl.model.policy.foresight import Foresight
from evercrawl.model.stored.remembered import Remembered
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.prospects import Prospect, Prospects
from evercrawl.store.cash.spread import INFLOW, expected, part
from evercrawl.store.journal.events import Discovery
from evercrawl.store.state import State
from evercrawl.store.table.folders import marks
from evercrawl.store.table.table import NO_RECORD, ROOT
from evercrawl.types import Flags, Floats, Slots

OWED: Final = 1.25
"""Visits of a host for each page that is known of it, after which pages of which something is expected come first."""
OWED_TURNS: Final = 3
"""Of so many visits all but one go to these."""
WORK_BYTES: Final = 8_000.0
"""Bytes that take as much work to read as all of a visit but its body does: some 300 us of a page's 1,000."""
SURE: Final = 100.0
"""Pages of a site after which what they were counts for half, in the logarithm, and their place for the other half."""
SOURCELESS: Final = 0.01
"""Expected worth of a site without a source, as a part of what a source would give: only links bring it worth."""
_DEEPER: Final = 2.0  # factor on a page that would be the deepest of a possibly endless folder


class Expecting:
    """Predicts the importance of unread pages, and the cost of visits where host time is the limit.

    Parameters
    ----------
    state, prospects
        The state of the pages; the statistics of pages read so far.
    rest_s
        Pause of a host after a visit, in seconds.
    timed
        Whether a visit's cost is the host time it takes on saturated hosts. Otherwise a ceiling on fetches or bytes
        applies, and these are the cost. Then a page is worth what its place in the link tree predicts and none takes
        precedence, because first visits are paid for by refreshing other pages less.
    expects
        Whether sites have a source of which an unread page will get a share.
    """

    def __init__(self, state: State, prospects: Prospects, rest_s: float, *, timed: bool, expects: bool) -> None:
        self._state, self._prospects = state, prospects
        self._rest_s, self._timed, self._expects = rest_s, timed, expects
        self._known: Slots = reserve(np.uint32, 1 << 28)  # by host
        self._read: Slots = reserve(np.uint32, 1 << 28)
        hosts = len(state.hosts)
        self._known[:hosts] = state.known.pages_of_hosts(hosts)
        records = state.records.rows[: state.records.count]
        of_read = records["host"][records["outcome"] != 0]
        self._read[:hosts] += np.bincount(of_read, minlength=hosts).astype(np.uint32)

    def admitted(self, found: Discovery) -> None:
        """Count newly known URLs."""
        for host in found.hosts:
            self._known[host] += 1

    def learned(self, visit: Remembered) -> None:
        """Count a page's first visit."""
        if visit.event.visits == 1:
            self._read[visit.event.host] += 1

    def __call__(self, pages: Pages, hosts: Slots) -> Pages:
        """Return the columns of pages on `hosts`, with the expected importance of unread ones."""
        if self._timed:
            pages = self._priced(pages, hosts)
        unread = np.flatnonzero(np.isnan(pages.visited_at))
        if not self._expects or not len(unread):
            return pages
        slots, hosts = pages.slot[unread], hosts[unread]
        cells = self._state.table.record.take(slots)
        prospect = _one_of_a_kind(self.prospect(cells, hosts), hosts, marks(cells))
        importance, owed = pages.importance.copy(), np.zeros(len(pages.slot))
        if self._timed:
            importance[unread] *= self.times(prospect, slots, cells, hosts)
            owed[unread] = self.owed(prospect, cells, hosts)
        return replace(pages, importance=importance, owed=owed)

    def turned(self) -> Collection[int]:
        """Return the hosts whose expectations changed since the last call."""
        turned = self._prospects.turned
        if turned:
            self._prospects.turned = set()
        return turned if self._expects and self._timed else ()

    def prospect(self, cells: Slots, hosts: Slots) -> Prospect:
        """Return the prospects of unread pages in these cells on these hosts."""
        sites = self._state.site_of.take(hosts)
        return self._prospects.of(hosts, sites, marks(cells), cells & np.uint32(0xFF))

    def owed(self, prospect: Prospect, cells: Slots, hosts: Slots) -> Flags:
        """Return which unread pages take precedence over all others of their hosts now, shape (n,)."""
        visits, known = self._prospects.times.visits_of(hosts), self._known.take(hosts).astype(np.float64)
        late, turn = visits >= OWED * known, visits % OWED_TURNS != 0
        unread = (cells & np.uint32(NO_RECORD)) != 0
        due = late & (~(prospect.endless | prospect.poor) | ((cells & np.uint32(ROOT)) != 0))
        tried = (prospect.tries > 0) & prospect.endless
        owed: Flags = (due & turn | tried) & unread
        return owed

    def times(self, prospect: Prospect, slots: Slots, cells: Slots, hosts: Slots) -> Floats:
        """Return the factor on importance that unread pages' place in the link tree predicts."""
        state = self._state
        cash = np.maximum(state.table.cash.take(slots), 0.0)
        usual = part(cells)
        sites = state.site_of.take(hosts)
        members = state.accounts.sites["members"][sites].astype(np.float64)
        waiting = np.maximum(self._known.take(hosts).astype(np.float64) - self._read.take(hosts), 1.0)
        own = np.minimum(prospect.own + prospect.doubt, 1.0)
        source = np.where(state.accounts.sites["trusted"][sites] != 0, 1.0, SOURCELESS)
        believed = prospect.of_site / (prospect.of_site + SURE)
        fair = usual ** (1.0 - believed) * (own / np.maximum(members + own * waiting, 1.0)) ** believed
        wanted = np.where(prospect.tries > 1.0, _DEEPER * fair, fair)
        held_back = np.minimum(usual, fair) * own * prospect.left
        learned = np.where(prospect.ends, fair, np.where(prospect.tries > 0.0, wanted, held_back))
        learned = np.where(prospect.of_site > 0, learned, usual)
        told = ((prospect.of_site > 0) | (source < 1.0)) & ((cells & np.uint32(ROOT)) == 0)
        told &= (cells & np.uint32(NO_RECORD)) != 0
        before = expected(cash, cells)
        after = np.minimum(cash, INFLOW * learned) + source * learned
        times: Floats = np.divide(after, before, out=np.ones(len(cells)), where=told & (before > 0))
        return times

    def _priced(self, pages: Pages, hosts: Slots) -> Pages:
        """Return pages with the cost of a visit: host time where hosts are busy, otherwise fetches or bytes."""
        busy, ratio = self._prospects.times.of(hosts, pages.slot, self._rest_s)
        cost = (1.0 - busy) * (pages.cost + WORK_BYTES) + busy * ratio * self._usual()
        return replace(pages, cost=cost, cost_changed=(1.0 - busy) * pages.cost_changed)

    def _usual(self) -> float:
        """Return the mean cost of reading a page, in bytes."""
        state = self._state
        return WORK_BYTES + (state.wire_bytes / state.visits if state.visits else USUAL_BYTES)


def _one_of_a_kind(prospect: Prospect, hosts: Slots, kinds: Slots) -> Prospect:
    """Return expectations for kinds of which one page per host, the first, tests whether the kind ends."""
    wanted = np.flatnonzero((prospect.tries > 0.0) & prospect.endless)
    if len(wanted) < 2:
        return prospect
    _, first = np.unique(hosts[wanted].astype(np.uint64) << np.uint64(6) | kinds[wanted], return_index=True)
    tries = np.where(prospect.endless, 0.0, prospect.tries)
    tries[wanted[first]] = prospect.tries[wanted[first]]
    return prospect._replace(tries=tries)


def expecting_of(state: State, config: Config, scheme: Importance, foresight: Foresight | None) -> Expecting | None:
    """Return the crawl's expectations of unread pages; None if they do not learn from visits."""
    if foresight is None:
        return None
    timed = not config.rate_per_s and not config.rate_bytes_per_s
    return Expecting(state, foresight.prospects, config.delay_s, timed=timed, expects=not scheme.handout)


class ExpectingColumns(Columns):
    """`Pages` by slot with expectations, for callers that do not know the hosts.

    Parameters
    ----------
    told
        Returns the expectations; None where there are none.
    gathered, more
        As for `Columns`.
    """

    def __init__(self, told: Callable[[], Expecting | None], state: State, *gathered: Any, **more: Any) -> None:
        super().__init__(state, *gathered, **more)
        self._log, self._told = state.known, told
        self._hosts: Slots | None = None

    def __call__(self, slots: Slots) -> Pages:
        """Return the columns of `slots`, shape (n,) each."""
        pages, expecting = super().__call__(slots), self._told()
        if expecting is None:
            return pages
        if self._hosts is None or len(self._hosts) < self._log.count:
            self._hosts = self._log.rows()["host"]
        return expecting(pages, self._hosts.take(slots))
