"""Progress reports of a running crawl, and the counts in them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.learn.indexing import Indexing
from evercrawl.crawl.memory_use.memory_room import MemoryRoom
from evercrawl.crawl.pace import Pace
from evercrawl.crawl.ports import Network
from evercrawl.crawl.probes.random_probes import RandomProbes
from evercrawl.crawl.sitemaps.sitemaps import Sitemaps
from evercrawl.crawl.storing import Storing
from evercrawl.crawl.visit.access import Access
from evercrawl.crawl.visit.parsers import Parsers
from evercrawl.crawl.visit.silences import Silences
from evercrawl.fetch.guard import OTHER_PORT
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.stored.remembered import Remembered
from evercrawl.progress import Progress
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.store.archive.warc import iso_date
from evercrawl.store.journal.events import CHANGED
from evercrawl.store.state import State
from evercrawl.types import SILENT, Outcome

if TYPE_CHECKING:
    from evercrawl.crawl.rendering.rendering import Rendering

_LABELS: Final[dict[int, str]] = {outcome: outcome.label for outcome in Outcome}


class ProgressTally:
    """Counts the visits of a run.

    Attributes
    ----------
    visits, outcomes, errors
        The visits remembered in this run, including refusals; by outcome; and by class of failure, where refused
        ports and refused addresses are separate classes.
    changed, bytes_in
        The visits that brought new content to a known page, and the bytes of bodies on the wire.
    """

    def __init__(self) -> None:
        self.visits = self.changed = self.bytes_in = 0
        self.outcomes, self.errors = Counter[str](), Counter[str]()

    def learned(self, visit: Remembered) -> None:
        """Count a visit."""
        event = visit.event
        self.visits += 1
        self.outcomes[_LABELS[event.outcome]] += 1
        if event.error:
            self.errors["refused_port" if event.error.endswith(OTHER_PORT) else event.error.partition(":")[0]] += 1
        self.changed += 1 if event.flags & CHANGED else 0
        self.bytes_in += event.wire_bytes


class Telling:
    """Collects the figures and messages that the parts of a crawl report.

    Parameters
    ----------
    state, tally, frontier, network, pace, budgets, access, silences, sitemaps, storing, parsers, indexing
        The parts; indexing is None without a search index.
    begun_at
        When the run began, in seconds since the epoch.
    room, random_probes, rendering
        Tells whether memory is short; measures how fresh copies are; has pages rendered. Each may be None.

    Attributes
    ----------
    orders_trouble
        Why orders cannot be read; "" if they can.
    """

    def __init__(
        self,
        state: State,
        tally: ProgressTally,
        frontier: Frontier,
        network: Network,
        pace: Pace,
        budgets: Budgets,
        access: Access,
        silences: Silences,
        sitemaps: Sitemaps,
        storing: Storing,
        parsers: Parsers,
        indexing: Indexing | None,
        *,
        begun_at: float,
        room: MemoryRoom | None = None,
        random_probes: RandomProbes | None = None,
        rendering: Rendering | None = None,
    ) -> None:
        self._room, self._random_probes, self._rendering = room, random_probes, rendering
        self._state, self._tally, self._frontier, self._network = state, tally, frontier, network
        self._pace, self._budgets, self._access, self._sitemaps = pace, budgets, access, sitemaps
        self._silences = silences
        self._storing, self._parsers, self._indexing = storing, parsers, indexing
        self.begun_at, self.orders_trouble = begun_at, ""

    def progress(self, now: float) -> Progress:
        """Return the progress of the crawl at this time."""
        tally, pages = self._tally, self._state.outcomes
        due = self._next(now)
        return Progress(
            at=now,
            elapsed_s=now - self.begun_at,
            known=self._state.known.count,
            fetched=sum(pages[outcome] for outcome in (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)),
            visits=tally.visits,
            changed=tally.changed,
            duplicates=tally.outcomes[Outcome.DUPLICATE.label],
            queue=self._frontier.new_count,
            in_flight=self._network.in_flight,
            rate_per_s=self._pace.rate_per_s(now, tally.visits),
            bytes_in=tally.bytes_in,
            outcomes=dict(tally.outcomes),
            errors=self._errors(),
            waiting=self._frontier.waiting(now),
            robots_trouble=self._access.trouble,
            names_trouble=self._access.names_trouble,
            next_at=due[1] if due is not None else None,
            next_url=self._state.urls.get(due[0]) if due is not None else "",
            disk_full=self._storing.full,
            memory_short=bool(self._room and self._room.message),
            fresh=self._random_probes.fresh if self._random_probes is not None else None,
            message=self._message,
            rendering=self._in_browser,
        )

    @property
    def _in_browser(self) -> int:
        return self._rendering.pending if self._rendering is not None else 0

    def _next(self, now: float) -> tuple[int, float] | None:
        """Return the page that falls due next, and when, if the crawl is idle until then."""
        if self._network.in_flight or self._frontier.new_count or self._in_browser:
            return None
        due = self._frontier.first_due()
        return due if due is not None and due[1] > now else None

    @property
    def _message(self) -> str:
        indexing = self._indexing.news() if self._indexing is not None else ""
        short = self._room.message if self._room is not None else ""
        return (
            self._storing.message or self.orders_trouble or self._paused or short or self._parsers.message or indexing
        )

    @property
    def _paused(self) -> str:
        at = self._state.steered.paused_at
        return f"the crawl has been paused since {iso_date(at)}; continue with: evercrawl resume" if at else ""

    def _errors(self) -> dict[str, int]:
        closed = {"robots_unreachable": self._access.failures} if self._access.failures else {}
        sitemaps = {f"sitemap_{why}": count for why, count in self._sitemaps.trouble.items()}
        silent = {SILENT: self._silences.ended} if self._silences.ended else {}
        return {**self._tally.errors, **closed, **silent, **sitemaps, **self._budgets.refused}
