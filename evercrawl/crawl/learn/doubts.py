"""Doubted hosts: those of whose URLs that only other sites name most led to nothing lately.

Anyone can link to any number of URLs of another owner's host, and thereby take its turns from its own pages. While a
host is doubted, its unread URLs that only other sites name wait behind those that its own pages or sitemaps name
(`schedule.frontier.held_pages`); its front page waits behind none. Doubt ends as more of them turn out to be pages, or
as those that led to nothing are forgotten (`model.rules.named_by_others`).
"""

from collections.abc import Iterable, Set
from typing import Final

from evercrawl.model.rules.named_by_others import NamedByOthers
from evercrawl.model.stored.remembered import Remembered
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.store.journal.events import Discovery
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Slots

_NONE: Final[Set[int]] = frozenset()


class Doubts:
    """Holds back pages of doubted hosts, and releases them when doubt ends or their own site names them.

    Parameters
    ----------
    state, frontier
        The state, and the queues in which pages wait.
    others
        Tells which hosts are doubted, and which URLs only other sites name.
    """

    def __init__(self, state: State, frontier: Frontier, others: NamedByOthers) -> None:
        self._state, self._frontier, self._others = state, frontier, others
        self._hosts = set[int]()

    def hold(self, found: Discovery) -> Set[int]:
        """Hold back those of newly known URLs that only other sites name on doubted hosts; return their slots."""
        if self._hosts.isdisjoint(found.hosts):
            return _NONE
        post, held = self._state.post, set[int]()
        for slot, (url, host) in enumerate(zip(found.urls, found.hosts, strict=True), found.first_slot):
            if host not in self._hosts or not self._others.named(slot) or url in self._fronts(host):
                continue
            held.add(slot)
            if post is None or post.owns(host):
                self._frontier.hold_back(host, [slot], self._naming_site)
        return held

    def listed(self, slots: Slots) -> None:
        """Let known pages that a sitemap lists wait behind others no longer."""
        self._claim(self._others.claimed(slots))

    def learned(self, visit: Remembered) -> None:
        """Release the held pages that the page's own site links to, and begin or end to doubt its host."""
        event = visit.event
        self._claim(self._others.claimed(visit.leads.slots, self._state.site_of.item(event.host)))
        if event.visits == 1 or event.host in self._hosts:
            self._judge(event.host)

    def _claim(self, slots: Iterable[int]) -> None:
        if self._hosts:
            for slot in slots:
                self._frontier.claim(int(self._state.known.row(slot)["host"]), slot)

    def _judge(self, host: int) -> None:
        doubted = self._others.doubted(host)
        if doubted == (host in self._hosts):
            return
        if doubted:
            self._hosts.add(host)
            fronts = self._state.table.find(self._state.hasher.keys(self._fronts(host))).tolist()
            waiting = self._frontier.take_among(host, self._others.unread, self._state.known.count, but=fronts)
            self._frontier.hold_back(host, waiting, self._naming_site)
        else:
            self._hosts.remove(host)
            self._frontier.release_held(host)

    def _fronts(self, host: int) -> tuple[str, str]:
        name = self._state.hosts[host]
        return f"http://{name}/", f"https://{name}/"

    def _naming_site(self, slot: int) -> int:
        """Return the site whose page made a URL known; 0 if another partition did."""
        known = self._state.known
        source = int(known.row(slot)["source"])
        return int(self._state.site_of[int(known.row(source)["host"])]) if source != NO_SLOT else 0
