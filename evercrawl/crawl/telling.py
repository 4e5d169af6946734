"""What a running crawl tells of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.progress import Progress
from evercrawl.types import Outcome

if TYPE_CHECKING:
    from evercrawl.crawl.learn.indexing import Indexing
    from evercrawl.crawl.learn.learning import Learner
    from evercrawl.crawl.pace import Pace
    from evercrawl.crawl.ports import Network
    from evercrawl.crawl.sitemaps.sitemaps import Sitemaps
    from evercrawl.crawl.storing import Storing
    from evercrawl.crawl.visit.access import Access
    from evercrawl.crawl.visit.parsers import Parsers
    from evercrawl.model.rules.budgets import Budgets
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.state import State


class Telling:
    """Gathers what the parts of a crawl have to say.

    Parameters
    ----------
    state, learner, frontier, network, pace, budgets, access, sitemaps, storing, parsers, indexing
        The parts; without a search index there is no indexing.
    begun_at
        When the run began, in seconds since the epoch.
    """

    def __init__(
        self,
        state: State,
        learner: Learner,
        frontier: Frontier,
        network: Network,
        pace: Pace,
        budgets: Budgets,
        access: Access,
        sitemaps: Sitemaps,
        storing: Storing,
        parsers: Parsers,
        indexing: Indexing | None,
        *,
        begun_at: float,
    ) -> None:
        self._state, self._learner, self._frontier, self._network = state, learner, frontier, network
        self._pace, self._budgets, self._access, self._sitemaps = pace, budgets, access, sitemaps
        self._storing, self._parsers, self._indexing = storing, parsers, indexing
        self.begun_at = begun_at

    def progress(self, now: float) -> Progress:
        """Return the crawl at this instant."""
        learner, pages = self._learner, self._state.outcomes
        return Progress(
            at=now,
            elapsed_s=now - self.begun_at,
            known=self._state.known.count,
            fetched=sum(pages[outcome] for outcome in (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)),
            visits=learner.visits,
            changed=learner.changed,
            duplicates=learner.outcomes[Outcome.DUPLICATE.label],
            queue=self._frontier.new_count,
            in_flight=self._network.in_flight,
            rate_per_s=self._pace.rate_per_s(now, learner.visits),
            bytes_in=learner.bytes_in,
            outcomes=dict(learner.outcomes),
            errors=self._errors(),
            waiting=self._frontier.waiting(now),
            robots_trouble=self._access.trouble,
            disk_full=self._storing.full,
            message=self._message,
        )

    @property
    def _message(self) -> str:
        indexing = self._indexing.news() if self._indexing is not None else ""
        return self._storing.message or self._parsers.message or indexing

    def _errors(self) -> dict[str, int]:
        closed = {"robots_unreachable": self._access.failures} if self._access.failures else {}
        sitemaps = {f"sitemap_{why}": count for why, count in self._sitemaps.trouble.items()}
        return {**self._learner.errors, **closed, **sitemaps, **self._budgets.refused}
