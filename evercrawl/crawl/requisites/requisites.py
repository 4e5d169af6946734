"""Requisites of pages: noted at each visit, fetched in turn with the pages, archived and journalled.

The requisites of a page are in the journal after its visit (`RequisitesNeeded`), and each fetch is an event of its
own (`RequisiteFetched`). What is owed follows from these events, so it survives a kill.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.crawl.backoff import retry_after_s
from evercrawl.crawl.rendering.errands import RefusedError
from evercrawl.crawl.requisites.budget import RequisiteBudget
from evercrawl.crawl.requisites.window import OwedWindow
from evercrawl.crawl.visit.lanes import QUICK_LANE, SLOW_S, Lanes
from evercrawl.errors import NoRoomError, StoreError
from evercrawl.fetch.asking import validator
from evercrawl.model.stored.answers import answer_of, exchange_of, is_html
from evercrawl.model.stored.reading import REDIRECTS
from evercrawl.parse.requisites import of_body, of_page
from evercrawl.parse.sites import same_site, site
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import ArchiveEntry, EntryKind, Original, payload_digest
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import Visit
from evercrawl.store.journal.requisite_events import RequisiteFetched, RequisitesNeeded
from evercrawl.store.requisites.book import KnownRequisite, RequisiteBook, encoded
from evercrawl.types import NO_SLOT, Exchange, Outcome

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.config import Config
    from evercrawl.crawl.ports import Offload
    from evercrawl.crawl.rendering.errands import Errands
    from evercrawl.crawl.storing import Storing
    from evercrawl.model.stored.remembered import Remembered
    from evercrawl.store.partition import Partition

AT_ONCE: Final = 16
"""The number of requisites under way; as many more may be slow."""
OF_SITE: Final = AT_ONCE // 4
"""The number of these that one site may have while others wait."""
MOST_DEPTH: Final = 5
"""The highest number of styles, scripts and redirects between a page and a requisite."""
MOST_OF_A_PAGE: Final = 2_000
"""The highest number of requisites first found on one page; further ones are ignored."""
FOREIGN_ONE_IN: Final = 20
"""The share of a host's turns for requisites that other sites' pages need, while the host's own pages wait: 1 in 20."""
TRIES: Final = 3
"""The number of attempts for a requisite that fails, until another visit of a page that needs it."""
RETRY_S: Final = 60.0
"""The wait after the first failure; each further failure multiplies it by four."""
FRESH_S: Final = (60.0, 86_400.0, 30 * 86_400.0)
"""The time for which an answer is fresh: the minimum, the default without headers, and the maximum."""
GIVEN_UP_S: Final = 86_400.0
"""The time after which a failed requisite is requested again, if a page still needs it."""
_MOST_RESTS: Final = 10_000
_LOOK_S: Final = 0.05
_LOOK_S_PER_HOST: Final = 2e-5  # of the window: some times as long as a look at it takes
_LOAD_S: Final = 1.0  # between two pieces of the table that are read although the slots are taken
_COMMIT_S: Final = 1.0
_HELD: Final = (Outcome.OK, Outcome.DUPLICATE, Outcome.TRUNCATED)
_MAX_AGE: Final = re.compile(r"max-age\s*=\s*\"?([0-9]{1,12})")
_LASTING: Final = (
    "robots: ", "exclude", "refused_address", "it was forgotten", "internal", "too_large", "site.", "foreign_page",
)  # fmt: skip
_MOST_ASKERS: Final = 20
_NOBODY: Final = "null://null/"  # of no site


class _Came(NamedTuple):
    """The result of a fetch: an answer with the requisites that it needs in turn, or why there was none."""

    of: KnownRequisite
    exchange: Exchange | None
    why: str = ""
    needs: Sequence[str] = ()


class Requisites:
    """Fetches what pages need to be shown.

    Parameters
    ----------
    config, partition
        The settings, and the partition whose journal and archive are written.
    book
        The known requisites, up to date with the journal.
    errands
        Fetches requisites under the same rules as pages.
    barred
        URL -> why it is never requested; "" if it may be.
    burdens
        (host, slot of the page that needed the requisite first) -> whether the host has pages of the crawl, and that
        page is of another site.
    judging
        Records our failure on a URL's answer; returns why the fetch failed (`Quarantine.judging`).
    clock, offload, storing
        The clock; runs slow work; notified of new data to store and of a full disk.
    wake
        Called when an answer has arrived.

    Attributes
    ----------
    fetched
        The number of answers archived in this run.
    """

    def __init__(
        self,
        config: Config,
        partition: Partition,
        book: RequisiteBook,
        errands: Errands,
        barred: Callable[[str], str],
        burdens: Callable[[str, int], bool],
        judging: Callable[[str, Exception, float], str],
        clock: Clock,
        offload: Offload,
        storing: Storing,
        wake: Callable[[], None],
    ) -> None:
        self._partition, self._book, self._errands, self._barred = partition, book, errands, barred
        self._burdens, self._judging = burdens, judging
        self._fault: Exception | None = None
        self._clock, self._offload, self._storing, self._wake = clock, offload, storing, wake
        self._from_any, self._delay_s = config.requisites_from == "any", config.delay_s
        self._share = config.render != "never"  # which a browser may request too
        self._budget = RequisiteBudget(config.requisites_share)
        self._count = book.count
        self._window, self._lanes = OwedWindow(), Lanes[int](AT_ONCE, AT_ONCE, OF_SITE)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._hosts: set[str] = set()
        self._urls: dict[int, str] = {}  # of what is under way
        self._rests: dict[str, float] = {}  # host -> when its next requisite may be requested while pages wait
        self._long_rests: dict[str, float] = {}  # host -> when its rest is short enough for it to take a slot
        self._done: list[_Came] = []
        self._committed_at = self._looked_at = self._loaded_at = 0.0
        self.fetched = 0

    # Needs of pages

    def learned(self, visit: Remembered) -> None:
        """Note the requisites of a visited page."""
        event, reading = visit.event, visit.reading
        self._budget.visited(event.wire_bytes)
        if event.outcome not in _HELD or event.archive is None:
            return
        rendered = reading.exchange.rendered
        if reading.content is not None and not reading.kept and not reading.content.error:
            asked = [each.request.url for each in rendered.requisites] if rendered is not None else []
            self._need([*reading.content.requisites, *asked], reading.exchange.request.url, event.at, slot=event.slot)
        elif self._book.examined(event.slot):
            self._still_needed(event.at, slot=event.slot)
        else:
            self._need(self._read(event), reading.exchange.request.url, event.at, slot=event.slot)
        if rendered is not None:
            self._shared(rendered.requisites, rendered.places)

    def _read(self, event: Visit) -> list[str]:
        """Return the requisites of a page that was archived before requisites were collected."""
        try:
            answer = answer_of(self._partition, event)
            body = exchange_of(event, answer).body
        except (StoreError, AssertionError):
            return []
        kind = answer.headers.get("content-type", "")
        return of_page(body, answer.url, kind) if is_html(event.mime, body) else []

    def _need(self, urls: Sequence[str], base: str, at: float, *, slot: int = NO_SLOT, of: int = -1) -> None:
        home = site(hostname(base))
        wanted = [
            url for url in dict.fromkeys(urls)
            if url != base and (self._from_any or site(hostname(url)) == home) and not self._barred(url)
        ]  # fmt: skip
        numbers = self._book.numbers(wanted)
        new = [url for url in wanted if url not in numbers]
        known = sorted(numbers.values())
        if new:
            root = slot if slot != NO_SLOT else self._book.of([of])[0].root
            new = new[: max(MOST_OF_A_PAGE - self._book.rooted(root), 0)]
        if not new and self._book.examined(slot, of) and known == self._book.needs(slot, of):
            self._still_needed(at, slot=slot, of=of)
            return
        self._remember(RequisitesNeeded(at, slot, of, self._count, new, encode_slots(encoded(known)) if known else b""))
        self._count += len(new)

    def _still_needed(self, at: float, *, slot: int = NO_SLOT, of: int = -1) -> None:
        """Request stale requisites again."""
        known = self._book.needs(slot, of)
        if known and self._book.any_stale(known, at):
            self._remember(RequisitesNeeded(at, slot, of, self._count, [], encode_slots(encoded(known))))

    def _shared(self, exchanges: Sequence[Exchange], places: Sequence[tuple[int, int, int]]) -> None:
        """Note what a browser requested; these answers are archived with the page."""
        archived = [each for each in exchanges if each.head]
        numbers = self._book.numbers([each.request.url for each in archived])
        for exchange, place in zip(archived, places[1:], strict=False):
            number = numbers.get(exchange.request.url)
            if number is None or number in self._tasks:
                continue
            (known,) = self._book.of([number])
            if known.owed or known.archive is None:
                digest = payload_digest(exchange.wire)
                self._remember(self._event(known, exchange, Pointer(*place), digest, unchanged=False))
                self._window.drop(number)
                kind = exchange.headers.get("content-type", "")
                needs = of_body(exchange.body, known.url, kind) if exchange.status == 200 else []
                if needs and known.depth < MOST_DEPTH:  # a browser was served styles, but no fonts or images
                    self._need(needs, known.url, exchange.at, of=number)

    # Fetching

    def idle(self, now: float) -> bool:
        """Whether nothing is owed that may be requested now."""
        return not (self._tasks or self._done) and self._book.next_at() > now

    def next_at(self) -> float:
        """Return the time of the next fetch."""
        if self._lanes.full:
            return float("inf")
        look_s = max(_LOOK_S, _LOOK_S_PER_HOST * self._window.hosts)
        if self._lanes.crowded:
            return self._looked_at + SLOW_S / 4 if self._window else float("inf")
        return max(self._book.next_at() if not self._window else 0.0, self._looked_at + look_s)

    def start(self, now: float, *, pages_wait: bool) -> None:
        """Start fetching what is owed, within the budget, one at a time per host."""
        if self._window.hosts > 100 and now < self._looked_at + _LOOK_S_PER_HOST * self._window.hosts:
            return
        self._looked_at = now
        late, spent = self._lanes.look(self._waits_since, now), pages_wait and not self._budget.left
        if not spent and now >= self._loaded_at + _LOAD_S:  # or those that have the slots would keep them
            self._load(now)
        self._start_ready(now, late, pages_wait=pages_wait)
        spent = pages_wait and not self._budget.left
        if not (self._lanes.crowded or spent) and self._load(now):
            self._start_ready(now, late, pages_wait=pages_wait)

    def _load(self, now: float) -> bool:
        """Read the next piece of what is owed; return whether it has something new."""
        self._loaded_at = now
        return self._window.load(self._book, now, [*self._tasks, *(each.of.number for each in self._done)])

    def _start_ready(self, now: float, late: list[int], *, pages_wait: bool) -> None:
        """Start what may be requested now, first of sites that have few requests under way."""
        ready = [
            (host, one) for host, one in self._window.heads() if self._may(host, one.url, now, pages_wait=pages_wait)
        ]
        for share in (True, False):
            for host, one in ready:
                if (self._lanes.full and not late) or (pages_wait and not self._budget.left):
                    return
                if host in self._hosts:
                    continue
                home = (site(host),)
                obstacle = self._lanes.obstacle(home, now, share=share)
                if late and obstacle == QUICK_LANE:
                    self._abandon(late.pop(0))
                    obstacle = ""
                if not obstacle:
                    self._begin(one, host, home, now)

    def _may(self, host: str, url: str, now: float, *, pages_wait: bool) -> bool:
        """Whether a host may take a slot: it is not asked already, and its rest is nearly over."""
        if host in self._hosts or (pages_wait and self._rests.get(host, 0.0) > now):
            return False
        if self._long_rests.get(host, 0.0) > now:
            return False
        rest_s = self._errands.rests_s(url)
        if rest_s <= SLOW_S:
            self._long_rests.pop(host, None)
            return True
        if len(self._long_rests) > _MOST_RESTS:
            self._long_rests = {name: until for name, until in self._long_rests.items() if until > now}
        self._long_rests[host] = now + rest_s - SLOW_S
        return False

    def _begin(self, one: KnownRequisite, host: str, home: Sequence[str], now: float) -> None:
        self._window.take(one.number)
        self._hosts.add(host)
        self._budget.began()
        self._lanes.began(one.number, home, now)
        self._urls[one.number] = one.url
        self._tasks[one.number] = asyncio.ensure_future(self._fetch(one, host))

    def _waits_since(self, number: int) -> float:
        return self._errands.began_at(self._urls[number])

    def _abandon(self, number: int) -> None:
        """Stop waiting for a slow host while others wait; the requisite stays owed, and its site is slow."""
        self._tasks[number].cancel()
        self._lanes.ended(number)

    async def _fetch(self, one: KnownRequisite, host: str) -> None:
        came: _Came | None = None
        try:
            came = await self._came(one)
        except RefusedError as refused:
            came = _Came(one, None, str(refused) or "refused")
        except Exception as fault:
            try:
                came = _Came(one, None, self._judging(one.url, fault, self._clock.now()))
            except Exception as raised:  # no fault of the URL: raised at the next turn
                self._fault = raised
        finally:
            del self._tasks[one.number], self._urls[one.number]
            self._lanes.ended(one.number)
            self._hosts.discard(host)
            if self._budget.share:
                self._rest(host, self._clock.now(), burden=self._burdens(host, one.root))
            if came is not None:
                self._done.append(came)
                self._wake()

    def _rest(self, host: str, now: float, *, burden: bool) -> None:
        """Reserve turns for the pages of a host; most of them, if a page of another site needed what was requested."""
        if len(self._rests) > _MOST_RESTS:
            self._rests = {name: until for name, until in self._rests.items() if until > now}
        share = min(self._budget.share, 1.0 / FOREIGN_ONE_IN) if burden else self._budget.share
        self._rests[host] = now + self._delay_s / share

    async def _came(self, one: KnownRequisite) -> _Came:
        if why := self._barred(one.url):
            raise RefusedError(why)
        pairs = (("If-None-Match", one.etag), ("If-Modified-Since", one.last_modified)) if one.archive else ()
        headers = tuple(pair for pair in pairs if validator(pair[1]))
        shared = self._share and not headers
        exchange, _ = await self._errands.fetch(one.url, headers, initiator=self._initiator(one), shared=shared)
        if not exchange.status or not exchange.head:
            return _Came(one, None, f"{exchange.error}: {exchange.detail}".strip(": ") or "no answer")
        if exchange.status in REDIRECTS:
            target = normalise(exchange.headers.get("location", ""), one.url)
            return _Came(one, exchange, needs=(target,) if target else ())
        if not 200 <= exchange.status < 300:
            return _Came(one, exchange)
        kind = exchange.headers.get("content-type", "")
        return _Came(one, exchange, needs=await self._offload(of_body, exchange.body, one.url, kind))

    def _initiator(self, one: KnownRequisite) -> str:
        """Return the URL of a page of its site that needs a requisite through that site alone; else a foreign one."""
        root = self._page_url(one.root)
        if not one.depth and same_site(root, one.url):
            return root
        foreign, seen, level = _NOBODY if same_site(root, one.url) else root, {one.number}, [one.number]
        for _ in range(MOST_DEPTH + 1):
            pages, above = self._book.needed_by(level, _MOST_ASKERS)
            own = (url for slot in pages if same_site(url := self._page_url(slot), one.url))
            if url := next(own, ""):
                return url
            known = self._book.of([number for number in above if number not in seen])
            level = [each.number for each in known if each.url and same_site(each.url, one.url)][:_MOST_ASKERS]
            seen.update(level)
        return foreign

    def _page_url(self, slot: int) -> str:
        return (self._partition.state.urls.get(slot) if slot != NO_SLOT else "") or _NOBODY

    # Results

    def turn(self, now: float) -> None:
        """Archive and remember the answers that have arrived; if the disk is full, they wait.

        Raises
        ------
        Exception
            A failure since the last turn for which no answer is to blame, such as lack of memory.
        """
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        if now >= self._committed_at + _COMMIT_S:
            self._committed_at = now
            self._guarded(self._book.commit)
        if not self._done or not self._storing.may_try(now):
            return
        kept = [self._entry(came) for came in self._done]
        try:
            pointers = iter(self._partition.archive.append([entry for entry in kept if entry is not None]))
        except NoRoomError as error:
            self._storing.no_room(now, error)
            return
        done, self._done = self._done, []
        for came, entry in zip(done, kept, strict=True):
            pointer = next(pointers) if entry is not None else None
            self._learn(came, entry, pointer, now)
        self._storing.changed()

    async def close(self) -> None:
        """Abandon fetches under way, which stay owed, and remember the answers that have arrived."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self.turn(self._clock.now())
        self._guarded(self._book.commit)

    def _entry(self, came: _Came) -> ArchiveEntry | None:
        one, exchange = came.of, came.exchange
        if exchange is None:
            return None
        original = Original(one.url, one.body_at, one.payload)
        if exchange.status == 304:
            return ArchiveEntry(exchange, EntryKind.NOT_MODIFIED, original) if one.archive else None
        digest = payload_digest(exchange.wire)
        if one.archive is not None and digest == one.payload and exchange.status == one.status:
            before = self._partition.archive.read(one.archive) if self._partition.archive.whole(one.archive) else None
            if before is not None and _coding(before.headers) == _coding(exchange.headers):
                return ArchiveEntry(exchange, EntryKind.SAME_CONTENT, original)
        return ArchiveEntry(exchange, digest=digest)

    def _learn(self, came: _Came, entry: ArchiveEntry | None, pointer: Pointer | None, now: float) -> None:
        one, exchange = came.of, came.exchange
        if exchange is None or entry is None or pointer is None:
            why = came.why or "the server says that nothing has changed, and nothing is archived"
            again = _again(one, now) if not came.why or _passes(why) else 0.0
            self._remember(RequisiteFetched(one.number, now, 0, why[:200], stale_at=now + GIVEN_UP_S, retry_at=again))
            return
        self.fetched += 1
        self._budget.received(len(exchange.wire) + len(exchange.head))
        unchanged = entry.kind is not EntryKind.RESPONSE
        self._remember(self._event(one, exchange, pointer, entry.digest, unchanged=unchanged))
        if unchanged and self._book.examined(NO_SLOT, one.number):
            self._still_needed(now, of=one.number)
        elif came.needs and one.depth < MOST_DEPTH:
            self._need(came.needs, one.url, now, of=one.number)

    def _event(
        self, one: KnownRequisite, exchange: Exchange, pointer: Pointer, digest: str, *, unchanged: bool
    ) -> RequisiteFetched:
        now, status, headers = self._clock.now(), exchange.status, exchange.headers
        failed = status == 429 or status >= 500 or bool(exchange.error and not exchange.truncated)
        again = 0.0
        if failed:
            again = _again(one, now)
            if again:
                again = max(again, now + (retry_after_s(exchange, now)))
        stale_at = now + (GIVEN_UP_S if failed or status >= 400 else _fresh_s(headers.get("cache-control", "")))
        return RequisiteFetched(
            one.number, exchange.at, 200 if status == 304 else status, exchange.error, pointer, unchanged, stale_at,
            again, validator(headers.get("etag", "")), validator(headers.get("last-modified", "")),
            headers.get("content-type", "").partition(";")[0].strip().lower()[:100], digest,
            len(exchange.wire) + len(exchange.head),
        )  # fmt: skip

    def _remember(self, event: RequisitesNeeded | RequisiteFetched) -> None:
        pointer = self._partition.remember(event)
        number = self._partition.journal.sequence - 1
        if isinstance(event, RequisitesNeeded):
            self._window.renew()
        self._guarded(lambda: self._book.fold(event, pointer, number))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Work on the table; if its disk fails, continue with one in memory, rebuilt from the journal."""
        try:
            work()
        except sqlite3.Error:
            with contextlib.suppress(sqlite3.Error):
                self._book.close()
            self._book = RequisiteBook.opened(":memory:")
            self._book.follow(self._partition.journal)


def _passes(why: str) -> bool:
    """Whether another attempt may help."""
    return not why.startswith(_LASTING)


def _again(one: KnownRequisite, now: float) -> float:
    """Return when a failed requisite is tried again; 0 for never."""
    return now + RETRY_S * 4**one.tries if one.tries + 1 < TRIES else 0.0


def _fresh_s(cache_control: str) -> float:
    """Return how long an answer with this Cache-Control is fresh (s).

    >>> _fresh_s(""), _fresh_s("max-age=600"), _fresh_s("no-cache"), _fresh_s("max-age=99999999")
    (86400.0, 600.0, 60.0, 2592000.0)
    """
    least_s, usual_s, most_s = FRESH_S
    said = cache_control.lower()
    if "no-cache" in said or "no-store" in said:
        return least_s
    found = _MAX_AGE.search(said)
    return min(max(float(found[1]), least_s), most_s) if found else usual_s


def _coding(headers: dict[str, str]) -> str:
    return headers.get("content-encoding", "")
