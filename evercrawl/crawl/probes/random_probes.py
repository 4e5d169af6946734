"""Random probes: copies drawn by lot and looked at in their hosts' turn, so that freshness is measured, not believed.

What visits find is no sample: the policy goes where it expects something. So a small share of the visits goes to pages
that chance picks among all copies that are held. Every other time each is as likely, else as likely as it is important.

A page is judged *as of the instant at which it was drawn*. Its host may have to rest until it can be asked, and the
page itself until `refresh_after_s` has passed since its last visit; whichever visit of it comes next is the one that
tells, be it a probe or not. A copy that is still good then was good when it was drawn; how changes are judged is told
in `evercrawl.change.probed`. Were only pages looked at that can be asked at once, those of busy hosts and those that
were visited just now would be left out, and these are not as fresh as others.
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

MOST: Final = 1000  # pages that wait to be looked at; as long as there are so many no other is drawn
RESUMED_BYTES: Final = 4 << 20  # of the journal's end, in which a new run looks for what was drawn and not looked at
MOST_LOOKS, FEW_LOOKS = 200, 20
BUSY_S: Final = 1.0  # how soon to see again what became of a page that is being visited


class RandomProbes:
    """Draws copies as visits are made, and says which of them are to be looked at now.

    Parameters
    ----------
    partition, frontier, policy
        Where what is drawn is noted, whose turn it is, and who says how fresh copies are likely to be.
    columns, plain
        Slots -> `Pages`, for the policy; and with the importance by which copies are drawn.
    surroundings
        What the policy is told beside columns.
    share
        Part of the visits that goes to what was drawn, at most: what is visited anyway needs no other. More than half
        counts as half.
    refresh_after_s
        Least time between two visits of a page.
    tell
        Tells the policy of all visits that are remembered.
    barred
        Knows the pages that are not to be requested, which are not drawn.
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
        self._chance = share / (1 - share) if share < 1 else 1.0  # for each visit that is none
        self._waiting = dict[int, float]()  # slot -> when it is looked at next, which names its entry in the queue
        self._queue = list[tuple[float, int]]()  # instants and slots; entries that no page waits for are passed over
        self._unchanged = deque[bool](maxlen=MOST_LOOKS)  # the last of them, in this run
        self._by_importance = False
        self._random = Random(f"{partition.birth.id} {partition.journal.sequence}")  # another one in each run
        self._drawing = Drawing(self._state, plain, self._random)
        for slot in undecided(partition, RESUMED_BYTES) if share else ():
            self._wait(slot)

    def stop(self) -> None:
        """Draw nothing any more, and look at nothing."""
        self._chance = 0.0
        self._waiting.clear()

    def began(self, slot: int, now: float) -> bool:
        """Hear of a visit that begins; return whether it made a copy be drawn, which is an event."""
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
        """Hear that a page is not requested any more."""
        self._waiting.pop(slot, None)

    def learned(self, visit: Remembered) -> None:
        """Hear of a visit that is remembered: if its page was drawn, it has been looked at."""
        if self._waiting.pop(visit.event.slot, None) is not None and visit.event.outcome != Outcome.ERROR:
            self._unchanged.append(not visit.event.flags & CHANGED and visit.event.outcome != Outcome.GONE)

    @property
    def fresh(self) -> float | None:
        """Return which share of the copies last drawn, 200 at most, was found unchanged; None of fewer than 20."""
        return sum(self._unchanged) / len(self._unchanged) if len(self._unchanged) >= FEW_LOOKS else None

    def said(self, slot: int, now: float) -> float:
        """Return how likely a copy is to be fresh."""
        self._tell()
        return p_fresh(self._policy, self._columns(np.array([slot], np.uint32)), self._surroundings(now)).item()

    def next_at(self) -> float:
        """Return when there is next something to look at; infinity where nothing was drawn."""
        return self._queue[0][0] if self._queue else math.inf

    def start(self, now: float) -> tuple[Host, int] | None:
        """Return a page that was drawn and may be visited now, which does not wait for its refresh any more."""
        while self._queue and self._queue[0][0] <= now:
            at, slot = heapq.heappop(self._queue)
            if self._waiting.get(slot) == at:  # else it was visited meanwhile, and may have been drawn again
                host = self._frontier.hosts[int(self._state.known.row(slot)["host"])]
                wait_s = self._frontier.wait_s(host, now)
                taken = wait_s <= 0 and self._frontier.take_page(host, slot)
                self._look(slot, now + max(wait_s, LOOK_S if taken or wait_s > 0 else BUSY_S))
                if taken:
                    return host, slot
        return None

    def _wait(self, slot: int) -> None:
        """Let a page be looked at as soon as it may be visited."""
        index = self._state.record_of(slot)
        if index is None or slot in self._waiting:
            return
        row = self._state.records.rows[index : index + 1]
        at = again_at(self._state, row["visited"], row["misses"], self._refresh_after_s).item()
        self._look(slot, at)

    def _look(self, slot: int, at: float) -> None:
        """Let a page that waits come up next at an instant, and by no entry that it left in the queue before."""
        self._waiting[slot] = at
        heapq.heappush(self._queue, (at, slot))
