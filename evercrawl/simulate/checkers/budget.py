"""Budget: no more pages, requests or bytes than a life was allowed."""

from collections.abc import Callable
from typing import ClassVar

from evercrawl.crawl.pace import LATE_S
from evercrawl.crawl.visit.visiting import VisitTag
from evercrawl.model.rules.robots import RobotsTag
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.worlds.world import World
from evercrawl.store.journal.events import Event, Visit
from evercrawl.types import Exchange, Request


class Budget(Checker):
    """Requests start no faster than the rate, not while received bytes exceed what is due, at most `pages` times."""

    law: ClassVar[str] = "budget"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._pages: int | None = None
        self._visits = self._begun = 0
        self._tokens, self._filled_at = 1.0, 0.0
        self._owed_until = float("-inf")

    def began(self, life: Running) -> None:
        """Start over; unused budget is not carried into the next life."""
        self._life, self._pages = life, self.world.lives[life.number].pages or None
        self._visits = self._begun = 0
        self._tokens, self._filled_at = 1.0, life.began_at
        self._owed_until = float("-inf")

    def asked(self, request: Request, address: str, at: float) -> None:
        """Count a request."""
        assert self._life is not None
        if isinstance(request.tag, RobotsTag):
            return
        rate, config = self._life.config.rate_per_s, self._life.config
        self._begun += isinstance(request.tag, VisitTag)
        if self._pages is not None:
            self.expect(self._begun <= self._pages, f"{self._begun} pages were asked for, and {self._pages} allowed")
        if rate:
            self._tokens = min(self._tokens + (at - self._filled_at) * rate, 1.0 + LATE_S * rate) - 1.0
            self._filled_at = at
            self.expect(
                self._tokens > -1e-3, f"{request.url} starts {-self._tokens / rate:.3f} s too soon for {rate} a second"
            )
        if config.rate_bytes_per_s:
            soon_s = self._owed_until - at
            self.expect(
                soon_s <= 1e-3, f"{request.url} starts {soon_s:.3f} s too soon for {config.rate_bytes_per_s} bytes/s"
            )

    def answered(self, exchange: Exchange, at: float) -> None:
        """Count bytes; if nobody was at an address, the page may be requested at the next one."""
        assert self._life is not None
        rate = self._life.config.rate_bytes_per_s
        self._begun -= isinstance(exchange.request.tag, VisitTag) and not exchange.sent
        if rate and not isinstance(exchange.request.tag, RobotsTag):
            size = len(exchange.wire) + len(exchange.head)
            self._owed_until = max(self._owed_until, at) + size / rate

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Count a visit."""
        if isinstance(event, Visit):
            self._visits += 1
            if self._pages is not None:
                self.expect(self._visits <= self._pages, f"{self._visits} visits, and {self._pages} were allowed")
