"""Queueing after a visit: of the pages that it made known, of retired pages that it newly links to, and of its page."""

from evercrawl.crawl.backoff import in_trouble
from evercrawl.crawl.learn.doubts import Doubts
from evercrawl.crawl.learn.retirees import Retirees
from evercrawl.model.rules.waits import wait_s
from evercrawl.model.stored.remembered import Remembered
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.store.journal.events import HAS_LINKS, UNCHANGED, Discovery
from evercrawl.store.post.book import PostBook
from evercrawl.store.state import RETRIES
from evercrawl.types import Outcome


class Queueing:
    """Queues pages as they are found and visited.

    Parameters
    ----------
    frontier, retirees
        The queues in which pages wait, and the retired pages.
    refresh_after_s
        Minimum time between two visits of a page; a page that is gone waits for multiples of it.
    post
        Knows the owner of each host; a page waits in the partition that owns its host. None if there is one partition.
    doubts
        Holds back pages of doubted hosts.
    """

    def __init__(
        self,
        frontier: Frontier,
        retirees: Retirees,
        refresh_after_s: float,
        post: PostBook | None = None,
        *,
        doubts: Doubts,
    ) -> None:
        self._post, self._doubts = post, doubts
        self._frontier, self._retirees, self._refresh_after_s = frontier, retirees, refresh_after_s

    def found(self, found: Discovery) -> None:
        """Queue new pages on their hosts."""
        held = self._doubts.hold(found)
        if self._post is None and not held:
            self._frontier.add_found(found.hosts, found.first_slot)
            return
        for slot, host in enumerate(found.hosts, found.first_slot):
            if slot not in held and (self._post is None or self._post.owns(host)):
                self._frontier.add_new(host, (slot,))

    def learned(self, visit: Remembered) -> None:
        """Queue the pages that a visit made known, the retired pages that it newly links to, and its own page."""
        reading, event, leads = visit.reading, visit.event, visit.leads
        if leads.found is not None:
            self.found(leads.found)
        if event.flags & HAS_LINKS and not event.flags & UNCHANGED:
            held = reading.before.held
            self._retirees.linked(leads.slots, held.targets if held is not None else b"")
        slot, number = event.slot, event.host
        if event.outcome == Outcome.ERROR and in_trouble(reading.exchange) and event.visits <= RETRIES:
            self._frontier.add_new(number, (slot,))
        elif event.outcome != Outcome.GONE or not self._retirees.visited(slot):
            until = event.at + float(wait_s(event.misses, self._refresh_after_s)) if event.misses else 0.0
            self._frontier.add_seen(number, slot, not_before=until, visited_at=event.at)
