"""Requests for paths that cannot exist, sent in a host's turn once the host is suspected of soft 404s.

A host is suspected when several of its pages look the same as others of it, or several lead to one target. Two paths
in the folder of the suspect page are requested; a proper 404 to the first ends the test. These exchanges are no
visits: like robots.txt, they count against the pace and the host's rest. They obey robots.txt.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evercrawl.crawl.backoff import apply_backoff
from evercrawl.crawl.ports import Network
from evercrawl.crawl.probes.soft404 import AbsentPathAnswer, folder_of, impossible, page_answer, redirect_answer
from evercrawl.crawl.probes.soft404_book import Soft404Book
from evercrawl.crawl.visit.access import GO, WAIT, Access
from evercrawl.model.rules.scope import Scope
from evercrawl.model.stored.reading import REDIRECTS, Reading
from evercrawl.model.stored.remembered import Remembered
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname, normalise, origin
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.schedule.frontier.politeness import LOOK_S
from evercrawl.store.journal.events import KEEP
from evercrawl.store.quarantine import Quarantine
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Exchange, Outcome, Request

ASKED: Final = 2
"""The number of paths requested: two answers show which part of them is constant."""
SUSPECT: Final = 3
"""A host is suspected once this many of its pages look like others of it. One or two are common: a front page under a
second name, a print version."""
LED: Final = 3
"""Their host is suspected once this many pages lead to the same target."""
MOST_TARGETS: Final = 10_000  # targets counted at a time
MOST_SUSPECTS: Final = 512
"""Maximum number of folders under suspicion at a time; others are suspected again by their next page."""
MOST_OF_SITE: Final = MOST_SUSPECTS // 8
"""Maximum number of suspected folders of one site, whatever the number of its hosts."""
SUSPECT_S: Final = 3_600.0
"""Time after which a suspicion is dropped, because the host cannot be asked and others may be waiting."""
_TRIES: Final = 3  # failed answers after which a host is left alone


@dataclass(slots=True, eq=False)
class Probe:
    """A suspected folder: a page in it, since when it is suspected, the answers so far, and when it may be asked."""

    suspect: str
    since: float
    answers: tuple[AbsentPathAnswer, ...] = ()
    next_at: float = 0.0
    failures: int = 0
    busy: bool = False


@dataclass(frozen=True, slots=True)
class ProbeTag:
    """Marks an exchange that asks for a path that cannot exist."""

    probe: Probe
    host: Host


class Probes:
    """The suspected folders.

    Parameters
    ----------
    state
        The known pages.
    book
        The known soft 404 answers; results are added to it.
    frontier, access, network
        The hosts' rests; opens hosts; answers requests.
    host_of
        Host name -> its Host, None if the crawl does not know it.
    random
        Draws bytes.
    quarantine
        Notified when our own code fails on an answer.
    deadline_s, max_bytes
        Limits of one request.
    scope
        The hosts and URLs of which nothing is requested.
    """

    def __init__(
        self,
        state: State,
        book: Soft404Book,
        frontier: Frontier,
        access: Access,
        network: Network,
        host_of: Callable[[str], Host | None],
        random: Callable[[int], bytes],
        *,
        quarantine: Quarantine,
        deadline_s: float,
        max_bytes: int,
        scope: Scope,
    ) -> None:
        self._scope = scope
        self._quarantine = quarantine
        self._state, self._book = state, book
        self._frontier = frontier
        self._access = access
        self._network = network
        self._host_of = host_of
        self._random = random
        self._deadline_s, self._max_bytes = deadline_s, max_bytes
        self._alike: Counter[int] = Counter()  # by host
        self._led: Counter[str] = Counter()  # by target
        self._probes: dict[str, Probe] = {}  # by folder
        self._under_way: Counter[str] = Counter()  # folders under suspicion, by origin
        self._of_site: Counter[str] = Counter()  # the same by site

    # Suspicion

    def learned(self, visit: Remembered) -> None:
        """Check a visit for suspicion: a page that looks the same as another of its host, or leads elsewhere."""
        event = visit.event
        if event.outcome == Outcome.REDIRECT and event.visits == 1:
            self._leads(visit.reading, event.at)
        elif event.flags & KEEP:
            return
        elif event.outcome == Outcome.DUPLICATE and event.alias != NO_SLOT:
            index = self._state.record_of(event.alias)
            if index is not None and self._state.records.rows["host"][index] == event.host:
                self._looks_alike(visit.reading, event.at)
        elif event.outcome == Outcome.OK and visit.beside:
            self._looks_alike(visit.reading, event.at)

    def _looks_alike(self, reading: Reading, now: float) -> None:
        number = reading.host.number
        self._alike[number] += 1
        if self._alike[number] >= SUSPECT:
            self._suspect(reading.exchange.request.url, now)

    def _leads(self, reading: Reading, now: float) -> None:
        if len(self._led) >= MOST_TARGETS:
            self._led.clear()
        self._led[reading.redirect] += 1
        if self._led[reading.redirect] >= LED:
            self._suspect(reading.exchange.request.url, now)

    def _suspect(self, url: str, now: float) -> None:
        folder, home, site = folder_of(url), origin(url), found_site(hostname(url))
        if len(self._probes) >= MOST_SUSPECTS or self._of_site[site] >= MOST_OF_SITE:
            return
        if folder not in self._probes and self._book.wanted(url, now, beside=self._under_way[home]):
            self._probes[folder] = Probe(url, now, next_at=now)
            self._under_way[home] += 1
            self._of_site[site] += 1

    @property
    def suspects(self) -> int:
        """Number of folders under suspicion."""
        return len(self._probes)

    # When to ask

    def next_at(self) -> float:
        """Return the time of the next request; infinity if there is none."""
        return min((probe.next_at for probe in self._probes.values() if not probe.busy), default=float("inf"))

    def idle(self, now: float) -> bool:
        """Whether no suspected host could be asked soon."""
        return not any(self._may_come(probe, now) for probe in self._probes.values())

    def _may_come(self, probe: Probe, now: float) -> bool:
        host = self._host_of(hostname(probe.suspect))
        return host is not None and not host.away(now)

    def start(self, now: float, most: int) -> int:
        """Ask hosts that have rested; return how many requests began, at most `most`."""
        begun = 0
        for folder, probe in list(self._probes.items()):
            if not probe.busy and probe.since + SUSPECT_S <= now:
                self._end(folder)
            elif begun < most and not probe.busy and probe.next_at <= now:
                begun += self._consider(folder, probe, now)
        return begun

    def _consider(self, folder: str, probe: Probe, now: float) -> bool:
        host = self._host_of(hostname(probe.suspect))
        assert host is not None, "a page of it was visited"
        if self._scope.excludes(probe.suspect) or not self._scope.holds(host.name):
            self._settle(folder, (), now)
            return False
        wait_s = self._frontier.wait_s(host, now)
        url = impossible(probe.suspect, self._random) if wait_s <= 0 else probe.suspect
        leave = self._access.judge(host, url, now) if wait_s <= 0 else WAIT
        if leave == GO:
            probe.busy = True
            size = self._max_bytes
            self._network.start(Request(url, ProbeTag(probe, host), (), size, size, self._deadline_s), host.addresses)
            self._frontier.began(host, now)
            return True
        if leave == WAIT:
            probe.next_at = now + max(wait_s, LOOK_S)
        else:  # robots.txt disallows it: this folder cannot be tested
            self._settle(folder, (), now)
        return False

    # Answers

    def take(self, exchange: Exchange, now: float) -> None:
        """Process an answer."""
        tag = exchange.request.tag
        assert isinstance(tag, ProbeTag)
        probe, folder = tag.probe, folder_of(tag.probe.suspect)
        probe.busy, probe.next_at = False, now
        answer = None
        try:
            apply_backoff(tag.host, exchange, now)
            answer = _answer(exchange)
        except Exception as error:
            self._quarantine.judging(exchange.request.url, error, now)
        self._frontier.ended(tag.host, now)
        if exchange.error or not exchange.status or exchange.status >= 500 or exchange.status == 429:
            probe.failures += 1
            if probe.failures >= _TRIES:
                self._settle(folder, (), now)
            return
        if answer is None:
            self._settle(folder, (), now)
            return
        probe.answers += (answer,)
        if len(probe.answers) >= ASKED:
            self._settle(folder, probe.answers, now)

    def _settle(self, folder: str, answers: tuple[AbsentPathAnswer, ...], now: float) -> None:
        self._end(folder)
        self._book.keep(folder, now, answers)
        if answers:  # answers count in their folder and below, so those of the root count everywhere
            self._suspect(f"{origin(folder)}/", now)

    def _end(self, folder: str) -> None:
        """End the suspicion of a folder."""
        suspect = self._probes.pop(folder).suspect
        for counted, of in ((self._under_way, origin(suspect)), (self._of_site, found_site(hostname(suspect)))):
            counted[of] -= 1
            if not counted[of]:
                del counted[of]


def _answer(exchange: Exchange) -> AbsentPathAnswer | None:
    """Return the answer to a path that cannot exist; None if it says that there is no page."""
    url = exchange.request.url
    if exchange.status in REDIRECTS:
        location = exchange.headers.get("location", "")
        target = normalise(location, url) if location else None
        return redirect_answer(url, target) if target else None
    if exchange.status != 200:
        return None
    return page_answer(url, exchange.body, exchange.headers.get("content-type", ""))
