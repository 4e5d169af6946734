"""Tianwang: cycles of fixed capacity, a part of it for new URLs, the rest for pages that are due."""

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.abilities import Follows, Learns, Plans, Resumes, Tabulates, Tunable
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.policies.tianwang.cycle import CycleState, noted
from evercrawl.schedule.policies.tianwang.index_pages import IndexPages
from evercrawl.schedule.policies.tianwang.next_crawl import SiteRates, periods_s
from evercrawl.schedule.policies.tianwang.options import TianwangOptions
from evercrawl.schedule.policies.tianwang.queues import DUE, INDEX, REMAINED, QueuePlaces, queues
from evercrawl.schedule.policies.tianwang.tables import tables
from evercrawl.schedule.shared.capacity import Capacity
from evercrawl.schedule.shared.checked import Checked
from evercrawl.schedule.shared.discovery import among_equals
from evercrawl.types import Flags, Floats, Ints, Slots

_CYCLES: Final = 5  # cycles per round, if the length of a cycle is not set
_FEWEST: Final = 16  # minimum visits per cycle in that case
_UNMEASURED: Final = 256  # minimum capacity until the pace is known, because an idle cycle cannot measure it
_GONE, _SPARE, _LATER, _NEW, _SOONER, _AT_ONCE = -1.0, 0.0, 1.0, 2.0, 3.0, 4.0  # integer parts of values
_KINDS: Final = 3
_BEFORE: Final = -float(1 << 33)  # pages of this cycle precede any instant in their hosts' queues
_TIE: Final = 2.0**-33


class Tianwang(Learns, Plans, Tunable, Follows, Resumes, Tabulates, Policy):
    """In each cycle visit some new URLs, pages whose NextCrawlTime has come, and pages that earlier cycles left over.

    A cycle has a capacity of N_C visits. I % of them are for new URLs; the rest of this part goes to index-like pages,
    which are visited for their new links, or is not used. The other visits go to pages whose NextCrawlTime came since
    the last cycle: first to those that changed at each recent check, then in the order of their times. Remaining
    capacity goes to RemainedURLs, the pages for which earlier cycles had no room; pages without room in this cycle join
    them. New URLs come in the order of discovery, or by weight if the crawl weighs pages by something other than
    importance. As published, a crawl that has finished its assignment waits for the next cycle.

    Parameters
    ----------
    new_percent
        I, the percentage of the capacity for new URLs.
    capacity
        N_C, the number of visits per cycle; 0: as many as the crawl makes in that time.
    cycle
        Length of a cycle, such as 1d. Empty: the time that `capacity` visits take, or, without a capacity, as many
        visits as a fifth of the read pages.
    work_conserving
        1 to visit other pages, those due soonest first, if a cycle has nothing left to do; 0 as published.
    direct_after
        A page found changed in this many consecutive checks is visited before all others once it is due; 0: no page is.
        The paper's "fetched directly" could also mean in every cycle, due or not, which does worse.
    retire_after
        DisappearTimes at which a page that is gone is given up; at most 6, because then the crawl itself gives it up.
    longest
        Maximum number of rounds between two visits of a page; a round is the time it takes to visit all pages.
    locality
        Minimum rate of change of a page, as a fraction of its site's rate; 0: no minimum, as published.
    index_links
        A page with at least this many links, little text per link, and changed links is index-like.
    index_bytes
        Maximum bytes of text per link of an index-like page.

    Examples
    --------
    Two pages were read when the crawl began, and a round takes 1 s. A third page is new. Planned pages come before
    others, in the order 3 (new), 1:

    >>> from evercrawl.schedule import Context, Pages
    >>> one, none = np.ones(2), np.zeros(2)
    >>> policy = Tianwang(capacity=1, new_percent=0)
    >>> seen = Pages(np.arange(2, dtype=np.uint32), np.array([1.0, 2.0]), one, one, one, one, one, none, none)
    >>> next_at = policy.plan(seen, 1, Context(100.0))
    >>> policy.value(seen, Context(100.0)) >= policy.min_value
    array([ True, False])

    References
    ----------
    Meng, Wang, Yan (2006). The survey's account of Tianwang's incremental crawler. The definition of index-like, the
    order in which index-like pages are visited, the first period (a round) and the longest period are ours.
    """

    counts_links: ClassVar[bool] = True
    keeps_notes: ClassVar[bool] = True
    reviews: ClassVar[int] = 16
    least: float = _LATER

    __signature__: ClassVar = signature(TianwangOptions)

    def __init__(self, **given: float | str) -> None:
        self._options = TianwangOptions(**given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        self._checked, self._links, self._sites = Checked(), IndexPages(), SiteRates()
        self._cycle, self._places, self._capacity = CycleState(), QueuePlaces(), Capacity()
        self._capacity.begin(0.0)
        self._resumed = False  # whether an earlier run was resumed and no plan was made since
        self._set_least()

    def adjust(self, options: Mapping[str, float | str]) -> None:
        """Set new values from the next visit on; length and capacity of cycles from the next cycle on."""
        self._options = replace(self._options, **options)  # type: ignore[arg-type]
        self._set_least()

    def _set_least(self) -> None:
        self.min_value = _SPARE if self._options.work_conserving else _LATER

    def learn(self, visits: Visits) -> None:
        """Record changes, links and gone pages found by visits; after a restart, count them in the resumed cycle."""
        if self._resumed:
            self._count_again(visits)
        self._capacity.told(visits.at)
        self._checked.learn(visits)
        self._links.learn(visits)
        self._sites.learn(visits)

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Begin a cycle, or resume the one that an earlier run began; return when it ends."""
        if context.now >= self._cycle.ends_at:
            self._begin(len(pages.slot), context.now)
        cycle, self._resumed = self._cycle, False
        rows, at, next_at = self._known(pages.slot, pages.visited_at)
        waiting = (at < cycle.begun_at) & (rows["misses"] < self._options.retire_after)
        found = queues(next_at, waiting, self._direct(rows), cycle.before_at, cycle.begun_at)
        index = self._index_pages(pages.slot, waiting, cycle.begun_at - at)
        cycle.assign(unread, len(found.due), len(found.remained), len(index))
        due, remained = found.due[: int(cycle.left_due)], found.remained[: int(cycle.left_remained)]
        index = index[~np.isin(index, np.concatenate([due, remained]))][: int(cycle.left_index)]
        cycle.left_index = len(index)
        self._places.fill([(DUE, pages.slot[due]), (REMAINED, pages.slot[remained]), (INDEX, pages.slot[index])])
        self._capacity.begin(context.now)
        self._rest_if_done(context.now)
        return cycle.ends_at

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the values of visits: at least 1 for pages of this cycle, less for others."""
        rows, at, next_at = self._known(pages.slot, pages.visited_at)
        taken, within = self._within(pages.slot, at)
        begins = _SOONER if self._cycle.refresh_first else _LATER
        planned = np.where(self._direct(rows), _AT_ONCE, begins) + within
        late = (context.now - next_at) / self._cycle.round_s
        spare = _SPARE + np.where(late > 0, 0.75, 0.25) + 0.24 * late / (1.0 + np.abs(late))
        value = np.where(taken, planned, np.where(self._given_up(rows), _GONE, spare))
        later = pages.slot * _TIE if pages.weight_ratio is None else 0.5 - 0.5 * among_equals(pages.importance)
        new = 2.9 - later if self._cycle.room_new > 0 else 0.5 - 0.4 * later
        return np.where(np.isnan(pages.visited_at), new, value)

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when pages may be visited: those of this cycle before any instant, others not before its end."""
        rows, at, next_at = self._known(pages.slot, pages.visited_at)
        taken, within = self._within(pages.slot, at)
        sooner = np.where(self._direct(rows), 1.0, 0.0) + within
        later = next_at if self._options.work_conserving else np.maximum(next_at, self._cycle.ends_at)
        return np.where(taken, _BEFORE - sooner, np.where(self._given_up(rows), np.inf, later))

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Subtract visits from the rest of the cycle's assignment."""
        self._capacity.made(len(values), context.now)
        refresh = values[(values >= _LATER) & (np.floor(values) != _NEW)]
        kinds = np.bincount(_KINDS - 1 - (refresh % 1 * _KINDS).astype(np.int64), minlength=_KINDS)
        self._cycle.visited(new, *kinds.tolist())
        self._rest_if_done(context.now)

    def notes(self) -> dict[str, float]:
        """Return the state of the cycle, and the visits per second once known."""
        return self._cycle.notes() | ({"tianwang_per_s": self._capacity.per_s} if self._capacity.known else {})

    def resume(self, notes: dict[str, float]) -> None:
        """Resume the cycle of an earlier run; its visits are learned before the first plan."""
        self._cycle, self._resumed = noted(notes, self._options.new_percent), True
        self._capacity.resume(notes.get("tianwang_per_s", 0.0))

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the policy's tables by their published names, and one of ours.

        Of the five published data blocks, NewURLQueue and ParsedURLs (all URLs ever extracted) belong to the crawl, in
        `export pages`, and so do CheckPoints (digests of contents), in `export content`.

        Returns
        -------
        PageInfoTable
            Each requested page with its checks, ChangePeriod, NextCrawlTime and DisappearTimes.

            slot : page
                The page.
            checks : visits
                Visits that showed whether the page had changed.
            changes : visits
                Visits that found the page changed.
            watched_s : seconds
                Sum of the intervals before these checks.
            at : instant
                When the page was last requested.
            changed_at : instant
                Time of the last visit that found the page changed.
            changes_per_day : changes a day
                Rate of change estimated from these counts.
            next_at : instant
                NextCrawlTime, one period after the last visit; null for pages that are left over or given up.
            period_s : seconds
                ChangePeriod, from the page's last visit to its next.
            disappear_times : visits
                Consecutive visits, up to the last one, that found the page gone.
            retired : true or false
                Whether the page is given up, as `retire_after` says.
        RemainedURLs
            The pages that are left over: they became due before the current cycle began, and found no room.

            slot : page
                The page.
            due_at : instant
                Time since which the page has been due.
        IndexPages
            The pages with links; this table is not in the paper.

            slot : page
                The page.
            links : pages
                Number of pages that the page links to.
            new_pages : pages
                Pages that became known by its visits, except the first.
            new_pages_per_visit : pages a visit
                The same, on average per visit.
            index_like : true or false
                Whether the page is index-like, as `index_links` and `index_bytes` say.
        """
        slots, rows = self._checked.all()
        next_at, given_up = rows["at"] + self._periods_s(rows), self._given_up(rows)
        taken, _ = self._within(slots, rows["at"])
        waiting = ~given_up & ~taken & ~self._direct(rows) & (rows["at"] < self._cycle.begun_at)
        remained = waiting & (next_at <= self._cycle.begun_at)
        return tables(slots, rows, next_at, remained, given_up, self._links, self._alike(slots))

    # The state of pages

    def _known(self, slots: Slots, visited_at: Floats) -> tuple[NDArray[Any], Floats, Floats]:
        """Return the rows, last visit and NextCrawlTime of each page."""
        rows = self._checked.take(slots)
        at: Floats = np.fmax(rows["at"], visited_at)
        return rows, at, at + self._periods_s(rows)

    def _periods_s(self, rows: NDArray[Any]) -> Floats:
        options = self._options
        least_per_s = options.locality * self._sites.per_s(rows["site"]) if options.locality else 0.0
        return periods_s(rows, self._cycle.round_s, options.longest, least_per_s)

    def _direct(self, rows: NDArray[Any]) -> Flags:
        """Return which pages were found changed at each of their last checks."""
        lately = (1 << int(self._options.direct_after)) - 1
        found: Flags = (rows["recent"] & lately == lately) & (lately > 0)
        return found

    def _given_up(self, rows: NDArray[Any]) -> Flags:
        found: Flags = rows["misses"] >= self._options.retire_after
        return found

    def _alike(self, slots: Slots) -> Flags:
        return self._links.alike(slots, self._options.index_links, self._options.index_bytes)

    def _index_pages(self, slots: Slots, waiting: Flags, waited_s: Floats) -> Ints:
        """Return the rows of index-like pages, those with the most expected new pages first."""
        expected = np.where(waiting & self._alike(slots), self._links.expected(slots, waited_s), 0.0)
        best = np.argsort(-expected, kind="stable")
        return best[expected[best] >= 1.0]

    def _within(self, slots: Slots, at: Floats) -> tuple[Flags, Floats]:
        """Return which pages are to be visited in this cycle, and their order in it, between 0 (last) and 1."""
        taken, kinds, places = self._places.of(slots)
        return taken & (at < self._cycle.begun_at), (_KINDS - kinds - 0.001 - 0.998 * places) / _KINDS

    # The cycle

    def _begin(self, seen: int, now: float) -> None:
        """Begin the next cycle."""
        per_s, options = self._capacity.per_s, self._options
        if options.capacity and options.cycle_s:  # the capacity limits the visits, even if more were possible
            most_per_s = options.capacity / options.cycle_s
            per_s = min(per_s, most_per_s) if self._capacity.known else most_per_s
        room = options.capacity or (per_s * options.cycle_s if options.cycle_s else max(seen / _CYCLES, _FEWEST))
        length_s = options.cycle_s or room / per_s
        if not self._capacity.known and not options.capacity:
            room = max(room, _UNMEASURED)
        self._cycle = self._cycle.following(now, length_s, seen / per_s)
        self._cycle.capacity, self._cycle.percent = max(round(room), 1), options.new_percent

    def _count_again(self, visits: Visits) -> None:
        """Subtract visits from the resumed cycle, by the kind that each page had before the visit."""
        rows, at, next_at = self._known(visits.slot, np.full(len(visits), -np.inf))
        taken = (visits.at >= self._cycle.begun_at) & (at < self._cycle.begun_at)
        new = taken & (at == 0)
        due = taken & ~new & ((next_at <= self._cycle.begun_at) | self._direct(rows))
        self._cycle.visited(int(new.sum()), int(due.sum()), 0, int((taken & ~new & ~due).sum()))

    def _rest_if_done(self, now: float) -> None:
        """Stop the clock of the capacity while the crawl has nothing to do and makes no other visits."""
        if self._cycle.done and not self._options.work_conserving:
            self._capacity.rest(now)
