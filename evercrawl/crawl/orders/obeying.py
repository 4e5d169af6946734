"""Reads the file of orders while the crawl runs, and has each order obeyed once.

The result of an order is one event, which contains all that the order changes, so a kill leaves either both or
neither. An order that changes settings writes crawl.toml first. If a kill comes in between, crawl.toml is written a
second time, which changes nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evercrawl.config.secrets import concealed
from evercrawl.crawl.orders.deed import Deed, refused
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.store.journal.events import Obeyed
from evercrawl.store.orders import FORGET, OrderLine, along_in_words, came_along, ends_with, lines_from
from evercrawl.store.steering import BEGUN

if TYPE_CHECKING:
    from evercrawl.config.written import Change
    from evercrawl.crawl.orders.checks import Checks
    from evercrawl.crawl.orders.deeds import Deeds
    from evercrawl.crawl.ports import Offload
    from evercrawl.model.boosts import Boosts
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.orders import CrawlOrder, OrderSource
    from evercrawl.store.partition import Partition
    from evercrawl.store.steering import OrderResult

LOOK_S: Final = 1.0
AT_ONCE: Final = 16  # orders obeyed in one turn
ASKED_MOST: Final = 1000
"""The highest number of orders whose results are awaited at a time; beyond it, each wait lasts a little longer."""

_CAME_ALONG: Final = "it came with the directory from elsewhere, and another was given here since; give it again"


@dataclass(slots=True)
class Amending:
    """An order whose change is being written to crawl.toml."""

    line: OrderLine
    task: asyncio.Task[str]


class Obeying:
    """Reads orders and has them obeyed.

    Parameters
    ----------
    partition, source
        Where events are journalled, and where orders are read; None if nobody can give orders.
    deeds, checks, boosts, frontier
        Carries out orders; the pages to be checked; the active boosts; the queues, notified when boosts change.
    journal
        Journals an event, and queues the pages that it makes known.
    amend, offload
        Changes crawl.toml (None if there is no such file), and where that is done.
    wake
        Called when crawl.toml is written, so that `turn` is called again.
    forgets
        Whether orders to forget are carried out when the run has ended; if not, they are refused.

    Attributes
    ----------
    trouble
        Why orders cannot be read; "" if they can.
    to_forget
        Whether the next order is one to forget. The run has to end for it; it is obeyed afterwards.
    """

    def __init__(
        self,
        partition: Partition,
        source: OrderSource | None,
        deeds: Deeds,
        checks: Checks,
        boosts: Boosts,
        frontier: Frontier,
        journal: Callable[[Obeyed], None],
        amend: Callable[[Change], None] | None,
        offload: Offload,
        wake: Callable[[], None],
        *,
        forgets: bool,
    ) -> None:
        self._forgets, self.to_forget = forgets, False
        self._partition, self._steered = partition, partition.state.steered
        self._source, self._deeds, self._checks, self._boosts = source, deeds, checks, boosts
        self._frontier, self._journal, self._amend, self._offload = frontier, journal, amend, offload
        self._wake = wake
        self._lines = deque[OrderLine]()
        self._asked = dict[str, int]()  # awaited orders, and the journal's sequence when each was first asked for
        self._amending: Amending | None = None
        self._looked_at = -math.inf
        self._read_to = self._steered.upto
        self._since = 0  # where the orders that were given here begin
        self._along = -1, -1, 0  # size of the file, `_since`, and the number of orders that came with the directory
        self._sure = False  # whether the file is known to be the one read before
        self._settled, self._now = False, 0.0
        self.trouble = ""

    @property
    def paused(self) -> bool:
        """Whether requests are paused."""
        return self._steered.paused_at > 0.0

    def ping(self) -> None:
        """Read the file at the next turn, without waiting until a second has passed."""
        self._looked_at = -math.inf

    def answer(self, name: str) -> OrderResult | None:
        """Return the result of an order once it is on the disk; None before.

        Only events up to the result need to be on the disk: a busy crawl always has later ones that are not.
        """
        found = self._steered.results.get(name)
        if found is None or found.state == BEGUN:
            return None
        journal = self._partition.journal
        if len(self._asked) >= ASKED_MOST:  # nobody came back for these
            self._asked.clear()
        if journal.written < self._asked.setdefault(name, journal.sequence):
            return None
        del self._asked[name]
        return found

    def outlook(self, name: str) -> str:
        """Describe what a check in progress waits for; "" for any other order."""
        check = self._steered.checks.get(name)
        return self._checks.outlook(check.slot, self._now) if check is not None else ""

    def next_at(self) -> float:
        """Return the time of the next thing to do."""
        if self._amending is not None:
            return math.inf  # the task that writes wakes the crawl
        if self._lines:
            return -math.inf
        if self.to_forget:
            return math.inf
        reads_at = self._looked_at + LOOK_S if self._source is not None else math.inf
        return min(reads_at, self._boosts.ends_at)

    def turn(self, now: float) -> bool:
        """Read and obey new orders; return whether anything was journalled."""
        self._now = now
        if self._boosts.take(self._steered.boosts, now):
            self._frontier.planned()
        news = False
        if not self._settled:
            self._settled, news = True, self._checks.settle(now)
        if self._source is None:
            return news
        if self._amending is not None and self._amending.task.done():
            self._amended(now)
            news = True
        if self.to_forget:
            return news
        if not self._lines and self._amending is None and now - self._looked_at >= LOOK_S:
            self._looked_at = now
            self._read(self._source)
        return self._obey(now) or news

    async def close(self) -> None:
        """Wait until crawl.toml is written, if it is being written; the order is obeyed at the next start."""
        if self._amending is not None:
            await asyncio.wait([self._amending.task])

    def _read(self, source: OrderSource) -> None:
        self.trouble = source.distrusted()
        size = 0 if self.trouble else source.size()
        if self.trouble or (size == self._read_to and self._sure):
            return
        if size < self._read_to or not self._sure:
            self._sure = True
            if not ends_with(source, self._steered.upto, self._steered.last):
                self._read_to = 0
            elif size < self._read_to:
                self._read_to = self._steered.upto
        self._since = source.given_since()
        if size <= self._since and self._read_to < size and (count := self._came_along(source, size)):
            self.trouble = along_in_words(count)
            return
        for line in lines_from(source, self._read_to):
            self._lines.append(line)
            self._read_to = line.upto
        if self._lines and self._read_to < size:
            self.ping()

    def _came_along(self, source: OrderSource, size: int) -> int:
        """Return the number of waiting orders that came with the directory; they wait until one is given here."""
        if self._along[:2] != (size, self._since):
            self._along = size, self._since, came_along(source, self._read_to, self._steered.results)
        return self._along[2]

    def _obey(self, now: float) -> bool:
        obeyed = 0
        while self._lines and self._amending is None and obeyed < AT_ONCE:
            line = self._lines.popleft()
            order = line.order
            if order is None:
                if line.trouble:
                    self._note(line, refused(line.trouble), now)
                    obeyed += 1
            elif order.id in self._steered.results:
                continue  # it was obeyed before: the file was restored, or the order copied
            elif line.upto <= self._since:
                self._note(line, refused(_CAME_ALONG), now)
                obeyed += 1
            elif order.do == FORGET and self._forgets:
                self._lines.clear()  # later orders are read again when the crawl resumes
                self.to_forget = True
                break
            elif (first := self._deeds.change_of(order)) is not None and first.change is not None and self._amend:
                self._begin(line, first.change)
            else:
                deed = first if first is not None and first.change is None else self._deeds.do(order, now)
                self._note(line, deed, now)
                obeyed += 1
        return obeyed > 0

    def _begin(self, line: OrderLine, change: Change) -> None:
        task = asyncio.ensure_future(self._write(change))
        task.add_done_callback(lambda _: self._wake())
        self._amending = Amending(line, task)

    async def _write(self, change: Change) -> str:
        """Have crawl.toml changed; return why it was not, or "" if it was."""
        assert self._amend is not None, "there is a file of settings"
        try:
            await self._offload(self._amend, change)
        except NoRoomError:
            raise
        except (ConfigError, StoreError, OSError) as error:
            return str(error)
        return ""

    def _amended(self, now: float) -> None:
        amending, self._amending = self._amending, None
        assert amending is not None
        assert amending.line.order is not None
        try:
            trouble = amending.task.result()
        except NoRoomError as error:
            trouble = str(error)
        deed = refused(trouble) if trouble else self._deeds.do(amending.line.order, now)
        self._note(amending.line, deed, now)

    def _note(self, line: OrderLine, deed: Deed, now: float) -> None:
        order: CrawlOrder | None = line.order
        name = order.id if order is not None else f"line-{line.upto}-{self._partition.journal.sequence}"
        self._journal(
            Obeyed(
                name,
                now,
                line.upto,
                order.do if order is not None else "",
                deed.state,
                concealed(deed.result) if order is not None and order.name else deed.result,
                by=order.by if order is not None else "",
                found=deed.found,
                slot=deed.slot,
                paused=deed.paused,
                boosts=deed.boosts,
                rules=deed.rules,
                root=deed.root,
            )
        )
        if deed.state == BEGUN:
            self._checks.begun()
        if deed.boosts is not None and self._boosts.take(self._steered.boosts, now):
            self._frontier.planned()
