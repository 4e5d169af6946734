"""The newest stored content of one page: looked up by URL, read from the archive and decoded."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evercrawl.clock import SystemClock
from evercrawl.config import Config
from evercrawl.errors import NotHeldError
from evercrawl.model.rules.robots_file import ROBOTS_FILE, unreachable
from evercrawl.model.rules.scope import Scope
from evercrawl.model.stored.answers import answer_of, exchange_of, instant
from evercrawl.model.stored.reader import visits
from evercrawl.model.view import View
from evercrawl.parse.urls import origin
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT, OptOut, Outcome

MOST_HOPS: Final = 20  # redirects followed from page to page


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it was when its content was last stored.

    Attributes
    ----------
    url, final_url
        The requested URL, and the URL to which redirects and copies lead within the crawl.
    outcome, status
        Outcome and HTTP status of the last visit to the page that has the content.
    title, mime, language
        Properties of the content; "" if unknown.
    visited_at, stored_at
        Instants of the last visit, and of the one that brought this content; seconds since the epoch.
    visits, changes
        Number of visits and of changes so far.
    headers
        Headers of the response that brought the content: lower-case name -> value.
    body
        The body after transfer and content decoding.
    notes
        Notes for the reader, a sentence each: redirects that were followed, or that the page is gone since.
    page
        The page at the end of the redirects; if that is a copy of another page, the copy and not the original.
    fresh
        Probability that the page has not changed since; 0 if it is gone, None if there is no estimate.
    changed_at
        Instant at which the content last changed, as far as is known; None if unknown.
    optouts
        Opt-outs of the page or its site from model training and input; see `OptOut`.
    """

    url: str
    final_url: str
    outcome: Outcome
    status: int
    title: str
    mime: str
    language: str
    visited_at: float
    stored_at: float
    visits: int
    changes: int
    headers: dict[str, str]
    body: bytes
    notes: tuple[str, ...] = ()
    page: str = ""
    fresh: float | None = None
    changed_at: float | None = None
    optouts: tuple[str, ...] = ()

    @property
    def content_type(self) -> str:
        """Return the Content-Type header."""
        return self.headers.get("content-type", "")


def content(partition: Partition, url: str, config: Config, now: float | None = None) -> StoredPage:
    """Return the newest stored content of a page.

    Parameters
    ----------
    partition
        The crawl.
    url
        Normalised URL of the page.
    config
        Configuration of the crawl, which decides whether an unknown URL is in scope.
    now
        Instant for which `fresh` is computed, in seconds since the epoch; by default the current time.

    Raises
    ------
    NotHeldError
        No content is stored; the message says why.
    StoreError
        The archive or the journal is damaged.
    """
    slot = partition.state.find_one(url)
    if slot == NO_SLOT:
        raise NotHeldError(_unknown(partition, url, config))
    slot, notes = _followed(partition, slot)
    row = _row(partition, slot)
    event = partition.journal.read(int(row["event"])) if row["event"] else None
    if not isinstance(event, Visit) or event.archive is None:
        raise NotHeldError(" ".join([*notes, _empty(partition, slot, row)]), partition.state.urls.get(slot))
    held = exchange_of(event, answer_of(partition, event))
    final, also = _original(partition, slot, event, row)
    return StoredPage(
        url=url,
        final_url=final,
        outcome=Outcome(int(row["outcome"])),
        status=int(row["status"]),
        title=event.title,
        mime=event.mime,
        language=event.language,
        optouts=OptOut(event.optouts).labels,
        visited_at=partition.state.instant(int(row["visited"])),
        stored_at=held.at,
        visits=int(row["visits"]),
        changes=int(row["changes"]),
        headers=held.headers,
        body=held.body,
        notes=(*notes, *also, *_since(partition, slot, row, event)),
        page=partition.state.urls.get(slot),
        fresh=_fresh(View(partition, config, SystemClock().now() if now is None else now), slot),
        changed_at=partition.state.instant(int(row["changed"] or min(partition.state.ticks(event.at), row["visited"]))),
    )


def _followed(partition: Partition, slot: int) -> tuple[int, list[str]]:
    """Follow redirects from page to page; return the last page, and a sentence for each redirect."""
    state, notes, seen = partition.state, list[str](), {slot}
    while (index := state.record_of(slot)) is not None and len(seen) <= MOST_HOPS:
        row = state.records.rows[index]
        if row["outcome"] != Outcome.REDIRECT:
            break
        target, why = _target(partition, slot)
        if target is None or target in seen:
            raise NotHeldError(" ".join([*notes, f"{state.urls.get(slot)} {why}: there is nothing to show."]))
        notes.append(f"{state.urls.get(slot)} {why}.")
        slot = target
        seen.add(slot)
    return slot, notes


def _target(partition: Partition, slot: int) -> tuple[int | None, str]:
    """Return the page that a page redirects to, None if it is not in the crawl, and a sentence about it."""
    event = next(visits(partition, slot), None)
    how = f"redirects ({event.status if event else 'status unknown'})"
    if event is None:
        return None, f"{how} to an unknown URL"
    slots = decode_slots(event.targets)
    if event.alias != NO_SLOT or len(slots):
        target = event.alias if event.alias != NO_SLOT else int(slots[0])
        return target, f"{how} to {partition.state.urls.get(target)}"
    location = ""
    if event.archive is not None:
        location = partition.archive.read(event.archive).headers.get("location", "")
    return None, f"{how} to {location or 'a URL'}, which is out of the crawl's scope"


def _row(partition: Partition, slot: int) -> Any:
    state = partition.state
    index = state.record_of(slot)
    if index is None:
        found_at = state.instant(int(state.known.row(slot)["found"]))
        url = state.urls.get(slot)
        closed = unreachable(partition.directory / ROBOTS_FILE).get(origin(url))
        why = f": the robots.txt of its site could not be fetched ({closed})" if closed else ""
        raise NotHeldError(f"{url} has been known since {instant(found_at)} but was not fetched yet{why}.", url)
    return state.records.rows[index]


def _empty(partition: Partition, slot: int, row: Any) -> str:
    """Return a sentence that says why a visited page has no content."""
    url, outcome = partition.state.urls.get(slot), Outcome(int(row["outcome"]))
    at = instant(partition.state.instant(int(row["visited"])))
    if outcome == Outcome.GONE:
        return f"{url} was gone ({row['status']}) when it was visited at {at}; no content of it was ever stored."
    event = next(visits(partition, slot), None)
    why = event.error if event is not None else "the reason is not known"
    verb = "was not requested" if outcome == Outcome.REFUSED else "returned no content"
    return f"{url} {verb} at {at}: {why or 'status ' + str(row['status'])}."


def _original(partition: Partition, slot: int, event: Visit, row: Any) -> tuple[str, list[str]]:
    """Return the URL that represents a page, which for a copy is the original's, and a sentence about it."""
    state = partition.state
    url = state.urls.get(slot)
    if row["outcome"] != Outcome.DUPLICATE or event.alias == NO_SLOT:
        return url, []
    index = state.record_of(event.alias)
    if index is None or state.records.rows[index]["digest"] != row["digest"]:
        return url, []
    original = state.urls.get(event.alias)
    return original, [f"{url} has the same content as {original}."]


def _fresh(view: View, slot: int) -> float | None:
    """Return the probability that the copy held of a page is up to date; 0 if the page is gone."""
    index = view.state.record_of(slot)
    if index is not None and view.state.records.rows["outcome"][index] == Outcome.GONE:
        return 0.0
    fresh = float(view.fresh(view.columns(np.array([slot], np.uint32)))[0])
    return None if np.isnan(fresh) else fresh


def _since(partition: Partition, slot: int, row: Any, event: Visit) -> list[str]:
    """Return sentences about what happened to the page since its content was stored."""
    url, at = partition.state.urls.get(slot), instant(partition.state.instant(int(row["visited"])))
    stored = f"what follows was stored at {instant(event.at)}."
    if row["outcome"] == Outcome.GONE:
        return [f"{url} is gone: status {row['status']} when last visited at {at}; {stored}"]
    if row["outcome"] in (Outcome.ERROR, Outcome.REFUSED):
        last = next(visits(partition, slot), None)
        return [f"{url} could not be read when last visited at {at} ({last.error if last else 'error'}); {stored}"]
    if row["outcome"] == Outcome.TRUNCATED:
        return [f"{url} was read only in part ({event.size_bytes} bytes): {event.error or 'it was cut short'}."]
    return []


def _unknown(partition: Partition, url: str, config: Config) -> str:
    state = partition.state
    known = state.known.columns()
    scope = Scope(config, lambda _: 0)
    for number in np.unique(known.host[known.depth == 0]):
        scope.add_root(state.hosts[int(number)])
    if not scope.allows(url, 0):
        return f"{url} is out of this crawl's scope ({config.scope}, see crawl.toml), so it is never fetched."
    return f"{url} was never seen: no page read so far links to it."
