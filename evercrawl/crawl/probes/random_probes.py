"""Random probes: copies sampled at random and visited in their hosts' turn, so that freshness is measured.

The results of ordinary visits are no sample: the policy goes where it expects changes. So a small share of the visits
goes to pages sampled at random among all copies. The samples alternate between uniform and by importance.

A page is judged *as of the instant at which it was sampled*. Its host may have to rest first, and the page itself has
to wait until `refresh_after_s` has passed since its last visit. The next visit of the page decides, be it a probe or
not. A copy that is fresh then was fresh when it was sampled; `evercrawl.change.probed` describes how changes are
judged. A sample of only those pages that could be visited at once would leave out pages of busy hosts and pages
visited just now, whose freshness differs from that of others.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final

import numpy as np

from evercrawl.crawl.probes.drawing import Drawing
from evercrawl.model.rules.barred import Barred
from evercrawl.model.rules.waits import again_at
from evercrawl.model.stored.reader import undecided
from evercrawl.model.stored.remembered import Remembered
from evercrawl.schedule.abilities import p_fresh
from evercrawl.schedule.base import Policy, Surroundings
from evercrawl.schedule.formulas.expected_age import expected_age_s
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.schedule.frontier.politeness import LOOK_S
from evercrawl.schedule.pages import Pages
from evercrawl.store.journal.events import CHANGED, Drawn
from evercrawl.store.partition import Partition
from evercrawl.types import Outcome, Slots

MOST: Final = 1000  # sampled pages that may wait; while so many do, no other is sampled
RESUMED_BYTES: Final = 4 << 20  # the end of the journal in which a new run looks for samples that were not visited
MOST_LOOKS, FEW_LOOKS = 200, 20
BUSY_S: Final = 1.0  # the wait before checking again on a page that is being visited


class RandomProbes:
    """Samples copies as visits are made, and decides which of them are visited now.

    Parameters
    ----------
    partition, frontier, policy
        Where samples are journalled; the queues; predicts how fresh copies are.
    columns, plain
        Slots -> `Pages`: for the policy, and with the importance by which copies are sampled.
    surroundings
        The policy's context beside the columns.
    share
        The highest share of visits made for samples; an ordinary visit of a sampled page makes a probe unnecessary. A
        share above one half counts as one half.
    refresh_after_s
        The shortest time between two visits of a page.
    tell
        Passes all remembered visits to the policy.
    barred
        Knows the pages that may not be requested; they are not sampled.
    """

    def __init__(
        self,
        partition: Partition,
        frontier: Frontier,
        policy: Policy,
        columns: Callable[[Slots], Pages],
        plain: Callable[[Slots], Pages],
        surroundings: Surroundings,
        *,
        share: float,
        refresh_after_s: float,
        tell: Callable[[], None] = lambda: None,
        barred: Barred | None = None,
    ) -> None:
        self._tell, self._barred = tell, barred
        self._partition, self._state = partition, partition.state
        self._frontier, self._policy, self._columns = frontier, policy, columns
        self._surroundings = surroundings
        self._refresh_after_s = refresh_after_s
        self._chance = share / (1 - share) if share < 1 else 1.0  # for each visit that is no probe
        self._waiting = dict[int, float]()  # slot -> when it is tried next, which identifies its entry in the queue
        self._queue = list[tuple[float, int]]()  # times and slots; entries that no page waits for are skipped
        self._unchanged = deque[bool](maxlen=MOST_LOOKS)  # the latest results of this run
        self._by_importance = False
        self._random = Random(f"{partition.birth.id} {partition.journal.sequence}")  # a different one in each run
        self._drawing = Drawing(self._state, plain, self._random)
        for slot in undecided(partition, RESUMED_BYTES) if share else ():
            self._wait(slot)

    def stop(self) -> None:
        """Sample and visit nothing any more."""
        self._chance = 0.0
        self._waiting.clear()

    def began(self, slot: int, now: float) -> bool:
        """Note that a visit begins; return whether a copy was sampled, which is an event."""
        if slot in self._waiting or self._random.random() >= self._chance or len(self._waiting) >= MOST:
            return False
        return self._draw(now)

    def _draw(self, now: float) -> bool:
        slot = self._drawing.important_copy() if self._by_importance else self._drawing.any_copy()
        if slot is None or self._keeps_out(slot):
            return False
        self._tell()
        pages = self._columns(np.array([slot], np.uint32))
        context = self._surroundings(now)
        fresh = p_fresh(self._policy, pages, context).item()
        age_s = expected_age_s(self._policy, pages, context).item()
        alone_s = max(now - pages.visited_at.item(), 0.0)
        self._partition.remember(Drawn(slot, now, self._by_importance, fresh, age_s, alone_s))
        self._by_importance = not self._by_importance
        self._wait(slot)
        return True

    def _keeps_out(self, slot: int) -> bool:
        return self._barred is not None and bool(self._barred.rule(slot, self._state.urls.get(slot)))

    def forget(self, slot: int) -> None:
        """Drop a page that is not requested any more."""
        self._waiting.pop(slot, None)

    def learned(self, visit: Remembered) -> None:
        """Record the result of a remembered visit if its page was sampled."""
        if self._waiting.pop(visit.event.slot, None) is not None and visit.event.outcome != Outcome.ERROR:
            self._unchanged.append(not visit.event.flags & CHANGED and visit.event.outcome != Outcome.GONE)

    @property
    def fresh(self) -> float | None:
        """The share of unchanged copies among the last samples, at most 200; None if there are fewer than 20."""
        return sum(self._unchanged) / len(self._unchanged) if len(self._unchanged) >= FEW_LOOKS else None

    def said(self, slot: int, now: float) -> float:
        """Return the predicted probability that a copy is fresh."""
        self._tell()
        return p_fresh(self._policy, self._columns(np.array([slot], np.uint32)), self._surroundings(now)).item()

    def next_at(self) -> float:
        """Return the time of the next visit of a sample; infinity if none waits."""
        return self._queue[0][0] if self._queue else math.inf

    def start(self, now: float) -> tuple[Host, int] | None:
        """Return a sampled page that may be visited now, and take it from its queue; None if there is none."""
        while self._queue and self._queue[0][0] <= now:
            at, slot = heapq.heappop(self._queue)
            if self._waiting.get(slot) == at:  # else it was visited meanwhile, and may have been sampled again
                host = self._frontier.hosts[int(self._state.known.row(slot)["host"])]
                wait_s = self._frontier.wait_s(host, now)
                taken = wait_s <= 0 and self._frontier.take_page(host, slot)
                self._look(slot, now + max(wait_s, LOOK_S if taken or wait_s > 0 else BUSY_S))
                if taken:
                    return host, slot
        return None

    def _wait(self, slot: int) -> None:
        """Queue a page for a visit as soon as it may be visited."""
        index = self._state.record_of(slot)
        if index is None or slot in self._waiting:
            return
        row = self._state.records.rows[index : index + 1]
        at = again_at(self._state, row["visited"], row["misses"], self._refresh_after_s).item()
        self._look(slot, at)

    def _look(self, slot: int, at: float) -> None:
        """Set the time at which a waiting page is tried next; its earlier entries in the queue become void."""
        self._waiting[slot] = at
        heapq.heappush(self._queue, (at, slot))
