"""Starvation: once the weather is fine, every existing page is eventually visited again."""

import math
from collections.abc import Callable
from typing import ClassVar, Final

from evercrawl.crawl.visit.visiting import VisitTag
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.rules.waits import wait_s
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.worlds.drawn_web import DrawnWeb
from evercrawl.simulate.worlds.world import World
from evercrawl.store.journal.events import Event, Visit
from evercrawl.store.records.retired import retired
from evercrawl.store.table.known import TICKS_PER_S
from evercrawl.types import Outcome, Request

HOUR_S: Final = 3600.0


class NoneStarves(Checker):
    """Each known, existing page was requested since the last life began.

    That life allows, between two visits of a page, twice the time that visiting all pages takes, so no preference of
    a policy can postpone a page further: a policy may choose an order, but may not leave the network idle. A page
    that was gone or failed waits longer, and a site whose robots.txt was unreachable at most an hour. Pages not yet
    due by the end do not count, nor do pages gone so often that they were retired.
    """

    law: ClassVar[str] = "every page visited again"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._web = DrawnWeb(world.web)
        self._asked: set[int] = set()
        self._due: dict[int, float] = {}  # slot -> deadline for its request
        self.pages = 0

    def began(self, life: Running) -> None:
        """Record, in the last life, when each page falls due."""
        if not life.last or policy_of(life.config.policy, life.config.policy_options).min_value > -math.inf:
            return
        self._life, state = life, life.partition.state
        turn_s = life.config.refresh_after_s
        for slot in range(state.known.count):
            index, at = state.record_of(slot), life.began_at
            if index is not None:
                row = state.records.rows[index]
                misses = int(row["misses"])
                if retired(state.records.rows[index : index + 1])[0] or row["outcome"] == Outcome.REFUSED:
                    continue
                visited_at = state.instant(int(row["visited"])) - life.now() + life.began_at
                at = max(at, visited_at + float(wait_s(misses, turn_s)) + 1 / TICKS_PER_S)
            self._due[slot] = at + turn_s

    def asked(self, request: Request, address: str, at: float) -> None:
        """Remove a requested page from the list."""
        if self._life is not None and isinstance(request.tag, VisitTag):
            self._asked.add(request.tag.slot)

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Remove pages disallowed by old robots.txt rules, which may be valid for a day."""
        if self._life is not None and isinstance(event, Visit):
            self._asked.add(event.slot)

    def ended(self, at: float, *, clean: bool) -> None:
        """Check that no page is left."""
        if self._life is None or not clean:
            return
        state = self._life.partition.state
        for slot, due_at in self._due.items():
            url = state.urls.get(slot)
            if due_at <= at and self._web.alive(url, at) and not self._web.forbidden(url):
                self.pages += 1
                self.expect(
                    slot in self._asked,
                    f"{url} is there, was due {at - due_at:.0f} s ago at the latest, and not visited",
                )
        self._life = None
